// What all sections use: errors, samples, times by events, and the list of results.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define MICRO_CHECK(call)                                                                                  \
  do {                                                                                                     \
    const cudaError_t micro_error = (call);                                                                \
    if (micro_error != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(micro_error)); \
      std::exit(1);                                                                                        \
    }                                                                                                      \
  } while (0)

namespace micro {

// The median of the samples, and as spread their range without the extreme tenths, as a part of the median.
void report(const std::string& name, std::vector<double> samples, const char* unit);
inline void report(const std::string& name, double value, const char* unit) { report(name, std::vector<double>{value}, unit); }

const cudaDeviceProp& device();
bool quick();  // --quick: sizes that an emulator manages; the numbers mean nothing then

inline int repeats(int n) { return quick() ? 2 : n; }

template <class Work>
std::vector<double> sample(int count, Work&& work) {
  work();
  std::vector<double> samples;
  for (int i = 0; i < repeats(count); ++i) samples.push_back(work());
  return samples;
}

// Microseconds of device time of what `work` puts onto the default stream.
template <class Work>
double event_us(Work&& work) {
  static cudaEvent_t start = nullptr, end = nullptr;
  if (!start) {
    MICRO_CHECK(cudaEventCreate(&start));
    MICRO_CHECK(cudaEventCreate(&end));
  }
  MICRO_CHECK(cudaEventRecord(start));
  work();
  MICRO_CHECK(cudaEventRecord(end));
  MICRO_CHECK(cudaEventSynchronize(end));
  MICRO_CHECK(cudaGetLastError());
  float ms = 0;
  MICRO_CHECK(cudaEventElapsedTime(&ms, start, end));
  return ms * 1e3;
}

template <class Work>
double host_us(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

// Device memory that goes with its scope.
template <class T>
struct Buffer {
  T* data = nullptr;
  size_t count = 0;
  explicit Buffer(size_t n, int fill = 0) : count(n) {
    MICRO_CHECK(cudaMalloc(&data, n * sizeof(T)));
    MICRO_CHECK(cudaMemset(data, fill, n * sizeof(T)));
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  std::vector<T> host() const {
    std::vector<T> result(count);
    MICRO_CHECK(cudaMemcpy(result.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }
};

inline std::string number(long long n) { return std::to_string(n); }

// The sections; each runs in a process of its own, so that a fault in one leaves the others' numbers.
void clocks();
void loop_turns();
void registers_and_ways();
void queues();
void integer_pipes();
void float_pipes();
void other_pipes();
void warpgroup_pipes();
void shared_memory();
void first_level();
void second_level();
void in_flight();
void dram();
void atomics();
void launches();
void instruction_cache();
void device_launches();
void device_calls();
void residue();
void copies();
void host_calls();

}  // namespace micro
