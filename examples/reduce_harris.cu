// reduce_harris: the classic seven steps from a naive block reduction to a bandwidth-bound one.
// Look at what changes between neighbours: modulo -> strided index -> sequential addresses -> first add while loading
// -> last warp unrolled -> block size known to the compiler -> many elements per thread.
// The last warp works without barriers: its lanes run in step and `volatile` keeps every sum in shared memory.
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

__global__ void reduce1(const int* in, int* out, unsigned) {  // interleaved addresses, divergent branches
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce2(const int* in, int* out, unsigned) {  // no divergence, but bank conflicts
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned index = 2 * s * tid;
    if (index < blockDim.x) sdata[index] += sdata[index + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce3(const int* in, int* out, unsigned) {  // sequential addresses
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x;
  sdata[tid] = in[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce4(const int* in, int* out, unsigned) {  // first add during the load
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
  sdata[tid] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

__device__ void last_warp(volatile int* sdata, unsigned tid) {
  sdata[tid] += sdata[tid + 32];
  sdata[tid] += sdata[tid + 16];
  sdata[tid] += sdata[tid + 8];
  sdata[tid] += sdata[tid + 4];
  sdata[tid] += sdata[tid + 2];
  sdata[tid] += sdata[tid + 1];
}

__global__ void reduce5(const int* in, int* out, unsigned) {  // last warp unrolled
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
  sdata[tid] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid < 32) last_warp(sdata, tid);
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

template <unsigned kBlock>
__device__ void finish(int* sdata, unsigned tid) {
  if (kBlock >= 512) {
    if (tid < 256) sdata[tid] += sdata[tid + 256];
    __syncthreads();
  }
  if (kBlock >= 256) {
    if (tid < 128) sdata[tid] += sdata[tid + 128];
    __syncthreads();
  }
  if (kBlock >= 128) {
    if (tid < 64) sdata[tid] += sdata[tid + 64];
    __syncthreads();
  }
  if (tid >= 32) return;
  volatile int* v = sdata;
  if (kBlock >= 64) v[tid] += v[tid + 32];
  if (kBlock >= 32) v[tid] += v[tid + 16];
  if (kBlock >= 16) v[tid] += v[tid + 8];
  if (kBlock >= 8) v[tid] += v[tid + 4];
  if (kBlock >= 4) v[tid] += v[tid + 2];
  if (kBlock >= 2) v[tid] += v[tid + 1];
}

template <unsigned kBlock>
__global__ void reduce6(const int* in, int* out, unsigned) {  // everything unrolled
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (kBlock * 2) + tid;
  sdata[tid] = in[i] + in[i + kBlock];
  __syncthreads();
  finish<kBlock>(sdata, tid);
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

template <unsigned kBlock>
__global__ void reduce7(const int* in, int* out, unsigned n) {  // several elements per thread
  extern __shared__ int sdata[];
  unsigned tid = threadIdx.x, i = blockIdx.x * (kBlock * 2) + tid, stride = kBlock * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) {
    sdata[tid] += in[i] + in[i + kBlock];
    i += stride;
  }
  __syncthreads();
  finish<kBlock>(sdata, tid);
  if (tid == 0) out[blockIdx.x] = sdata[0];
}

using Kernel = void (*)(const int*, int*, unsigned);

// The block size is a launch parameter; the switch turns it into a template argument.
static void launch_unrolled(int version, unsigned grid, unsigned block, const int* in, int* out, unsigned n) {
  // Blocks under 64 threads still need 64 words: the unrolled warp reads 32 past its own.
  size_t shared = (block <= 32 ? 2 * block : block) * sizeof(int);
#define WITH_BLOCK(B)                                                                              \
  case B:                                                                                          \
    (version == 6 ? (Kernel)reduce6<B> : (Kernel)reduce7<B>)<<<grid, block, shared>>>(in, out, n); \
    break;
  switch (block) { WITH_BLOCK(512) WITH_BLOCK(256) WITH_BLOCK(128) WITH_BLOCK(64) WITH_BLOCK(32) }
#undef WITH_BLOCK
}

int main(int argc, char** argv) {
  const unsigned n = 1u << (argc > 1 ? std::atoi(argv[1]) : 18);
  std::vector<int> in(n);
  int expected = 0;
  for (unsigned i = 0; i < n; ++i) expected += in[i] = (int)(i * 2654435761u >> 24) - 100;
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, n * sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  const Kernel kernels[] = {reduce1, reduce2, reduce3, reduce4, reduce5};
  int failures = 0;
  for (unsigned block : {128u, 64u, 512u, 32u}) {
    for (int version = 1; version <= 7; ++version) {
      if (block < 64 && version == 5) continue;  // the plain last warp needs at least 64 threads
      unsigned grid = version <= 3 ? n / block : version <= 6 ? n / (2 * block) : 64;
      CHECK(cudaMemset(d_out, 0, grid * sizeof(int)));
      if (version <= 5) {
        kernels[version - 1]<<<grid, block, block * sizeof(int)>>>(d_in, d_out, n);
      } else {
        launch_unrolled(version, grid, block, d_in, d_out, n);
      }
      CHECK(cudaGetLastError());
      std::vector<int> partial(grid);
      CHECK(cudaMemcpy(partial.data(), d_out, grid * sizeof(int), cudaMemcpyDeviceToHost));
      int sum = 0;
      for (int p : partial) sum += p;
      if (block == 128 || sum != expected)
        std::printf("version %d, %u blocks of %u: sum %d, %s\n", version, grid, block, sum,
                    sum == expected ? "ok" : "WRONG");
      failures += sum != expected;
    }
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("reduce_harris: %u integers, host sum %d, %s\n", n, expected, failures ? "FAILED" : "all versions agree");
  return failures != 0;
}
