// A book's histogram and reduction with events and with the host's clock, copies and all.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void histogram(const unsigned char* x, int n, unsigned* bins) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void dot(const float* a, const float* b, float* out, int n) {
  __shared__ float cache[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (int k = 128; k; k /= 2) {
    if (static_cast<int>(threadIdx.x) < k) cache[threadIdx.x] += cache[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = cache[0];
}

int main() {
  const int n = 16 << 20;
  std::vector<unsigned char> bytes(n);
  for (int i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 7919u >> 8);
  unsigned char* x;
  unsigned* bins;
  cudaEvent_t begin, end;
  float ms;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int round = 0; round < 2; ++round) {
    CHECK(cudaEventRecord(begin));
    CHECK(cudaMalloc(&x, n));
    CHECK(cudaMemcpy(x, bytes.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&bins, 1024));
    CHECK(cudaMemset(bins, 0, 1024));
    histogram<<<264, 256>>>(x, n, bins);
    unsigned counts[256];
    CHECK(cudaMemcpy(counts, bins, 1024, cudaMemcpyDeviceToHost));
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    std::printf("all_%d: %.3f us\n", round, ms * 1000);
    CHECK(cudaEventRecord(begin));
    histogram<<<264, 256>>>(x, n, bins);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    std::printf("kernel_%d: %.3f us\n", round, ms * 1000);
    CHECK(cudaFree(x));
    CHECK(cudaFree(bins));
  }
  float *a, *b, *partial;
  const int m = 4 << 20;
  std::vector<float> ones(m, 1.f);
  float sums[64];
  CHECK(cudaMalloc(&a, m * 4));
  CHECK(cudaMalloc(&b, m * 4));
  CHECK(cudaMalloc(&partial, sizeof sums));
  CHECK(cudaMemcpy(a, ones.data(), m * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, ones.data(), m * 4, cudaMemcpyHostToDevice));
  std::printf("dot: %.3f us\n", median_us([&] {
    dot<<<64, 256>>>(a, b, partial, m);
    CHECK(cudaMemcpy(sums, partial, sizeof sums, cudaMemcpyDeviceToHost));
  }));
}
