// Images resized and warped by software: bilinear, bicubic, a lens, gaussian pyramids, medians.
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

__device__ float at(const float* in, int x, int y, int w, int h) { return in[min(max(y, 0), h - 1) * w + min(max(x, 0), w - 1)]; }

__global__ void resize(const float* in, float* out, int w, int h, int ow, int oh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ow || y >= oh) return;
  float fx = (x + 0.5f) * w / ow - 0.5f, fy = (y + 0.5f) * h / oh - 0.5f;
  int ix = floorf(fx), iy = floorf(fy);
  float ax = fx - ix, ay = fy - iy;
  out[y * ow + x] = (at(in, ix, iy, w, h) * (1 - ax) + at(in, ix + 1, iy, w, h) * ax) * (1 - ay) +
                    (at(in, ix, iy + 1, w, h) * (1 - ax) + at(in, ix + 1, iy + 1, w, h) * ax) * ay;
}

__device__ float cubic(float t) {
  t = fabsf(t);
  return t < 1 ? (1.5f * t - 2.5f) * t * t + 1 : t < 2 ? ((-0.5f * t + 2.5f) * t - 4) * t + 2 : 0;
}

__global__ void bicubic(const float* in, float* out, int w, int h, int ow, int oh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= ow || y >= oh) return;
  float fx = x * float(w) / ow, fy = y * float(h) / oh, sum = 0;
  int ix = int(fx), iy = int(fy);
#pragma unroll
  for (int j = -1; j <= 2; ++j) {
    float line = 0;
#pragma unroll
    for (int i = -1; i <= 2; ++i) line += at(in, ix + i, iy + j, w, h) * cubic(fx - ix - i);
    sum += line * cubic(fy - iy - j);
  }
  out[y * ow + x] = sum;
}

__global__ void lens(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float dx = 2.0f * x / w - 1, dy = 2.0f * y / h - 1, r = sqrtf(dx * dx + dy * dy), s = 1 + 0.3f * r * r, angle = 0.5f * r;
  float c = __cosf(angle), sn = __sinf(angle), u = (dx * c - dy * sn) * s, v = (dx * sn + dy * c) * s;
  out[y * w + x] = at(in, int((u + 1) * 0.5f * w), int((v + 1) * 0.5f * h), w, h);
}

__global__ void pyramid(const float* in, float* out, int w, int h) {
  const float k[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * x >= w || 2 * y >= h) return;
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) sum += k[j] * k[i] * at(in, 2 * x + i - 2, 2 * y + j - 2, w, h);
  out[y * (w / 2) + x] = sum;
}

__device__ void order(float& a, float& b) {
  float low = fminf(a, b);
  b = fmaxf(a, b);
  a = low;
}

__global__ void median(const float* in, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = at(in, x + k % 3 - 1, y + k / 3 - 1, w, h);
#pragma unroll
  for (int pass = 0; pass < 5; ++pass)
#pragma unroll
    for (int k = pass; k < 8; ++k) order(v[pass], v[k + 1]);
  out[y * w + x] = v[4];
}

int main() {
  const int w = 640, h = 480;
  std::vector<float> host(w * h);
  for (int i = 0; i < w * h; ++i) host[i] = (i * 2654435761u >> 24) * 1.0f;
  float *in, *out;
  CHECK(cudaMalloc(&in, w * h * 4));
  CHECK(cudaMalloc(&out, 4 * w * h * 4));
  CHECK(cudaMemcpy(in, host.data(), w * h * 4, cudaMemcpyHostToDevice));
  const dim3 block(32, 8);
  THRICE resize<<<dim3(1024 / 32, 768 / 8), block>>>(in, out, w, h, 1024, 768);
  THRICE resize<<<dim3(200 / 8 + 1, 150 / 8 + 1), dim3(8, 8)>>>(in, out, w, h, 200, 150);
  THRICE bicubic<<<dim3(800 / 16, 600 / 16 + 1), dim3(16, 16)>>>(in, out, w, h, 800, 600);
  THRICE lens<<<dim3(w / 32, h / 8), block>>>(in, out, w, h);
  THRICE pyramid<<<dim3(w / 64, h / 16), block>>>(in, out, w, h);
  THRICE median<<<dim3(w / 64, h / 4), dim3(64, 4)>>>(in, out, w, h);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
