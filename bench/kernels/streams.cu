// Vector add, saxpy and copy: one thread for each element.
#include "cpu/work.h"
#include "reference/reference.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void saxpy(int n, float factor, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i] + y[i];
}

__global__ void copy(const float* from, float* to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

namespace bench {
namespace {

constexpr unsigned kBlock = 256;
constexpr float kFactor = 1.0f / 1024;

HostArray<float> numbers(size_t n, uint64_t first) {
  HostArray<float> data(n);
  for (size_t k = 0; k < n; ++k) data[k] = unit(first + k);
  return data;
}

// c = f(a, b), or b = f(a, b).
struct Streams : Work {
  explicit Streams(bool quick)
      : n(quick ? 1 << 22 : 1 << 26), a(numbers(n, 0)), b(numbers(n, n)), c(n), d_a(a), d_b(b), d_c(n) {}
  std::string difference() override { return compare_closely(d_c.download(), c.data(), n, 1e-6, 1); }

  size_t n;
  HostArray<float> a, b, c;
  DeviceArray<float> d_a, d_b, d_c;
};

struct VectorAdd : Streams {
  using Streams::Streams;
  void ours() override {
    vector_add<<<blocks_for(n, kBlock), kBlock>>>(d_a.data(), d_b.data(), d_c.data(), static_cast<int>(n));
  }
  void reference() override { ::reference::vector_add(a.data(), b.data(), c.data(), n); }
};

struct Saxpy : Streams {
  using Streams::Streams;
  // Every call adds to y: both sides begin anew and make one call before they are compared.
  void ours() override {
    saxpy<<<blocks_for(n, kBlock), kBlock>>>(static_cast<int>(n), kFactor, d_a.data(), d_b.data());
  }
  void reference() override { ::reference::saxpy(kFactor, a.data(), b.data(), n); }
  std::string difference() override {
    for (size_t k = 0; k < n; ++k) b[k] = unit(n + k);
    d_b.upload(b);
    ours();
    reference();
    return compare_closely(d_b.download(), b.data(), n, 1e-6, 1);
  }
};

struct Copy : Streams {
  using Streams::Streams;
  void ours() override { copy<<<blocks_for(n, kBlock), kBlock>>>(d_a.data(), d_c.data(), static_cast<int>(n)); }
  void reference() override { ::reference::copy(a.data(), c.data(), n); }
};

}  // namespace

std::unique_ptr<Work> make_vector_add(bool quick) { return std::make_unique<VectorAdd>(quick); }
std::unique_ptr<Work> make_saxpy(bool quick) { return std::make_unique<Saxpy>(quick); }
std::unique_ptr<Work> make_copy(bool quick) { return std::make_unique<Copy>(quick); }

}  // namespace bench
