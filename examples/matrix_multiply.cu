// matrix_multiply: one block, naive, naive on a structure, shared tiles of 16 and 32, and tiles as sub-matrices.
// Look at how often A and B are read from global memory: once per result and term in the naive kernel, once per tile in
// the others. Two barriers per tile: one before it is used, one before it is overwritten.
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

__global__ void one_block(const float* m, const float* n, float* p, int width) {
  int tx = threadIdx.x, ty = threadIdx.y;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += m[ty * width + k] * n[k * width + tx];
  p[ty * width + tx] = sum;
}

__global__ void naive(const float* m, const float* n, float* p, int width) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= width || column >= width) return;
  float sum = 0;
  for (int k = 0; k < width; ++k) sum += m[row * width + k] * n[k * width + column];
  p[row * width + column] = sum;
}

template <int kTile>
__global__ void tiled(const float* m, const float* n, float* p, int width) {
  __shared__ float sm[kTile][kTile], sn[kTile][kTile];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int t = 0; t < (width + kTile - 1) / kTile; ++t) {
    int k0 = t * kTile;
    sm[ty][tx] = row < width && k0 + tx < width ? m[row * width + k0 + tx] : 0.0f;
    sn[ty][tx] = k0 + ty < width && column < width ? n[(k0 + ty) * width + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += sm[ty][k] * sn[k][tx];
    __syncthreads();
  }
  if (row < width && column < width) p[row * width + column] = sum;
}

// A matrix of its own width and stride, passed to kernels by value; a sub-matrix is the same type.
struct Matrix {
  int width, height, stride;
  float* elements;
};
constexpr int kSub = 16;
__device__ Matrix sub_matrix(Matrix a, int row, int column) {
  return {kSub, kSub, a.stride, &a.elements[a.stride * kSub * row + kSub * column]};
}
__device__ float get(const Matrix a, int row, int column) { return a.elements[row * a.stride + column]; }
__device__ void set(Matrix a, int row, int column, float value) { a.elements[row * a.stride + column] = value; }

__global__ void by_sub_matrices(Matrix a, Matrix b, Matrix c) {
  Matrix c_sub = sub_matrix(c, blockIdx.y, blockIdx.x);
  int row = threadIdx.y, column = threadIdx.x;
  float value = 0;
  for (int m = 0; m < a.width / kSub; ++m) {
    Matrix a_sub = sub_matrix(a, blockIdx.y, m), b_sub = sub_matrix(b, m, blockIdx.x);
    __shared__ float as[kSub][kSub];
    __shared__ float bs[kSub][kSub];
    as[row][column] = get(a_sub, row, column);
    bs[row][column] = get(b_sub, row, column);
    __syncthreads();
    for (int e = 0; e < kSub; ++e) value += as[row][e] * bs[e][column];
    __syncthreads();
  }
  set(c_sub, row, column, value);
}

static Matrix on_device(int width, int height, const float* from) {
  Matrix a{width, height, width, nullptr};
  CHECK(cudaMalloc(&a.elements, (size_t)width * height * sizeof(float)));
  if (from)
    CHECK(cudaMemcpy(a.elements, from, (size_t)width * height * sizeof(float), cudaMemcpyHostToDevice));
  else
    CHECK(cudaMemset(a.elements, 0xff, (size_t)width * height * sizeof(float)));
  return a;
}

static int compare(const char* name, const float* a, const float* b, const Matrix& c, int depth) {
  std::vector<float> out(c.width * c.height);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), c.elements, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int row = 0; row < c.height; ++row)
    for (int column = 0; column < c.width; ++column) {
      float sum = 0;  // the entries are small whole numbers: every order of summation is exact
      for (int k = 0; k < depth; ++k) sum += a[row * depth + k] * b[k * c.width + column];
      wrong += !(out[row * c.width + column] == sum);
    }
  std::printf("%-24s %d x %d, %d wrong\n", name, c.height, c.width, wrong);
  return wrong;
}

int main(int argc, char** argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 100;  // no multiple of a tile on purpose
  std::vector<float> a(256 * 256), b(256 * 256);
  if (width > 256) return 2;
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = (float)((i * 7) % 13) - 6;
    b[i] = (float)((i * 5) % 11) - 5;
  }
  int wrong = 0;
  {
    Matrix m = on_device(4, 4, a.data()), n = on_device(4, 4, b.data()), p = on_device(4, 4, nullptr);
    one_block<<<1, dim3(4, 4)>>>(m.elements, n.elements, p.elements, 4);
    wrong += compare("one block", a.data(), b.data(), p, 4);
    for (Matrix x : {m, n, p}) CHECK(cudaFree(x.elements));
  }
  Matrix m = on_device(width, width, a.data()), n = on_device(width, width, b.data());
  for (int version = 0; version < 3; ++version) {
    Matrix p = on_device(width, width, nullptr);
    dim3 block16(16, 16), grid16((width + 15) / 16, (width + 15) / 16), block32(32, 32),
        grid32((width + 31) / 32, (width + 31) / 32);
    if (version == 0) naive<<<grid16, block16>>>(m.elements, n.elements, p.elements, width);
    if (version == 1) tiled<16><<<grid16, block16>>>(m.elements, n.elements, p.elements, width);
    if (version == 2) tiled<32><<<grid32, block32>>>(m.elements, n.elements, p.elements, width);
    const char* names[] = {"naive", "shared tiles of 16x16", "shared tiles of 32x32"};
    wrong += compare(names[version], a.data(), b.data(), p, width);
    CHECK(cudaFree(p.elements));
  }
  Matrix ra = on_device(64, 48, a.data()), rb = on_device(80, 64, b.data()), rc = on_device(80, 48, nullptr);
  by_sub_matrices<<<dim3(rb.width / kSub, ra.height / kSub), dim3(kSub, kSub)>>>(ra, rb, rc);
  wrong += compare("sub-matrices", a.data(), b.data(), rc, 64);
  for (Matrix x : {m, n, ra, rb, rc}) CHECK(cudaFree(x.elements));
  std::printf("matrix_multiply: %s\n", wrong ? "FAILED" : "all versions agree with the host");
  return wrong != 0;
}
