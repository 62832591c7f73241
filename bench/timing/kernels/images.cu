// Filters of images of bytes: grey, box blur, Sobel, gamma by table, resize, equalization, bilateral.
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

__global__ void grey(const uchar4* in, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = in[i];
  out[i] = (unsigned char)(0.299f * p.x + 0.587f * p.y + 0.114f * p.z);
}

__global__ void grey_packed(const unsigned char* in, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (in[3 * i] * 77 + in[3 * i + 1] * 150 + in[3 * i + 2] * 29) >> 8;
}

__global__ void blur(const uchar4* in, uchar4* out, int width, int height, int radius) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int r = 0, g = 0, b = 0, count = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx)
      if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height) {
        uchar4 p = in[(y + dy) * width + x + dx];
        r += p.x;
        g += p.y;
        b += p.z;
        ++count;
      }
  out[y * width + x] = make_uchar4(r / count, g / count, b / count, 255);
}

__global__ void sobel(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char tile[18][34];
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
    int x = min(max(int(blockIdx.x * 32) + i % 34 - 1, 0), width - 1), y = min(max(int(blockIdx.y * 16) + i / 34 - 1, 0), height - 1);
    tile[i / 34][i % 34] = in[y * width + x];
  }
  __syncthreads();
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int gx = tile[ty - 1][tx + 1] + 2 * tile[ty][tx + 1] + tile[ty + 1][tx + 1] - tile[ty - 1][tx - 1] - 2 * tile[ty][tx - 1] - tile[ty + 1][tx - 1];
  int gy = tile[ty + 1][tx - 1] + 2 * tile[ty + 1][tx] + tile[ty + 1][tx + 1] - tile[ty - 1][tx - 1] - 2 * tile[ty - 1][tx] - tile[ty - 1][tx + 1];
  out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 32 + threadIdx.x] = min(255, int(sqrtf(float(gx * gx + gy * gy))));
}

__constant__ unsigned char gamma_table[256];

__global__ void gamma(uchar4* image, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 p = image[i];
  image[i] = make_uchar4(gamma_table[p.x], gamma_table[p.y], gamma_table[p.z], p.w);
}

__global__ void half_size(const uchar4* in, uchar4* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * x >= width || 2 * y >= height) return;
  uchar4 a = in[2 * y * width + 2 * x], b = in[2 * y * width + 2 * x + 1], c = in[(2 * y + 1) * width + 2 * x], d = in[(2 * y + 1) * width + 2 * x + 1];
  out[y * (width / 2) + x] = make_uchar4((a.x + b.x + c.x + d.x) / 4, (a.y + b.y + c.y + d.y) / 4, (a.z + b.z + c.z + d.z) / 4, 255);
}

__global__ void bilateral(const unsigned char* in, unsigned char* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 3 || y < 3 || x >= width - 3 || y >= height - 3) return;
  float centre = in[y * width + x], sum = 0, weights = 0;
  for (int dy = -3; dy <= 3; ++dy)
    for (int dx = -3; dx <= 3; ++dx) {
      float v = in[(y + dy) * width + x + dx], d = v - centre;
      float w = __expf(-0.05f * (dx * dx + dy * dy) - 0.001f * d * d);
      sum += w * v;
      weights += w;
    }
  out[y * width + x] = (unsigned char)(sum / weights);
}

int main() {
  const int width = 1024, height = 512, n = width * height;
  std::vector<unsigned char> host(4 * n), table(256);
  for (size_t i = 0; i < host.size(); ++i) host[i] = (unsigned char)(i * 2654435761u >> 24);
  for (int i = 0; i < 256; ++i) table[i] = (unsigned char)(i * i / 255);
  CHECK(cudaMemcpyToSymbol(gamma_table, table.data(), 256));
  uchar4 *a, *b;
  unsigned char *g, *h;
  CHECK(cudaMalloc(&a, 4 * n));
  CHECK(cudaMalloc(&b, 4 * n));
  CHECK(cudaMalloc(&g, n));
  CHECK(cudaMalloc(&h, n));
  CHECK(cudaMemcpy(a, host.data(), 4 * n, cudaMemcpyHostToDevice));
  THRICE grey<<<n / 256, 256>>>(a, g, n);
  THRICE grey_packed<<<n / 256, 256>>>((unsigned char*)a, h, n);
  THRICE blur<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(a, b, width, height, 2);
  THRICE sobel<<<dim3(width / 32, height / 16), dim3(32, 16)>>>(g, h, width, height);
  THRICE gamma<<<n / 128, 128>>>(a, n);
  THRICE half_size<<<dim3(width / 64, height / 16), dim3(32, 8)>>>(a, b, width, height);
  THRICE bilateral<<<dim3(width / 32, height / 8), dim3(32, 8)>>>(g, h, width, height);
  CHECK(cudaMemcpy(host.data(), h, n, cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[5000]);
  return 0;
}
