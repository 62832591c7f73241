// What every benchmark needs: device arrays, fresh random data, event timing, and a table.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace bench {

#define BENCH_CHECK(expression)                                                                                  \
  do {                                                                                                           \
    cudaError_t bench_error = (expression);                                                                      \
    if (bench_error != cudaSuccess) {                                                                            \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #expression, cudaGetErrorString(bench_error)); \
      std::exit(1);                                                                                              \
    }                                                                                                            \
  } while (0)

template <class T>
class Array {
 public:
  explicit Array(size_t count) : count_(count) { BENCH_CHECK(cudaMalloc(&data_, std::max<size_t>(count, 1) * sizeof(T))); }
  explicit Array(const std::vector<T>& host) : Array(host.size()) { upload(host); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }

  T* data() const { return data_; }
  size_t size() const { return count_; }
  void upload(const std::vector<T>& host) {
    BENCH_CHECK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  // Bytes that no right answer consists of, so that an element nobody wrote is seen.
  void poison() { BENCH_CHECK(cudaMemset(data_, 0xa5, count_ * sizeof(T))); }
  std::vector<T> download(size_t count) const {
    std::vector<T> host(count);
    BENCH_CHECK(cudaMemcpy(host.data(), data_, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }
  std::vector<T> download() const { return download(count_); }

 private:
  T* data_ = nullptr;
  size_t count_;
};

inline uint64_t fresh_seed() {
  static std::random_device source;
  return (static_cast<uint64_t>(source()) << 32) | source();
}

// A counter-based generator: item i of a seed is the same wherever it is computed.
__host__ __device__ inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <class T, class Fn>
__global__ void fill_kernel(T* data, size_t count, Fn fn) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{blockDim.x} * gridDim.x)
    data[i] = fn(i);
}

template <class T, class Fn>
void fill(T* data, size_t count, Fn fn) {
  fill_kernel<<<1024, 256>>>(data, count, fn);
  BENCH_CHECK(cudaGetLastError());
  BENCH_CHECK(cudaDeviceSynchronize());
}

template <class T>
__global__ void count_differences(const T* a, const T* b, size_t count, unsigned long long* different) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < count; i += size_t{blockDim.x} * gridDim.x)
    if (a[i] != b[i]) atomicAdd(different, 1ull);
}

template <class T>
bool same(const T* a, const T* b, size_t count) {
  Array<unsigned long long> different(1);
  BENCH_CHECK(cudaMemset(different.data(), 0, sizeof(unsigned long long)));
  count_differences<<<1024, 256>>>(a, b, count, different.data());
  return different.download()[0] == 0;
}

// Occupies the device for a while.
template <int kUnused>
__global__ void spin(long long nanoseconds) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

// Median times of calls in milliseconds, each call once per round. They warm up for 20 ms, since clocks fall while the
// host checks results and take some milliseconds to come back. While the rounds are issued the device is busy with
// something else, so that short calls are not timed at the speed of the host. Calls that are compared take turns, so
// that clocks, temperature and what else moves the device's speed are the same for all; a copy is timed alone, since what
// the cache still has to write for one call slows down the next. Before each call `prepare` runs
// untimed, where there is one.
template <class Prepare, class... Calls>
std::vector<double> medians_ms(int rounds, Prepare prepare, Calls... calls) {
  constexpr bool kPrepares = !std::is_same_v<Prepare, std::nullptr_t>;
  constexpr int kCalls = sizeof...(Calls);
  std::vector<cudaEvent_t> begin(kCalls * rounds), end(kCalls * rounds);
  for (cudaEvent_t& event : begin) BENCH_CHECK(cudaEventCreate(&event));
  for (cudaEvent_t& event : end) BENCH_CHECK(cudaEventCreate(&event));
  auto once = [&](auto before, auto after) {
    int which = 0;
    auto one = [&](auto& call) {
      if constexpr (kPrepares) prepare();
      before(which), call(), after(which++);
    };
    (one(calls), ...);
  };
  auto nothing = [](int) {};
  const auto begun = std::chrono::steady_clock::now();
  do {
    once(nothing, nothing);
    BENCH_CHECK(cudaDeviceSynchronize());
  } while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(20));
  spin<0><<<1, 1>>>(3000000);
  once(nothing, nothing);
  for (int round = 0; round < rounds; ++round)
    once([&](int which) { BENCH_CHECK(cudaEventRecord(begin[which * rounds + round])); },
         [&](int which) { BENCH_CHECK(cudaEventRecord(end[which * rounds + round])); });
  BENCH_CHECK(cudaDeviceSynchronize());
  std::vector<double> medians;
  for (int which = 0; which < kCalls; ++which) {
    std::vector<float> times(rounds);
    for (int i = 0; i < rounds; ++i)
      BENCH_CHECK(cudaEventElapsedTime(&times[i], begin[which * rounds + i], end[which * rounds + i]));
    std::sort(times.begin(), times.end());
    medians.push_back(times[rounds / 2]);
  }
  for (cudaEvent_t event : begin) cudaEventDestroy(event);
  for (cudaEvent_t event : end) cudaEventDestroy(event);
  return medians;
}

template <class Call>
double median_ms(Call call, int rounds = 20) {
  return medians_ms(rounds, nullptr, call)[0];
}

template <class Ours, class Theirs>
void median_pair_ms(Ours ours, Theirs theirs, double* our_ms, double* their_ms, int rounds = 20) {
  const auto medians = medians_ms(rounds, nullptr, ours, theirs);
  *our_ms = medians[0], *their_ms = medians[1];
}

// Device memory both sides use as temporary storage, so that neither pays for allocation.
struct Storage {
  void* data = nullptr;
  size_t bytes = 0;
  void reserve(size_t wanted) {
    if (wanted <= bytes) return;
    cudaFree(data);
    BENCH_CHECK(cudaMalloc(&data, wanted));
    bytes = wanted;
  }
  ~Storage() { cudaFree(data); }
};

}  // namespace bench
