// Texture fetches: an image rotated with linear filtering, points, a one-dimensional table, a mirrored border.
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

__global__ void rotate(cudaTextureObject_t image, float* out, int width, int height, float angle) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x - width / 2.0f, v = y - height / 2.0f, c = cosf(angle), s = sinf(angle);
  out[y * width + x] = tex2D<float>(image, u * c - v * s + width / 2.0f + 0.5f, u * s + v * c + height / 2.0f + 0.5f);
}

__global__ void sum_of_nine(cudaTextureObject_t image, float* out, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
  out[y * width + x] = sum / 9;
}

__global__ void table(cudaTextureObject_t words, float* out, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(words, i * step % n);
}

int main() {
  const int width = 512, height = 512, n = width * height;
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i % 256;
  float *linear, *out;
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMalloc(&linear, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(linear, host.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMallocArray(&array, &format, width, height));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, host.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t point, filtered, words;
  CHECK(cudaCreateTextureObject(&point, &resource, &texture, nullptr));
  texture.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&filtered, &resource, &texture, nullptr));
  cudaResourceDesc flat = {};
  flat.resType = cudaResourceTypeLinear;
  flat.res.linear.devPtr = linear;
  flat.res.linear.desc = format;
  flat.res.linear.sizeInBytes = n * 4;
  cudaTextureDesc plain = {};
  plain.readMode = cudaReadModeElementType;
  CHECK(cudaCreateTextureObject(&words, &flat, &plain, nullptr));
  const dim3 threads(32, 8), blocks(width / 32, height / 8);
  THRICE rotate<<<blocks, threads>>>(filtered, out, width, height, 0.3f);
  THRICE rotate<<<blocks, threads>>>(filtered, out, width, height, 1.5707963f);
  THRICE rotate<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(point, out, width, height, 0.7f);
  THRICE sum_of_nine<<<blocks, threads>>>(point, out, width);
  THRICE table<<<n / 256, 256>>>(words, out, n, 1);
  THRICE table<<<n / 256, 256>>>(words, out, n, 33);
  CHECK(cudaMemcpy(host.data(), out, n * 4, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[777]);
  return 0;
}
