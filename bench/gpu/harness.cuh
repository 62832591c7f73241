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

// Median time of one call in milliseconds, after warming up for 20 ms, since clocks fall while the host checks results and
// take some milliseconds to come back. The last `warm` calls are still under way when the first measured one is issued, so
// that short calls are not timed at the speed of the host.
template <class Fn>
double median_ms(Fn call, int repeats = 20, int warm = 3) {
  std::vector<cudaEvent_t> begin(repeats), end(repeats);
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventCreate(&begin[i]));
    BENCH_CHECK(cudaEventCreate(&end[i]));
  }
  const auto begun = std::chrono::steady_clock::now();
  do {
    call();
    BENCH_CHECK(cudaDeviceSynchronize());
  } while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(20));
  for (int i = 0; i < warm; ++i) call();
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventRecord(begin[i]));
    call();
    BENCH_CHECK(cudaEventRecord(end[i]));
  }
  BENCH_CHECK(cudaDeviceSynchronize());
  std::vector<float> times(repeats);
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventElapsedTime(&times[i], begin[i], end[i]));
    cudaEventDestroy(begin[i]);
    cudaEventDestroy(end[i]);
  }
  std::sort(times.begin(), times.end());
  return times[repeats / 2];
}

// Both calls in turn, so that clocks and temperature are the same for both.
template <class Ours, class Theirs>
void median_pair_ms(Ours ours, Theirs theirs, double* our_ms, double* their_ms, int repeats = 20) {
  for (int i = 0; i < 3; ++i) ours(), theirs();
  std::vector<cudaEvent_t> marks(2 * repeats + 1);
  for (cudaEvent_t& mark : marks) BENCH_CHECK(cudaEventCreate(&mark));
  BENCH_CHECK(cudaEventRecord(marks[0]));
  for (int i = 0; i < repeats; ++i) {
    ours();
    BENCH_CHECK(cudaEventRecord(marks[2 * i + 1]));
    theirs();
    BENCH_CHECK(cudaEventRecord(marks[2 * i + 2]));
  }
  BENCH_CHECK(cudaDeviceSynchronize());
  std::vector<float> a(repeats), b(repeats);
  for (int i = 0; i < repeats; ++i) {
    BENCH_CHECK(cudaEventElapsedTime(&a[i], marks[2 * i], marks[2 * i + 1]));
    BENCH_CHECK(cudaEventElapsedTime(&b[i], marks[2 * i + 1], marks[2 * i + 2]));
  }
  for (cudaEvent_t mark : marks) cudaEventDestroy(mark);
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  *our_ms = a[repeats / 2];
  *their_ms = b[repeats / 2];
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
