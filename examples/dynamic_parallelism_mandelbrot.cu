// build: -rdc=true -lcudadevrt
// dynamic_parallelism_mandelbrot: the Mandelbrot set by subdivision (Mariani and Silver). A square whose border has one
// colour is filled with it; another is split into four, for which the kernel launches itself.
// Look at the numbers printed: how many points were computed, and that the picture is the one computed point by point.
#include <cuda_runtime.h>

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

constexpr int kMost = 64;      // iterations
constexpr int kSmallest = 16;  // squares of this size are computed point by point
constexpr int kThreads = 64;

__device__ unsigned long long computed;

__host__ __device__ int dwell(int x, int y, int size) {
  float cx = -2.0f + 3.0f * x / size, cy = -1.5f + 3.0f * y / size, zx = 0, zy = 0;
  int n = 0;
  while (n < kMost && zx * zx + zy * zy < 4.0f) {
    float t = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = t;
    ++n;
  }
  return n;
}

__global__ void fill(int* image, int size, int x0, int y0, int side, int value) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < side * side; i += gridDim.x * blockDim.x)
    image[(y0 + i / side) * size + x0 + i % side] = value;
}

__global__ void points(int* image, int size, int x0, int y0, int side) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < side * side; i += gridDim.x * blockDim.x) {
    int x = x0 + i % side, y = y0 + i / side;
    image[y * size + x] = dwell(x, y, size);
    atomicAdd(&computed, 1ull);
  }
}

// One block per square; the grid is two by two below the first level.
__global__ void subdivide(int* image, int size, int x0, int y0, int side) {
  __shared__ int lowest, highest;
  x0 += blockIdx.x * side;
  y0 += blockIdx.y * side;
  if (threadIdx.x == 0) {
    lowest = kMost + 1;
    highest = -1;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < side; i += blockDim.x)
    for (int edge = 0; edge < 4; ++edge) {
      int x = edge == 2 ? x0 : edge == 3 ? x0 + side - 1 : x0 + i;
      int y = edge == 0 ? y0 : edge == 1 ? y0 + side - 1 : y0 + i;
      int n = dwell(x, y, size);
      atomicMin(&lowest, n);
      atomicMax(&highest, n);
      atomicAdd(&computed, 1ull);
    }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (lowest == highest)
    fill<<<4, kThreads>>>(image, size, x0, y0, side, lowest);
  else if (side <= kSmallest)
    points<<<4, kThreads>>>(image, size, x0, y0, side);
  else
    subdivide<<<dim3(2, 2), kThreads>>>(image, size, x0, y0, side / 2);
}

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 256;
  int* image;
  CHECK(cudaMalloc(&image, size * size * sizeof(int)));
  subdivide<<<dim3(4, 4), kThreads>>>(image, size, 0, 0, size / 4);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::vector<int> by_squares(size * size), by_points(size * size);
  unsigned long long count = 0;
  CHECK(cudaMemcpyFromSymbol(&count, computed, sizeof count));
  CHECK(cudaMemcpy(by_squares.data(), image, size * size * sizeof(int), cudaMemcpyDeviceToHost));
  points<<<16, 256>>>(image, size, 0, 0, size);
  CHECK(cudaMemcpy(by_points.data(), image, size * size * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(image));
  int wrong = 0;
  for (int i = 0; i < size * size; ++i) wrong += by_squares[i] != by_points[i];
  std::printf("%llu of %d points computed; %d differ\n", count, size * size, wrong);
  return wrong == 0 ? 0 : 1;
}
