// An iteration as solvers have it: a kernel, a reduction, one word back, a decision.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double event_us(Work work, cudaStream_t stream = 0) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  work();
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaEventSynchronize(stop));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return ms * 1000;
}

__global__ void relax(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = 0.5f * (in[i - 1] + in[i + 1]);
}
__global__ void norm(const float* a, const float* b, float* result, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += (a[i] - b[i]) * (a[i] - b[i]);
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(result, part[0]);
}

int main() {
  const int n = 1 << 20;
  float *a, *b, *r, host = 0;
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMalloc(&b, n * 4));
  CHECK(cudaMalloc(&r, 4));
  std::vector<float> first(n, 0.f);
  first[0] = 1;
  CHECK(cudaMemcpy(a, first.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, first.data(), n * 4, cudaMemcpyHostToDevice));
  const int rounds = 30;
  const auto loop = [&](int check_every) {
    for (int k = 0; k < rounds; ++k) {
      relax<<<n / 256, 256>>>(a, b, n);
      if (k % check_every == 0) {
        CHECK(cudaMemset(r, 0, 4));
        norm<<<264, 256>>>(a, b, r, n);
        CHECK(cudaMemcpy(&host, r, 4, cudaMemcpyDeviceToHost));
      }
      std::swap(a, b);
    }
    CHECK(cudaDeviceSynchronize());
  };
  loop(1);
  for (int every : {1, 5, 1000}) {
    const double t = now_us();
    loop(every);
    std::printf("check_every_%d: %.3f us\n", every, (now_us() - t) / rounds);
  }
  std::printf("relax: %.3f us\n", event_us([&] { relax<<<n / 256, 256>>>(a, b, n); }));
  return !(host >= 0);
}
