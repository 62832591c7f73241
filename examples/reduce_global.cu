// reduce_global: block reductions that work in place in global memory, from the textbook's first to its last.
// Look at `idata`, the block's own window into the array, and at how much of it each version folds before the tree
// begins. `return` before a barrier is safe here because n is a multiple of what a block handles.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// The same sum on the host, halving recursively.
static int recursive_reduce(int* data, int size) {
  if (size == 1) return data[0];
  const int stride = size / 2;
  for (int i = 0; i < stride; ++i) data[i] += data[i + stride];
  return recursive_reduce(data, stride);
}

__global__ void neighbored(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x, idx = blockIdx.x * blockDim.x + threadIdx.x;
  int* idata = g_idata + blockIdx.x * blockDim.x;
  if (idx >= n) return;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) idata[tid] += idata[tid + stride];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

__global__ void neighbored_less_divergent(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x, idx = blockIdx.x * blockDim.x + threadIdx.x;
  int* idata = g_idata + blockIdx.x * blockDim.x;
  if (idx >= n) return;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    unsigned index = 2 * stride * tid;  // the first threads stay busy, whole warps retire
    if (index < blockDim.x) idata[index] += idata[index + stride];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

__global__ void interleaved(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x, idx = blockIdx.x * blockDim.x + threadIdx.x;
  int* idata = g_idata + blockIdx.x * blockDim.x;
  if (idx >= n) return;
  for (unsigned stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (tid < stride) idata[tid] += idata[tid + stride];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

// Fold kBlocks neighbouring data blocks into the first one.
template <int kBlocks>
__device__ int* fold(int* g_idata, unsigned n) {
  unsigned idx = blockIdx.x * blockDim.x * kBlocks + threadIdx.x;
  if (idx + (kBlocks - 1) * blockDim.x < n) {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < kBlocks; ++k) sum += g_idata[idx + k * blockDim.x];
    g_idata[idx] = sum;
  }
  __syncthreads();
  return g_idata + blockIdx.x * blockDim.x * kBlocks;
}

template <int kBlocks>
__global__ void unrolled(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x;
  int* idata = fold<kBlocks>(g_idata, n);
  for (unsigned stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (tid < stride) idata[tid] += idata[tid + stride];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

__device__ void last_warp(int* idata, unsigned tid) {
  volatile int* vmem = idata;
  vmem[tid] += vmem[tid + 32];
  vmem[tid] += vmem[tid + 16];
  vmem[tid] += vmem[tid + 8];
  vmem[tid] += vmem[tid + 4];
  vmem[tid] += vmem[tid + 2];
  vmem[tid] += vmem[tid + 1];
}

__global__ void unrolled_warp(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x;
  int* idata = fold<8>(g_idata, n);
  for (unsigned stride = blockDim.x / 2; stride > 32; stride >>= 1) {
    if (tid < stride) idata[tid] += idata[tid + stride];
    __syncthreads();
  }
  if (tid < 32) last_warp(idata, tid);
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

__global__ void complete(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x;
  int* idata = fold<8>(g_idata, n);
  if (blockDim.x >= 1024 && tid < 512) idata[tid] += idata[tid + 512];
  __syncthreads();
  if (blockDim.x >= 512 && tid < 256) idata[tid] += idata[tid + 256];
  __syncthreads();
  if (blockDim.x >= 256 && tid < 128) idata[tid] += idata[tid + 128];
  __syncthreads();
  if (blockDim.x >= 128 && tid < 64) idata[tid] += idata[tid + 64];
  __syncthreads();
  if (tid < 32) last_warp(idata, tid);
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

template <unsigned kBlock>
__global__ void complete_template(int* g_idata, int* g_odata, unsigned n) {
  unsigned tid = threadIdx.x;
  int* idata = fold<8>(g_idata, n);
  if (kBlock >= 1024 && tid < 512) idata[tid] += idata[tid + 512];
  __syncthreads();
  if (kBlock >= 512 && tid < 256) idata[tid] += idata[tid + 256];
  __syncthreads();
  if (kBlock >= 256 && tid < 128) idata[tid] += idata[tid + 128];
  __syncthreads();
  if (kBlock >= 128 && tid < 64) idata[tid] += idata[tid + 64];
  __syncthreads();
  if (tid < 32) last_warp(idata, tid);
  if (tid == 0) g_odata[blockIdx.x] = idata[0];
}

using Kernel = void (*)(int*, int*, unsigned);

static Kernel complete_for(unsigned block) {
  switch (block) {
    case 1024:
      return complete_template<1024>;
    case 512:
      return complete_template<512>;
    case 256:
      return complete_template<256>;
    case 128:
      return complete_template<128>;
    case 64:
      return complete_template<64>;
  }
  return nullptr;
}

int main(int argc, char** argv) {
  const unsigned n = 1u << (argc > 1 ? std::atoi(argv[1]) : 18);
  const unsigned block = argc > 2 ? std::atoi(argv[2]) : 512;
  std::vector<int> in(n), partial;
  for (unsigned i = 0; i < n; ++i) in[i] = (i * 40503u >> 4) & 0xff;
  std::vector<int> copy = in;
  const int expected = recursive_reduce(copy.data(), n);

  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n / block * sizeof(int)));
  const struct {
    const char* name;
    Kernel kernel;
    unsigned fold;
  } versions[] = {
      {"neighbored", neighbored, 1},
      {"neighbored, less divergent", neighbored_less_divergent, 1},
      {"interleaved", interleaved, 1},
      {"unrolled 2", unrolled<2>, 2},
      {"unrolled 4", unrolled<4>, 4},
      {"unrolled 8", unrolled<8>, 8},
      {"unrolled 8 and the last warp", unrolled_warp, 8},
      {"completely unrolled", complete, 8},
      {"completely unrolled, template", complete_for(block), 8},
  };
  int failures = 0;
  for (const auto& v : versions) {
    unsigned grid = n / block / v.fold;
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, n / block * sizeof(int)));
    v.kernel<<<grid, block>>>(d_in, d_out, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    partial.assign(grid, 0);
    CHECK(cudaMemcpy(partial.data(), d_out, grid * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int p : partial) sum += p;
    std::printf("%-30s <<<%u, %u>>> sum %d%s\n", v.name, grid, block, sum, sum == expected ? "" : " WRONG");
    failures += sum != expected;
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("reduce_global: host sum %d, %s\n", expected, failures ? "FAILED" : "all versions agree");
  return failures != 0;
}
