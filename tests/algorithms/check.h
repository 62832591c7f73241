// What every test of the algorithms needs: device arrays, random data, comparisons that count failures.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace check {

inline int failures = 0;

inline void fail(const char* file, int line, const char* what, long long detail) {
  if (++failures <= 20) std::printf("%s:%d: %s (%lld)\n", file, line, what, detail);
}

#define CHECK_CUDA(expression)                                                                          \
  do {                                                                                                  \
    cudaError_t check_error = (expression);                                                             \
    if (check_error != cudaSuccess) {                                                                   \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #expression, cudaGetErrorString(check_error)); \
      std::exit(1);                                                                                     \
    }                                                                                                   \
  } while (0)

#define CHECK(condition, detail) \
  if (!(condition)) check::fail(__FILE__, __LINE__, #condition, static_cast<long long>(detail))

// The virtual GPU runs the same tests on less data.
#if defined(__WARPBEAM__) || (defined(__clang__) && defined(__CUDA__)) || defined(WARPBEAM_TEST_SMALL)
inline const std::vector<long long> kSizes = {0, 1, 2, 31, 33, 257, 1000, 5001};
inline constexpr long long kLarge = 20011;
#else
inline const std::vector<long long> kSizes = {0, 1, 2, 31, 32, 33, 127, 1000, 4096, 6656, 6657, 30011, 262147};
inline constexpr long long kLarge = 1500007;
#endif

// `offset` elements in front make the data start at an uneven address.
template <class T>
class Array {
 public:
  explicit Array(size_t count, size_t offset = 0) : count_(count), offset_(offset) {
    CHECK_CUDA(cudaMalloc(&memory_, (count + offset + 1) * sizeof(T)));
    CHECK_CUDA(cudaMemset(memory_, 0xa5, (count + offset + 1) * sizeof(T)));
  }
  explicit Array(const std::vector<T>& host, size_t offset = 0) : Array(host.size(), offset) { upload(host); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(memory_); }
  T* data() const { return memory_ + offset_; }
  void upload(const std::vector<T>& host) { CHECK_CUDA(cudaMemcpy(data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  std::vector<T> host() const {
    std::vector<T> copy(count_);
    CHECK_CUDA(cudaMemcpy(copy.data(), data(), count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return copy;
  }
  T first() const { return host().at(0); }

 private:
  T* memory_ = nullptr;
  size_t count_, offset_;
};

inline std::mt19937_64& random_source() {
  static std::mt19937_64 source(std::random_device{}());
  return source;
}

template <class T>
std::vector<T> random_values(size_t count, long long low, long long high) {
  std::uniform_int_distribution<long long> pick(low, high);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(pick(random_source()));
  return values;
}

template <class T>
std::vector<T> random_bits(size_t count) {
  std::vector<T> values(count);
  for (T& value : values) {
    uint64_t bits = random_source()();
    std::memcpy(&value, &bits, std::min(sizeof(T), sizeof(bits)));
  }
  return values;
}

template <class T>
void equal(const std::vector<T>& got, const std::vector<T>& want, const char* file, int line, const char* what) {
  if (got.size() != want.size()) return fail(file, line, what, static_cast<long long>(got.size()));
  for (size_t i = 0; i < got.size(); ++i)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) return fail(file, line, what, static_cast<long long>(i));
}

#define CHECK_EQUAL(got, want) check::equal(got, want, __FILE__, __LINE__, #got " == " #want)

inline int result(const char* name) {
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("%s: %s\n", name, failures ? "FAILED" : "passed");
  return failures ? 1 : 0;
}

}  // namespace check
