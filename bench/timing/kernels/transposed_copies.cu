// A matrix turned: as it comes, through shared memory, without conflicts of banks, several rows a thread, doubles; and channels last.
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

const int kTile = 32, kRows = 8;

__global__ void plain(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[x * height + y + j] = in[(y + j) * width + x];
}

__global__ void conflicts(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

template <typename T>
__global__ void padded(const T* in, T* out, int width, int height) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void one_a_thread(const float* in, float* out, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void channels_last(const float* in, float* out, int channels, int pixels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < channels * pixels) out[i] = in[i % channels * pixels + i / channels];
}

int main() {
  const int width = 2048, height = 1536, n = width * height;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = float(i);
  float *in, *out;
  CHECK(cudaMalloc(&in, n * 8));
  CHECK(cudaMalloc(&out, n * 8));
  CHECK(cudaMemset(in, 0, n * 8));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  dim3 grid(width / kTile, height / kTile), block(kTile, kRows);
  THRICE plain<<<grid, block>>>(in, out, width, height);
  THRICE conflicts<<<grid, block>>>(in, out, width, height);
  THRICE padded<float><<<grid, block>>>(in, out, width, height);
  THRICE padded<double><<<grid, block>>>(reinterpret_cast<double*>(in), reinterpret_cast<double*>(out), width, height);
  THRICE one_a_thread<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(in, out, width, height);
  THRICE channels_last<<<n / 256, 256>>>(in, out, 3, n / 3);
  CHECK(cudaMemcpy(host.data(), out, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
