// A pyramid of images: each level of a mipmapped array is made from the one below it through a surface, and a texture
// object reads between the levels. What to see: level 1.5 of a ramp lies half-way between levels 1 and 2, a gather fetches
// the four texels that a bilinear read would mix, and all of it is done by the texture unit's 9-bit weights.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kSize = 64, kLevels = 4;

__global__ void shrink(cudaTextureObject_t from, cudaSurfaceObject_t to, int size) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size || y >= size) return;
  // The middle of four texels: one bilinear read is their mean.
  surf2Dwrite(tex2D<float>(from, (x + 0.5f) / size, (y + 0.5f) / size), to, x * (int)sizeof(float), y);
}

__global__ void sample(cudaTextureObject_t pyramid, float* out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex2DLod<float>(pyramid, 0.4f, 0.6f, 0.25f * i);
}

__global__ void gather(cudaTextureObject_t image, float4* out) { *out = tex2Dgather<float4>(image, 11.f, 21.f, 0); }

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t texture_of(cudaArray_t array, bool normalized, cudaTextureFilterMode filter) {
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = filter;
  how.readMode = cudaReadModeElementType;
  how.normalizedCoords = normalized;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t pyramid;
  cudaMallocMipmappedArray(&pyramid, &format, make_cudaExtent(kSize, kSize, 0), kLevels, cudaArraySurfaceLoadStore | cudaArrayTextureGather);
  std::vector<float> image(kSize * kSize);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) image[y * kSize + x] = (float)(x * x) / 16 + y;
  cudaArray_t level;
  cudaGetMipmappedArrayLevel(&level, pyramid, 0);
  cudaMemcpy2DToArray(level, 0, 0, image.data(), kSize * sizeof(float), kSize * sizeof(float), kSize, cudaMemcpyHostToDevice);

  // The corners in the order that gather gives them: from the lower left one counter-clockwise.
  float4* corners;
  float* samples;
  cudaMallocManaged(&corners, sizeof(float4));
  cudaMallocManaged(&samples, 16 * sizeof(float));
  cudaTextureObject_t plain = texture_of(level, false, cudaFilterModeLinear);
  gather<<<1, 1>>>(plain, corners);
  cudaDeviceSynchronize();
  bool good = corners->x == image[21 * kSize + 10] && corners->y == image[21 * kSize + 11] && corners->z == image[20 * kSize + 11] && corners->w == image[20 * kSize + 10];
  cudaDestroyTextureObject(plain);

  for (int l = 1; l < kLevels; ++l) {
    cudaArray_t above;
    cudaGetMipmappedArrayLevel(&above, pyramid, l);
    const cudaResourceDesc resource = resource_of(above);
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &resource);
    cudaTextureObject_t below = texture_of(level, true, cudaFilterModeLinear);
    const int size = kSize >> l;
    shrink<<<dim3((size + 15) / 16, (size + 15) / 16), dim3(16, 16)>>>(below, surface, size);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(below);
    cudaDestroySurfaceObject(surface);
    // Each texel is the mean of four.
    std::vector<float> smaller(size * size);
    cudaMemcpy2DFromArray(smaller.data(), size * sizeof(float), above, 0, 0, size * sizeof(float), size, cudaMemcpyDeviceToHost);
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const float* at = &image[2 * y * 2 * size + 2 * x];
        good = good && std::fabs(smaller[y * size + x] - (at[0] + at[1] + at[2 * size] + at[2 * size + 1]) / 4) < 1e-3f;
      }
    image = smaller;
    level = above;
  }

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = pyramid;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = kLevels - 1;
  how.normalizedCoords = 1;
  cudaTextureObject_t all = 0;
  good = cudaCreateTextureObject(&all, &resource, &how, nullptr) == cudaSuccess && good;
  sample<<<1, 16>>>(all, samples, 16);
  good = cudaDeviceSynchronize() == cudaSuccess && good;
  for (int i = 0; i < 12; i += 4)
    for (int quarter = 1; quarter < 4; ++quarter) {
      const float between = samples[i] + (samples[i + 4] - samples[i]) * quarter / 4;
      good = good && std::fabs(samples[i + quarter] - between) < 1e-3f * std::fabs(between);
    }
  good = good && samples[15] == samples[12];  // there is no level behind the last one
  std::printf("levels 0 to 3: %.3f %.3f %.3f %.3f; level 1.5: %.3f\n%s\n", samples[0], samples[4], samples[8], samples[12], samples[6], good ? "PASS" : "FAIL");
  cudaDestroyTextureObject(all);
  cudaFreeMipmappedArray(pyramid);
  cudaFree(corners);
  cudaFree(samples);
  return !good;
}
