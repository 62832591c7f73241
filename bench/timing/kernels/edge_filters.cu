// Filters on a grey picture: blur in a plane and by rows and columns, Sobel, median of nine, sums that slide along rows.
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

__global__ void blur5(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0, count = 0;
  for (int dy = -2; dy <= 2; dy++)
    for (int dx = -2; dx <= 2; dx++) {
      int px = x + dx, py = y + dy;
      if (px >= 0 && px < width && py >= 0 && py < height) {
        sum += in[py * width + px];
        count++;
      }
    }
  out[y * width + x] = sum / count;
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  const unsigned char* p = in + y * width + x;
  int gx = p[-width + 1] + 2 * p[1] + p[width + 1] - p[-width - 1] - 2 * p[-1] - p[width - 1];
  int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[-width + 1];
  float g = sqrtf(float(gx * gx + gy * gy));
  out[y * width + x] = g > 255.f ? 255 : (unsigned char)g;
}

__device__ void order(unsigned char& a, unsigned char& b) {
  unsigned char low = min(a, b);
  b = max(a, b);
  a = low;
}

__global__ void median9(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char tile[18][34];
  int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
    int x = min(max(x0 + i % 34 - 1, 0), width - 1), y = min(max(y0 + i / 34 - 1, 0), height - 1);
    tile[i / 34][i % 34] = in[y * width + x];
  }
  __syncthreads();
  unsigned char v[9];
  for (int i = 0; i < 9; i++) v[i] = tile[threadIdx.y + i / 3][threadIdx.x + i % 3];
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++) order(v[i], v[j]);
  out[(y0 + threadIdx.y) * width + x0 + threadIdx.x] = v[4];
}

__constant__ float kernel_row[17];

__global__ void rows_shared(const float* in, float* out, int width) {
  __shared__ float line[256 + 16];
  int x = blockIdx.x * 256 + threadIdx.x, base = blockIdx.y * width;
  line[threadIdx.x + 8] = in[base + x];
  if (threadIdx.x < 8) line[threadIdx.x] = x >= 8 ? in[base + x - 8] : 0;
  if (threadIdx.x >= 248) line[threadIdx.x + 16] = x + 8 < width ? in[base + x + 8] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 17; k++) sum += line[threadIdx.x + k] * kernel_row[k];
  out[base + x] = sum;
}

__global__ void columns_sliding(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * 64;
  float sum = 0;
  for (int y = y0 - 8; y < y0 + 8; y++) sum += y >= 0 ? in[y * width + x] : 0;
  for (int y = y0; y < y0 + 64; y++) {
    if (y + 8 < height) sum += in[(y + 8) * width + x];
    out[y * width + x] = sum / 17;
    if (y - 8 >= 0) sum -= in[(y - 8) * width + x];
  }
}

int main() {
  const int width = 2048, height = 2048, n = width * height;
  std::vector<unsigned char> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 131 % 251;
  std::vector<float> weights(17, 1 / 17.f), plane(n, 0.25f);
  unsigned char *in, *out;
  float *fin, *fout;
  CHECK(cudaMalloc(&in, n));
  CHECK(cudaMalloc(&out, n));
  CHECK(cudaMalloc(&fin, n * 4));
  CHECK(cudaMalloc(&fout, n * 4));
  CHECK(cudaMemcpy(in, host.data(), n, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(fin, plane.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpyToSymbol(kernel_row, weights.data(), 17 * 4));
  dim3 block(16, 16), grid(width / 16, height / 16);
  THRICE blur5<<<grid, block>>>(in, out, width, height);
  THRICE sobel<<<grid, block>>>(in, out, width, height);
  THRICE median9<<<dim3(width / 32, height / 16), dim3(32, 16)>>>(in, out, width, height);
  THRICE rows_shared<<<dim3(width / 256, height), 256>>>(fin, fout, width);
  THRICE columns_sliding<<<dim3(width / 128, height / 64), 128>>>(fin, fout, width, height);
  CHECK(cudaMemcpy(host.data(), out, 4096, cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[77]);
  return 0;
}
