// Two sums: the tree in shared memory that every course begins with, and a grid-stride loop with shuffles.
#include "cpu/work.h"
#include "reference/reference.h"

__global__ void reduce_tree(const int* in, int* out, unsigned n) {
  extern __shared__ int partial[];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) partial[tid] += partial[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = partial[0];
}

__inline__ __device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void reduce_shuffle(const float* in, float* total, int n) {
  __shared__ float of_warp[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  sum = warp_sum(sum);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? of_warp[lane] : 0;
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(total, sum);
  }
}

namespace bench {
namespace {

constexpr unsigned kBlock = 256;

template <class T, class Fn>
HostArray<T> filled(size_t n, Fn value) {
  HostArray<T> data(n);
  for (size_t k = 0; k < n; ++k) data[k] = value(k);
  return data;
}

struct ReduceTree : Work {
  explicit ReduceTree(bool quick)
      : n(quick ? 1 << 21 : 1 << 24),
        in(filled<int>(n, [](size_t k) { return static_cast<int>(mix(k) % 1000); })),
        d_in(in),
        d_sums(blocks_for(n, kBlock)),
        d_more(blocks_for(d_sums.size(), kBlock)) {}
  void ours() override {
    const int* from = d_in.data();
    int *to = d_sums.data(), *other = d_more.data();
    for (unsigned left = n; left > 1;) {
      unsigned blocks = blocks_for(left, kBlock);
      reduce_tree<<<blocks, kBlock, kBlock * sizeof(int)>>>(from, to, left);
      left = blocks;
      from = to;
      std::swap(to, other);
    }
    result = from;
  }
  void reference() override { expected = ::reference::sum(in.data(), n); }
  std::string difference() override {
    std::vector<int> sum(1);
    BENCH_CHECK(cudaMemcpy(sum.data(), result, sizeof(int), cudaMemcpyDeviceToHost));
    return compare_exactly(sum, &expected, 1);
  }

  size_t n;
  HostArray<int> in;
  DeviceArray<int> d_in, d_sums, d_more;
  const int* result = nullptr;
  int expected = 0;
};

struct ReduceShuffle : Work {
  explicit ReduceShuffle(bool quick) : n(quick ? 1 << 21 : 1 << 24), in(filled<float>(n, unit)), d_in(in), d_total(1) {}
  void ours() override {
    d_total.clear();
    reduce_shuffle<<<256, kBlock>>>(d_in.data(), d_total.data(), static_cast<int>(n));
  }
  void reference() override { expected = ::reference::sum(in.data(), n); }
  // Both err against the exact sum, by their orders of summation.
  std::string difference() override { return compare_closely(d_total.download(), &expected, 1, 1e-3, 1); }

  size_t n;
  HostArray<float> in;
  DeviceArray<float> d_in, d_total;
  float expected = 0;
};

}  // namespace

std::unique_ptr<Work> make_reduce_tree(bool quick) { return std::make_unique<ReduceTree>(quick); }
std::unique_ptr<Work> make_reduce_shuffle(bool quick) { return std::make_unique<ReduceShuffle>(quick); }

}  // namespace bench
