// matrix_add_layouts: one matrix sum, four ways of laying threads over it.
// Look at how each kernel gets from thread coordinates to (column, row) and from there to a linear offset.
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

// 2-D grid, 2-D blocks: the natural fit.
__global__ void add_2d_2d(const float* a, const float* b, float* c, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) {
    int i = row * width + column;
    c[i] = a[i] + b[i];
  }
}

// 1-D grid, 1-D blocks: a thread owns a whole column.
__global__ void add_1d_1d(const float* a, const float* b, float* c, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= width) return;
  for (int row = 0; row < height; ++row) {
    int i = row * width + column;
    c[i] = a[i] + b[i];
  }
}

// 2-D grid, 1-D blocks: blockIdx.y is the row itself.
__global__ void add_2d_1d(const float* a, const float* b, float* c, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (column < width) {
    int i = row * width + column;
    c[i] = a[i] + b[i];
  }
}

// Matrices of a size the compiler knows may be indexed with two subscripts.
constexpr int kSquare = 48;
__global__ void add_square(float a[kSquare][kSquare], float b[kSquare][kSquare], float c[kSquare][kSquare]) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < kSquare && j < kSquare) c[i][j] = a[i][j] + b[i][j];
}

using Kernel = void (*)(const float*, const float*, float*, int, int);

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 500, height = argc > 2 ? std::atoi(argv[2]) : 301;
  const int n = width * height;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = (i * 37 % 256) / 10.0f;
    b[i] = (i * 91 % 256) / 10.0f;
  }
  float *d_a, *d_b, *d_c;
  CHECK(cudaMalloc((void**)&d_a, n * sizeof(float)));
  CHECK(cudaMalloc((void**)&d_b, n * sizeof(float)));
  CHECK(cudaMalloc((void**)&d_c, n * sizeof(float)));
  CHECK(cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  struct Layout {
    const char* name;
    Kernel kernel;
    dim3 grid, block;
  };
  const Layout layouts[] = {
      {"2-D grid of 32x16 blocks", add_2d_2d, dim3((width + 31) / 32, (height + 15) / 16), dim3(32, 16)},
      {"2-D grid of 16x16 blocks", add_2d_2d, dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)},
      {"1-D grid of 128x1 blocks", add_1d_1d, dim3((width + 127) / 128), dim3(128)},
      {"2-D grid of 256x1 blocks", add_2d_1d, dim3((width + 255) / 256, height), dim3(256)},
  };
  int wrong = 0;
  for (const Layout& layout : layouts) {
    CHECK(cudaMemset(d_c, 0xff, n * sizeof(float)));
    layout.kernel<<<layout.grid, layout.block>>>(d_a, d_b, d_c, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += !(c[i] == a[i] + b[i]);
    std::printf("%s: grid (%u, %u), %d of %d elements wrong\n", layout.name, layout.grid.x, layout.grid.y, bad, n);
    wrong += bad;
  }

  add_square<<<dim3(3, 3), dim3(16, 16)>>>((float(*)[kSquare])d_a, (float(*)[kSquare])d_b, (float(*)[kSquare])d_c);
  CHECK(cudaMemcpy(c.data(), d_c, kSquare * kSquare * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kSquare * kSquare; ++i) wrong += !(c[i] == a[i] + b[i]);
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  CHECK(cudaDeviceReset());
  std::printf("matrix_add_layouts: %s\n", wrong ? "FAILED" : "all layouts agree with the host");
  return wrong != 0;
}
