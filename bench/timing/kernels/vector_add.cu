// Adds vectors of several lengths with several block sizes, one element a thread and in grid-stride loops.
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

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void add_grid_stride(const float* a, const float* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

__global__ void add_four(const float4* a, const float4* b, float4* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

int main() {
  const int n = 1 << 22;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 100 * 0.25f;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * sizeof(float)));
  CHECK(cudaMemcpy(a, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  THRICE add<<<(1000 + 255) / 256, 256>>>(a, b, c, 1000);
  THRICE add<<<(50000 + 255) / 256, 256>>>(a, b, c, 50000);
  THRICE add<<<(1 << 20) / 128, 128>>>(a, b, c, 1 << 20);
  THRICE add<<<n / 256, 256>>>(a, b, c, n);
  THRICE add<<<n / 1024, 1024>>>(a, b, c, n);
  THRICE add_grid_stride<<<528, 256>>>(a, b, c, n);
  THRICE add_grid_stride<<<32, 256>>>(a, b, c, 1 << 20);
  THRICE add_four<<<n / 4 / 256, 256>>>((float4*)a, (float4*)b, (float4*)c, n / 4);
  CHECK(cudaMemcpy(host.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[12345]);
  return 0;
}
