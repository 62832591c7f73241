// Batch normalization of a net's activations (N, C, H, W): statistics of a channel by a block, forward, backward.
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

__global__ void statistics(const float* x, float* mean, float* variance, int N, int C, int HW) {
  int c = blockIdx.x;
  float sum = 0.f, squares = 0.f;
  for (int n = 0; n < N; n++)
    for (int i = threadIdx.x; i < HW; i += blockDim.x) {
      float v = x[(n * C + c) * HW + i];
      sum += v;
      squares += v * v;
    }
  __shared__ float s1[32], s2[32];
  for (int o = 16; o; o >>= 1) {
    sum += __shfl_down_sync(~0u, sum, o);
    squares += __shfl_down_sync(~0u, squares, o);
  }
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) s1[warp] = sum, s2[warp] = squares;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / 32 ? s1[lane] : 0.f;
    squares = lane < blockDim.x / 32 ? s2[lane] : 0.f;
    for (int o = 16; o; o >>= 1) {
      sum += __shfl_down_sync(~0u, sum, o);
      squares += __shfl_down_sync(~0u, squares, o);
    }
    if (lane == 0) {
      float m = sum / (N * HW);
      mean[c] = m;
      variance[c] = squares / (N * HW) - m * m;
    }
  }
}

__global__ void forward(const float* x, float* y, const float* mean, const float* variance, const float* gamma, const float* beta, int C,
                        int HW, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) {
    int c = (i / HW) % C;
    y[i] = gamma[c] * (x[i] - mean[c]) * rsqrtf(variance[c] + 1e-5f) + beta[c];
  }
}

__global__ void forward_by_channel(const float* x, float* y, const float* mean, const float* variance, const float* gamma, const float* beta,
                                   int C, int HW) {
  int c = blockIdx.x % C;
  float scale = gamma[c] / sqrtf(variance[c] + 1e-5f), shift = beta[c] - mean[c] * scale;
  const float* from = x + size_t(blockIdx.x) * HW;
  float* to = y + size_t(blockIdx.x) * HW;
  for (int i = threadIdx.x; i < HW; i += blockDim.x) {
    float v = from[i] * scale + shift;
    to[i] = v > 0 ? v : 0;
  }
}

__global__ void backward_sums(const float* dy, const float* x, const float* mean, const float* variance, float* dgamma, float* dbeta, int C,
                              int HW) {
  int c = blockIdx.x % C;
  float m = mean[c], inverse = rsqrtf(variance[c] + 1e-5f), g = 0, b = 0;
  for (int i = threadIdx.x; i < HW; i += blockDim.x) {
    float d = dy[size_t(blockIdx.x) * HW + i];
    g += d * (x[size_t(blockIdx.x) * HW + i] - m) * inverse;
    b += d;
  }
  __shared__ float buffer[2][128];
  buffer[0][threadIdx.x] = g;
  buffer[1][threadIdx.x] = b;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (threadIdx.x < s) {
      buffer[0][threadIdx.x] += buffer[0][threadIdx.x + s];
      buffer[1][threadIdx.x] += buffer[1][threadIdx.x + s];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicAdd(&dgamma[c], buffer[0][0]);
    atomicAdd(&dbeta[c], buffer[1][0]);
  }
}

int main() {
  const int N = 16, C = 64, HW = 56 * 56, total = N * C * HW;
  std::vector<float> host(total);
  for (int i = 0; i < total; ++i) host[i] = i % 29 * 0.1f - 1;
  float *x, *y, *p;
  CHECK(cudaMalloc(&x, total * 4));
  CHECK(cudaMalloc(&y, total * 4));
  CHECK(cudaMalloc(&p, 6 * C * 4));
  CHECK(cudaMemcpy(x, host.data(), total * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(p, host.data(), 6 * C * 4, cudaMemcpyHostToDevice));
  THRICE statistics<<<C, 512>>>(x, p, p + C, N, C, HW);
  THRICE forward<<<(total + 255) / 256, 256>>>(x, y, p, p + C, p + 2 * C, p + 3 * C, C, HW, total);
  THRICE forward_by_channel<<<N * C, 256>>>(x, y, p, p + C, p + 2 * C, p + 3 * C, C, HW);
  THRICE backward_sums<<<N * C, 128>>>(y, x, p, p + C, p + 4 * C, p + 5 * C, C, HW);
  CHECK(cudaMemcpy(host.data(), y, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
