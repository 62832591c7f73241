// Many tridiagonal systems at once: a thread each (system by system in memory, and interleaved), and cyclic reduction by a block.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__global__ void thomas_by_rows(const float* a, const float* b, const float* c, float* d, float* work, int n, int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  int base = s * n;
  float beta = b[base];
  d[base] /= beta;
  for (int i = 1; i < n; i++) {
    work[base + i] = c[base + i - 1] / beta;
    beta = b[base + i] - a[base + i] * work[base + i];
    d[base + i] = (d[base + i] - a[base + i] * d[base + i - 1]) / beta;
  }
  for (int i = n - 2; i >= 0; i--) d[base + i] -= work[base + i + 1] * d[base + i + 1];
}

__global__ void thomas_interleaved(const float* a, const float* b, const float* c, float* d, float* work, int n, int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float beta = b[s], last = d[s] / beta;
  d[s] = last;
  for (int i = 1; i < n; i++) {
    int k = i * systems + s;
    float w = c[k - systems] / beta;
    work[k] = w;
    beta = b[k] - a[k] * w;
    last = (d[k] - a[k] * last) / beta;
    d[k] = last;
  }
  for (int i = n - 2; i >= 0; i--) {
    int k = i * systems + s;
    last = d[k] - work[k + systems] * last;
    d[k] = last;
  }
}

__global__ void cyclic_reduction(const float* ga, const float* gb, const float* gc, float* gd, int n) {
  extern __shared__ float shared[];
  float *a = shared, *b = a + n, *c = b + n, *d = c + n;
  int t = threadIdx.x;
  size_t base = size_t(blockIdx.x) * n;
  a[t] = ga[base + t];
  b[t] = gb[base + t];
  c[t] = gc[base + t];
  d[t] = gd[base + t];
  __syncthreads();
  for (int stride = 1; stride < n; stride *= 2) {
    int low = t - stride, high = t + stride;
    float k1 = low >= 0 ? a[t] / b[low] : 0.0f, k2 = high < n ? c[t] / b[high] : 0.0f;
    float na = low >= 0 ? -a[low] * k1 : 0.0f, nc = high < n ? -c[high] * k2 : 0.0f;
    float nb = b[t] - (low >= 0 ? c[low] * k1 : 0.0f) - (high < n ? a[high] * k2 : 0.0f);
    float nd = d[t] - (low >= 0 ? d[low] * k1 : 0.0f) - (high < n ? d[high] * k2 : 0.0f);
    __syncthreads();
    a[t] = na;
    b[t] = nb;
    c[t] = nc;
    d[t] = nd;
    __syncthreads();
  }
  gd[base + t] = d[t] / b[t];
}

int main() {
  const int n = 128, systems = 8192, all = n * systems;
  std::vector<float> host(all, 1.0f), wide(all, 4.0f);
  float *a, *b, *c, *d, *work;
  CHECK(cudaMalloc(&a, all * 4));
  CHECK(cudaMalloc(&b, all * 4));
  CHECK(cudaMalloc(&c, all * 4));
  CHECK(cudaMalloc(&d, all * 4));
  CHECK(cudaMalloc(&work, all * 4));
  CHECK(cudaMemcpy(a, host.data(), all * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, wide.data(), all * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(c, host.data(), all * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d, host.data(), all * 4, cudaMemcpyHostToDevice));
  THRICE thomas_by_rows<<<systems / 64, 64>>>(a, b, c, d, work, n, systems);
  THRICE thomas_interleaved<<<systems / 64, 64>>>(a, b, c, d, work, n, systems);
  THRICE cyclic_reduction<<<systems, n, 4 * n * sizeof(float)>>>(a, b, c, d, n);
  CHECK(cudaMemcpy(host.data(), d, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[5]);
  return 0;
}
