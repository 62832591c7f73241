// constant_stencil: a nine-point first derivative, its coefficients in constant memory, then in read-only global
// memory. Look at the halo: the first few threads of a block load the neighbours that the block borrows from both
// sides.
#include <cuda_runtime.h>

#include <cmath>
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

constexpr int kRadius = 4, kBlock = 64;

__constant__ float coefficients[kRadius + 1];

__device__ void load_tile(float* tile, const float* in, int i) {
  int s = threadIdx.x + kRadius;
  tile[s] = in[i];
  if (threadIdx.x < kRadius) {
    tile[s - kRadius] = in[i - kRadius];
    tile[s + kBlock] = in[i + kBlock];
  }
  __syncthreads();
}

__global__ void stencil_constant(const float* in, float* out) {
  __shared__ float tile[kBlock + 2 * kRadius];
  int i = threadIdx.x + blockIdx.x * blockDim.x, s = threadIdx.x + kRadius;
  load_tile(tile, in, i);
  float sum = 0.0f;
#pragma unroll
  for (int k = 1; k <= kRadius; ++k) sum += coefficients[k] * (tile[s + k] - tile[s - k]);
  out[i] = sum;
}

__global__ void stencil_read_only(const float* in, float* out, const float* __restrict__ c) {
  __shared__ float tile[kBlock + 2 * kRadius];
  int i = threadIdx.x + blockIdx.x * blockDim.x, s = threadIdx.x + kRadius;
  load_tile(tile, in, i);
  float sum = 0.0f;
#pragma unroll
  for (int k = 1; k <= kRadius; ++k) sum += c[k] * (tile[s + k] - tile[s - k]);
  out[i] = sum;
}

__global__ void stencil_ldg(const float* in, float* out, const float* c) {
  __shared__ float tile[kBlock + 2 * kRadius];
  int i = threadIdx.x + blockIdx.x * blockDim.x, s = threadIdx.x + kRadius;
  load_tile(tile, in, i);
  float sum = 0.0f;
#pragma unroll
  for (int k = 1; k <= kRadius; ++k) sum += __ldg(&c[k]) * (tile[s + k] - tile[s - k]);
  out[i] = sum;
}

int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 1 << 16;
  n = (n + kBlock - 1) / kBlock * kBlock;
  const float h = 0.01f;
  // Eighth-order central differences for a first derivative.
  const float c[kRadius + 1] = {0.0f, 0.8f / h, -0.2f / h, 0.0380952381f / h, -0.00357142857f / h};

  std::vector<float> in(n + 2 * kRadius), out(n);
  for (int i = 0; i < n + 2 * kRadius; ++i) in[i] = std::sin((i - kRadius) % 1000 * h);
  float *d_in, *d_out, *d_c;
  CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
  CHECK(cudaMalloc(&d_out, n * sizeof(float)));
  CHECK(cudaMalloc(&d_c, sizeof c));
  CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_c, c, sizeof c, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(coefficients, c, sizeof c));

  int wrong = 0;
  for (int version = 0; version < 3; ++version) {
    CHECK(cudaMemset(d_out, 0xff, n * sizeof(float)));
    if (version == 0) stencil_constant<<<n / kBlock, kBlock>>>(d_in + kRadius, d_out);
    if (version == 1) stencil_read_only<<<n / kBlock, kBlock>>>(d_in + kRadius, d_out, d_c);
    if (version == 2) stencil_ldg<<<n / kBlock, kBlock>>>(d_in + kRadius, d_out, d_c);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
    int bad = 0;
    double largest = 0.0;
    for (int i = 0; i < n; ++i) {
      double expected = 0.0;
      for (int k = 1; k <= kRadius; ++k)
        expected += (double)c[k] * ((double)in[i + kRadius + k] - (double)in[i + kRadius - k]);
      bad += !(std::fabs(out[i] - expected) <= 1e-5 * std::fabs(expected) + 1e-3);
      if (i % 1000 > 8 && i % 1000 < 990) largest = std::fmax(largest, std::fabs(out[i] - std::cos(i % 1000 * h)));
    }
    const char* names[] = {"constant memory", "read-only by __restrict__", "read-only by __ldg"};
    std::printf("%-26s %d wrong, derivative of sin within %s\n", names[version], bad, largest < 1e-3 ? "1e-3" : "?");
    wrong += bad + !(largest < 1e-3);
  }
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_c));
  std::printf("constant_stencil: %s\n", wrong ? "FAILED" : "the three agree");
  return wrong != 0;
}
