// reduce_shared: block reductions in static shared, dynamic shared and no shared memory at all (warp shuffles).
// Look at the three levels of the last version: lanes of a warp, warps of a block, blocks of a grid.
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

constexpr unsigned kBlock = 128;

template <typename Shared>
__device__ void tree(Shared* smem, unsigned tid) {
  if (kBlock >= 128 && tid < 64) smem[tid] += smem[tid + 64];
  __syncthreads();
  if (tid < 32) {
    volatile int* v = smem;
    v[tid] += v[tid + 32];
    v[tid] += v[tid + 16];
    v[tid] += v[tid + 8];
    v[tid] += v[tid + 4];
    v[tid] += v[tid + 2];
    v[tid] += v[tid + 1];
  }
}

__global__ void static_shared(const int* in, int* out, unsigned n) {
  __shared__ int smem[kBlock];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  smem[tid] = i < n ? in[i] : 0;
  __syncthreads();
  tree(smem, tid);
  if (tid == 0) out[blockIdx.x] = smem[0];
}

__global__ void shared_unrolled4(const int* in, int* out, unsigned n) {
  __shared__ int smem[kBlock];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 4 + tid;
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) sum += in[i + k * blockDim.x];
  smem[tid] = sum;
  __syncthreads();
  tree(smem, tid);
  if (tid == 0) out[blockIdx.x] = smem[0];
}

__global__ void dynamic_unrolled4(const int* in, int* out, unsigned n) {
  extern __shared__ int dynamic[];
  unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x * 4 + tid;
  int sum = 0;
  for (int k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) sum += in[i + k * blockDim.x];
  dynamic[tid] = sum;
  __syncthreads();
  tree(dynamic, tid);
  if (tid == 0) out[blockIdx.x] = dynamic[0];
}

__inline__ __device__ int warp_reduce(int sum) {
  for (int mask = warpSize / 2; mask > 0; mask >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  return sum;
}

__global__ void shuffled(const int* in, int* out, unsigned n) {
  __shared__ int per_warp[32];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  int sum = warp_reduce(i < n ? in[i] : 0);
  if (lane == 0) per_warp[warp] = sum;
  __syncthreads();
  sum = threadIdx.x < blockDim.x / warpSize ? per_warp[lane] : 0;
  if (warp == 0) sum = warp_reduce(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);  // the grid level
}

int main(int argc, char** argv) {
  const unsigned n = argc > 1 ? std::atoi(argv[1]) : 300001;
  std::vector<int> in(n);
  int expected = 0;
  for (unsigned i = 0; i < n; ++i) expected += in[i] = (int)(i % 201) - 90;
  int *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * sizeof(int)));
  CHECK(cudaMalloc(&d_out, (n / kBlock + 1) * sizeof(int)));
  CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  const unsigned blocks = (n + kBlock - 1) / kBlock, blocks4 = (n + 4 * kBlock - 1) / (4 * kBlock);
  int failures = 0;
  for (int version = 0; version < 4; ++version) {
    CHECK(cudaMemset(d_out, 0, (n / kBlock + 1) * sizeof(int)));
    switch (version) {
      case 0:
        static_shared<<<blocks, kBlock>>>(d_in, d_out, n);
        break;
      case 1:
        shared_unrolled4<<<blocks4, kBlock>>>(d_in, d_out, n);
        break;
      case 2:
        dynamic_unrolled4<<<blocks4, kBlock, kBlock * sizeof(int)>>>(d_in, d_out, n);
        break;
      case 3:
        shuffled<<<blocks, kBlock>>>(d_in, d_out, n);
        break;
    }
    CHECK(cudaGetLastError());
    std::vector<int> partial(version == 0 ? blocks : version == 3 ? 1 : blocks4);
    CHECK(cudaMemcpy(partial.data(), d_out, partial.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int p : partial) sum += p;
    const char* names[] = {"static shared", "static shared, unrolled 4", "dynamic shared, unrolled 4", "warp shuffles"};
    std::printf("%-28s sum %d%s\n", names[version], sum, sum == expected ? "" : " WRONG");
    failures += sum != expected;
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  std::printf("reduce_shared: host sum %d, %s\n", expected, failures ? "FAILED" : "all versions agree");
  return failures != 0;
}
