// y = A x and y = A^T x of one matrix: a thread a row, a warp a row, a block a row, columns with sums in shared memory and by atomic operations.
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

__global__ void thread_row(const float* A, const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0.0f;
    for (int c = 0; c < columns; c++) sum += A[row * columns + c] * x[c];
    y[row] = sum;
  }
}

__global__ void warp_row(const float* A, const float* x, float* y, int rows, int columns) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (warp >= rows) return;
  float sum = 0;
  for (int c = lane; c < columns; c += warpSize) sum += A[size_t(warp) * columns + c] * x[c];
  for (int o = warpSize / 2; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (lane == 0) y[warp] = sum;
}

__global__ void block_row(const float4* A, const float4* x, float* y, int columns) {
  __shared__ float parts[8];
  float sum = 0;
  for (int c = threadIdx.x; c < columns / 4; c += blockDim.x) {
    float4 a = A[size_t(blockIdx.x) * (columns / 4) + c], v = x[c];
    sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
  }
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++) sum += parts[i];
    y[blockIdx.x] = sum;
  }
}

__global__ void transposed(const float* A, const float* x, float* y, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < rows; r++) sum += A[r * columns + c] * x[r];
  y[c] = sum;
}

__global__ void transposed_split(const float* A, const float* x, float* y, int rows, int columns) {
  __shared__ float part[8][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int r = blockIdx.y * 8 + threadIdx.y; r < rows; r += 8 * gridDim.y) sum += A[size_t(r) * columns + c] * x[r];
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0) {
    for (int i = 1; i < 8; i++) sum += part[i][threadIdx.x];
    atomicAdd(&y[c], sum);
  }
}

int main() {
  const int rows = 4096, columns = 2048, n = rows * columns;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 41 * 0.02f;
  float *a, *x, *y;
  CHECK(cudaMalloc(&a, size_t(n) * 4));
  CHECK(cudaMalloc(&x, rows * 4));
  CHECK(cudaMalloc(&y, rows * 4));
  CHECK(cudaMemcpy(a, host.data(), size_t(n) * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(x, host.data(), rows * 4, cudaMemcpyHostToDevice));
  THRICE thread_row<<<rows / 128, 128>>>(a, x, y, rows, columns);
  THRICE warp_row<<<rows / 8, 256>>>(a, x, y, rows, columns);
  THRICE block_row<<<rows, 256>>>(reinterpret_cast<float4*>(a), reinterpret_cast<float4*>(x), y, columns);
  THRICE transposed<<<columns / 128, 128>>>(a, x, y, rows, columns);
  THRICE transposed_split<<<dim3(columns / 32, 16), dim3(32, 8)>>>(a, x, y, rows, columns);
  CHECK(cudaMemcpy(host.data(), y, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
