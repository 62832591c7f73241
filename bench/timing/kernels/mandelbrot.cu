// The Mandelbrot set: divergence by pixel, several shapes of blocks, float and double.
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

template <class T>
__global__ void pixels(int* out, int width, int height, int limit) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  T cx = T(-2.2) + px * (T(3.0) / width), cy = T(-1.3) + py * (T(2.6) / height), x = 0, y = 0;
  int n = 0;
  while (n < limit && x * x + y * y < T(4)) {
    T next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++n;
  }
  out[py * width + px] = n;
}

__global__ void julia(unsigned char* out, int width, int height) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  float x = 1.5f * (width / 2 - i % width) / (width / 2), y = 1.5f * (height / 2 - i / width) / (height / 2);
  int n = 0;
  for (; n < 100; ++n) {
    float xx = x * x - y * y - 0.8f;
    y = 2 * x * y + 0.156f;
    x = xx;
    if (x * x + y * y > 1000) break;
  }
  out[i] = n;
}

int main() {
  const int width = 512, height = 384;
  int* out;
  CHECK(cudaMalloc(&out, width * height * sizeof(int)));
  THRICE pixels<float><<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, width, height, 256);
  THRICE pixels<float><<<dim3(width / 32, height / 4), dim3(32, 4)>>>(out, width, height, 256);
  THRICE pixels<float><<<dim3(width / 256, height), dim3(256, 1)>>>(out, width, height, 256);
  THRICE pixels<double><<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, width, height, 128);
  THRICE pixels<float><<<dim3(4, 8), dim3(32, 8)>>>(out, 128, 64, 5000);
  THRICE julia<<<(width * height + 255) / 256, 256>>>((unsigned char*)out, width, height);
  int one;
  CHECK(cudaMemcpy(&one, out, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}
