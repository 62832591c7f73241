// A dot product on mapped memory, and a kernel that writes its result there, beside the same with copies.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

static double seconds() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }

// The median of what some runs of it take, in microseconds.
template <class Work>
static double time_us(int runs, Work work) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    work();
    all.push_back((seconds() - begin) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + runs / 2, all.end());
  return all[runs / 2];
}

__global__ void dot(const float* a, const float* b, float* out, int n) {
  __shared__ float part[256];
  float sum = 0;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) sum += a[at] * b[at];
  part[threadIdx.x] = sum;
  for (int step = 128; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void squares(float* out, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) out[at] = float(at) * at;
}

int main() {
  const int most = 1 << 21, blocks = 64;
  float *a, *b, *out, *da, *db, *dout;
  CHECK(cudaHostAlloc(&a, most * 4, cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&b, most * 4, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  CHECK(cudaHostAlloc(&out, most * 4, cudaHostAllocMapped));
  CHECK(cudaMalloc(&da, most * 4));
  CHECK(cudaMalloc(&db, most * 4));
  CHECK(cudaMalloc(&dout, most * 4));
  std::fill_n(a, most, 1.0f);
  std::fill_n(b, most, 2.0f);
  dot<<<1, 256>>>(da, db, dout, 1);
  squares<<<1, 256>>>(dout, 1);
  CHECK(cudaDeviceSynchronize());
  for (int n : {1 << 10, 1 << 16, most}) {
    std::printf("mapped_%d: %.3f us\n", n, time_us(5, [&] {
                  dot<<<blocks, 256>>>(a, b, out, n);
                  CHECK(cudaDeviceSynchronize());
                }));
    std::printf("copied_%d: %.3f us\n", n, time_us(5, [&] {
                  CHECK(cudaMemcpy(da, a, n * 4, cudaMemcpyHostToDevice));
                  CHECK(cudaMemcpy(db, b, n * 4, cudaMemcpyHostToDevice));
                  dot<<<blocks, 256>>>(da, db, dout, n);
                  CHECK(cudaMemcpy(out, dout, blocks * 4, cudaMemcpyDeviceToHost));
                }));
    std::printf("written_%d: %.3f us\n", n, time_us(5, [&] {
                  squares<<<(n + 255) / 256, 256>>>(out, n);
                  CHECK(cudaDeviceSynchronize());
                }));
  }
}
