// A histogram of bytes: shared atomics in each block, then one global atomic for each bin.
#include "cpu/work.h"
#include "reference/reference.h"

__global__ void histogram(const unsigned char* buffer, int size, unsigned* bins) {
  __shared__ unsigned temp[256];
  temp[threadIdx.x] = 0;
  __syncthreads();
  int stride = blockDim.x * gridDim.x;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < size; i += stride) atomicAdd(&temp[buffer[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], temp[threadIdx.x]);
}

namespace bench {
namespace {

struct Histogram : Work {
  explicit Histogram(bool quick) : n(quick ? 1 << 20 : 1 << 24), data(n), bins(256), d_data(n), d_bins(256) {
    for (size_t k = 0; k < n; ++k) data[k] = static_cast<unsigned char>(mix(k));
    d_data.upload(data);
  }
  void ours() override {
    d_bins.clear();
    histogram<<<256, 256>>>(d_data.data(), static_cast<int>(n), d_bins.data());
  }
  void reference() override { ::reference::histogram(data.data(), n, bins.data()); }
  std::string difference() override { return compare_exactly(d_bins.download(), bins.data(), 256); }

  size_t n;
  HostArray<unsigned char> data;
  HostArray<unsigned> bins;
  DeviceArray<unsigned char> d_data;
  DeviceArray<unsigned> d_bins;
};

}  // namespace

std::unique_ptr<Work> make_histogram(bool quick) { return std::make_unique<Histogram>(quick); }

}  // namespace bench
