// What the two sides of `warpbeam bench cpu` have in common: the table's rows, and memory of each side.
#pragma once

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
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

// One job that both sides do on the same input. Input lies ready on both sides when the object is made.
class Work {
 public:
  virtual ~Work() = default;
  // Brings back what a call consumes, outside of the measured time.
  virtual void prepare_ours() {}
  virtual void prepare_reference() {}
  virtual void ours() = 0;  // launches only: the caller waits
  virtual void reference() = 0;
  // Says what differs between the two results; empty when nothing does.
  virtual std::string difference() = 0;
  // Floating-point operations of one call, where the share of the peak is of interest.
  virtual double operations() const { return 0; }
};

// Bytes that arrays hold now, and the most they have held.
struct Held {
  size_t now = 0, most = 0;
  void add(size_t bytes) { most = std::max(most, now += bytes); }
};
inline Held host_held, device_held;

// Host memory of the reference. Huge pages where the system grants them on request, so that page walks are not what
// is compared; touched by all threads.
template <class T>
class HostArray {
 public:
  explicit HostArray(size_t count) : count_(count) {
    constexpr size_t kPage = size_t{1} << 21;
    const size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    data_ = static_cast<T*>(std::aligned_alloc(kPage, bytes ? bytes : kPage));
    if (!data_) std::abort();
    host_held.add(bytes);
    bytes_ = bytes;
    madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  HostArray(HostArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_), bytes_(std::exchange(other.bytes_, 0)) {}
  HostArray& operator=(HostArray&&) = delete;
  ~HostArray() {
    std::free(data_);
    host_held.now -= bytes_;
  }

  T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t k) const { return data_[k]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + count_; }

 private:
  T* data_;
  size_t count_, bytes_ = 0;
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    BENCH_CHECK(cudaMalloc(&data_, count * sizeof(T)));
    device_held.add(count * sizeof(T));
  }
  explicit DeviceArray(const HostArray<T>& host) : DeviceArray(host.size()) { upload(host); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() {
    cudaFree(data_);
    device_held.now -= count_ * sizeof(T);
  }

  T* data() const { return data_; }
  size_t size() const { return count_; }
  void upload(const HostArray<T>& host) { BENCH_CHECK(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  void copy_from(const DeviceArray& other) { BENCH_CHECK(cudaMemcpy(data_, other.data(), count_ * sizeof(T), cudaMemcpyDeviceToDevice)); }
  void clear(cudaStream_t stream = nullptr) { BENCH_CHECK(cudaMemsetAsync(data_, 0, count_ * sizeof(T), stream)); }
  std::vector<T> download() const {
    std::vector<T> host(count_);
    BENCH_CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

// The k-th number of a fixed random sequence.
inline uint32_t mix(uint64_t k) {
  uint64_t x = k * 0x9e3779b97f4a7c15ull + 0x1234567ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return static_cast<uint32_t>((x ^ (x >> 31)) >> 16);
}
// The same as a number in [0, 1).
inline float unit(uint64_t k) { return static_cast<float>(mix(k) >> 8) * (1.0f / 16777216); }

// Exact comparison for integers.
template <class T>
std::string compare_exactly(const std::vector<T>& ours, const T* reference, size_t count) {
  for (size_t k = 0; k < count; ++k)
    if (ours[k] != reference[k])
      return "element " + std::to_string(k) + " is " + std::to_string(ours[k]) + ", the reference has " + std::to_string(reference[k]);
  return "";
}

// Within `tolerance` of the reference, relative to its size or to `scale`, whichever is larger: the two compilers
// fuse and order operations differently.
inline std::string compare_closely(const std::vector<float>& ours, const float* reference, size_t count, double tolerance, double scale) {
  for (size_t k = 0; k < count; ++k) {
    const double a = ours[k], b = reference[k];
    if (!(std::fabs(a - b) <= tolerance * std::fmax(std::fabs(b), scale)))
      return "element " + std::to_string(k) + " is " + std::to_string(a) + ", the reference has " + std::to_string(b);
  }
  return "";
}

inline unsigned blocks_for(size_t count, unsigned per_block) { return static_cast<unsigned>((count + per_block - 1) / per_block); }

// One function for each row of the table. `quick` asks for a size that an interpreter does in a second.
using MakeWork = std::unique_ptr<Work>(bool quick);
MakeWork make_vector_add, make_saxpy, make_copy;
MakeWork make_reduce_tree, make_reduce_shuffle;
MakeWork make_scan, make_scan_balanced, make_compaction;
MakeWork make_transpose_naive, make_transpose_padded;
MakeWork make_matrix_16, make_matrix_32;
MakeWork make_histogram;
MakeWork make_stencil_2d, make_stencil_1d;
MakeWork make_nbody, make_black_scholes, make_mandelbrot;
MakeWork make_bfs, make_spmv;
MakeWork make_bitonic, make_radix;

}  // namespace bench
