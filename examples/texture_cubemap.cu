// An environment around a ball: a cube map is asked in the direction in which the ball reflects, and mipmap levels make
// the reflection of a rough ball blurred.
// What to see: each of the six faces has its own number, and a direction finds the face it points at.
#include <cstdio>
#include <vector>

constexpr int kSize = 16, kLevels = 5;

__global__ void look(cudaTextureObject_t sky, const float3* directions, float level, float* seen) {
  const int i = threadIdx.x;
  const float3 d = directions[i];
  seen[i] = texCubemapLod<float>(sky, d.x, d.y, d.z, level);
}

int main() {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t levels;
  cudaMallocMipmappedArray(&levels, &channels, make_cudaExtent(kSize, kSize, 6), kLevels, cudaArrayCubemap);
  for (int level = 0; level < kLevels; ++level) {
    const int size = kSize >> level;
    std::vector<float> texels(6 * size * size);
    for (int face = 0; face < 6; ++face)
      for (int k = 0; k < size * size; ++k) texels[face * size * size + k] = static_cast<float>(10 * level + face);
    cudaArray_t array;
    cudaGetMipmappedArrayLevel(&array, levels, level);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), size * sizeof(float), size, size);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(size, size, 6);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = levels;
  cudaTextureDesc how{};
  for (auto& mode : how.addressMode) mode = cudaAddressModeClamp;
  how.filterMode = how.mipmapFilterMode = cudaFilterModeLinear;
  how.normalizedCoords = 1;
  how.maxMipmapLevelClamp = kLevels - 1;
  cudaTextureObject_t sky;
  cudaCreateTextureObject(&sky, &resource, &how, nullptr);

  // +x, -x, +y, -y, +z, -z, then two oblique ones.
  const std::vector<float3> directions = {{1, 0.1f, 0}, {-3, 0, 0.2f}, {0, 2, 1}, {0.5f, -1, 0}, {0, 0, 7}, {0.3f, 0.2f, -1}, {5, 4, 3}, {-1, -2, -1.5f}};
  const float expected[] = {0, 1, 2, 3, 4, 5, 0, 3};
  const int n = static_cast<int>(directions.size());
  float3* d;
  float* seen;
  cudaMalloc(&d, n * sizeof(float3));
  cudaMalloc(&seen, n * sizeof(float));
  cudaMemcpy(d, directions.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
  bool right = true;
  for (float level : {0.0f, 2.0f, 2.5f}) {
    look<<<1, n>>>(sky, d, level, seen);
    std::vector<float> got(n);
    cudaMemcpy(got.data(), seen, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("level %.1f:", level);
    for (int i = 0; i < n; ++i) {
      std::printf(" %g", got[i]);
      right = right && got[i] == expected[i] + 10 * level;
    }
    std::printf("\n");
  }
  cudaDestroyTextureObject(sky);
  cudaFreeMipmappedArray(levels);
  right = right && cudaGetLastError() == cudaSuccess;
  std::printf("%s\n", right ? "ok" : "WRONG");
  return right ? 0 : 1;
}
