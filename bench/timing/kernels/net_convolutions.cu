// Convolutions of a net: a thread for each output, tiles in shared memory with weights in constant memory, one filter a channel, 1 x 1, and pooling.
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

__global__ void direct(const float* in, const float* weights, float* out, int C, int K, int H, int W) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, k = blockIdx.z;
  if (x >= W || y >= H) return;
  float sum = 0.0f;
  for (int c = 0; c < C; c++)
    for (int r = 0; r < 3; r++)
      for (int s = 0; s < 3; s++) {
        int yy = y + r - 1, xx = x + s - 1;
        if (yy >= 0 && yy < H && xx >= 0 && xx < W) sum += in[(c * H + yy) * W + xx] * weights[((k * C + c) * 3 + r) * 3 + s];
      }
  out[(k * H + y) * W + x] = sum;
}

__constant__ float filters[16 * 16 * 9];

__global__ void tiled(const float* in, float* out, int C, int K, int H, int W) {
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sums[16] = {};
  for (int c = 0; c < C; c++) {
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 324; i += 256) {
      int yy = blockIdx.y * 16 + i / 18 - 1, xx = blockIdx.x * 16 + i % 18 - 1;
      tile[i / 18][i % 18] = yy >= 0 && yy < H && xx >= 0 && xx < W ? in[(c * H + yy) * W + xx] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++)
#pragma unroll
      for (int i = 0; i < 9; i++) sums[k] += tile[threadIdx.y + i / 3][threadIdx.x + i % 3] * filters[(k * C + c) * 9 + i];
    __syncthreads();
  }
  for (int k = 0; k < 16; k++) out[(k * H + y) * W + x] = sums[k];
}

__global__ void depthwise(const float* in, const float* weights, const float* bias, float* out, int C, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= C * H * W) return;
  int x = i % W, y = i / W % H, c = i / (W * H);
  float sum = bias[c];
#pragma unroll
  for (int r = 0; r < 3; r++)
#pragma unroll
    for (int s = 0; s < 3; s++) {
      int yy = y + r - 1, xx = x + s - 1;
      if (yy >= 0 && yy < H && xx >= 0 && xx < W) sum += in[c * H * W + yy * W + xx] * weights[c * 9 + r * 3 + s];
    }
  out[i] = fmaxf(sum, 0.0f);
}

__global__ void pointwise(const float* in, const float* weights, float* out, int C, int HW) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
  if (p >= HW) return;
  float sum = 0;
  for (int c = 0; c < C; c++) sum += weights[k * C + c] * in[c * HW + p];
  out[k * HW + p] = sum;
}

__global__ void max_pool(const float* in, float* out, int C, int H, int W) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, c = blockIdx.z;
  if (x >= W / 2) return;
  const float* p = in + (c * H + 2 * y) * W + 2 * x;
  out[(c * (H / 2) + y) * (W / 2) + x] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[W], p[W + 1]));
}

int main() {
  const int C = 16, K = 16, H = 256, W = 256, n = C * H * W;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 31 * 0.05f - 0.7f;
  float *in, *out, *weights;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&weights, 16 * 16 * 9 * 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(weights, host.data(), 16 * 16 * 9 * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(filters, host.data(), 16 * 16 * 9 * 4));
  THRICE direct<<<dim3(W / 16, H / 16, K), dim3(16, 16)>>>(in, weights, out, C, K, H, W);
  THRICE tiled<<<dim3(W / 16, H / 16), dim3(16, 16)>>>(in, out, C, K, H, W);
  THRICE depthwise<<<n / 256, 256>>>(in, weights, weights, out, C, H, W);
  THRICE pointwise<<<dim3(H * W / 256, K), 256>>>(in, weights, out, C, H * W);
  THRICE max_pool<<<dim3(1, H / 2, C), 128>>>(in, out, C, H, W);
  CHECK(cudaMemcpy(host.data(), out, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
