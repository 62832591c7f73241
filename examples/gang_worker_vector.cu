// gang_worker_vector: the parallel levels of directive-based models written out as kernels.
// Look at who works: one thread per block (gang), one lane per warp (worker), every lane (vector); and at the block and
// cyclic ways of dealing elements to threads.
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

__global__ void gang_redundant(int* counter) {  // every gang does the same, one thread each
  if (threadIdx.x == 0) atomicAdd(counter, 1);
}

__global__ void gang_partitioned(const int* a, const int* b, int* c, int n) {
  if (threadIdx.x == 0)
    for (int i = blockIdx.x; i < n; i += gridDim.x) c[i] = a[i] + b[i];
}

__global__ void worker_partitioned(const int* a, const int* b, int* c, int n) {
  if (threadIdx.x % warpSize == 0) {
    int warp = threadIdx.x / warpSize, warps_per_block = blockDim.x / warpSize;
    for (int i = blockIdx.x * warps_per_block + warp; i < n; i += gridDim.x * warps_per_block) c[i] = a[i] + b[i];
  }
}

__global__ void vector_partitioned(const int* a, const int* b, int* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

__global__ void block_partitioned(const int* a, const int* b, int* c, int n) {  // a run of neighbours per thread
  int threads = gridDim.x * blockDim.x, per_thread = (n + threads - 1) / threads;
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * per_thread;
  for (int i = begin; i < begin + per_thread && i < n; ++i) c[i] = a[i] + b[i];
}

using Kernel = void (*)(const int*, const int*, int*, int);

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 5000, gangs = 8, threads = 128;
  std::vector<int> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i * 3, b[i] = 1000 - i;
  int *d_a, *d_b, *d_c, *d_counter, counter = 0;
  CHECK(cudaMalloc(&d_a, n * sizeof(int)));
  CHECK(cudaMalloc(&d_b, n * sizeof(int)));
  CHECK(cudaMalloc(&d_c, n * sizeof(int)));
  CHECK(cudaMalloc(&d_counter, sizeof(int)));
  CHECK(cudaMemset(d_counter, 0, sizeof(int)));
  CHECK(cudaMemcpy(d_a, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  gang_redundant<<<gangs, threads>>>(d_counter);
  CHECK(cudaMemcpy(&counter, d_counter, sizeof counter, cudaMemcpyDeviceToHost));
  int wrong = counter != gangs;
  const struct {
    const char* name;
    Kernel kernel;
    int workers;
  } modes[] = {
      {"gang partitioned", gang_partitioned, gangs},
      {"worker partitioned", worker_partitioned, gangs * threads / 32},
      {"vector partitioned, cyclic", vector_partitioned, gangs * threads},
      {"vector partitioned, blocks", block_partitioned, gangs * threads},
  };
  for (const auto& mode : modes) {
    CHECK(cudaMemset(d_c, 0xff, n * sizeof(int)));
    mode.kernel<<<gangs, threads>>>(d_a, d_b, d_c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += c[i] != 2 * i + 1000;
    std::printf("%-28s %4d at work, %d wrong\n", mode.name, mode.workers, bad);
    wrong += bad;
  }
  for (int* p : {d_a, d_b, d_c, d_counter}) CHECK(cudaFree(p));
  std::printf("gang_worker_vector: %s\n", wrong ? "FAILED" : "all levels compute the same sum");
  return wrong != 0;
}
