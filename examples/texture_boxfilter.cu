// Blurs an image of bytes: a texture reads it as floats from 0 to 1 and takes care of the edges, a surface takes the
// result in place, in the same kind of array.
// What to see: the sum of a blurred picture stays what it was, and the sharp edge becomes a ramp.
#include <cstdio>
#include <vector>

constexpr int kWidth = 96, kHeight = 32, kRadius = 3;

__global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth || y >= kHeight) return;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int dy = -kRadius; dy <= kRadius; ++dy)
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const float4 c = tex2D<float4>(in, x + dx + 0.5f, y + dy + 0.5f);
      sum.x += c.x, sum.y += c.y, sum.z += c.z, sum.w += c.w;
    }
  const float scale = 255.0f / ((2 * kRadius + 1) * (2 * kRadius + 1));
  auto byte = [&](float v) { return static_cast<unsigned char>(v * scale + 0.5f); };
  // The first coordinate of a surface counts bytes.
  surf2Dwrite(make_uchar4(byte(sum.x), byte(sum.y), byte(sum.z), byte(sum.w)), out, x * static_cast<int>(sizeof(uchar4)), y);
}

int main() {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<uchar4>();
  cudaArray_t arrays[2];
  for (cudaArray_t& array : arrays) cudaMallocArray(&array, &channels, kWidth, kHeight, cudaArraySurfaceLoadStore);
  std::vector<uchar4> pixels(kWidth * kHeight);
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) pixels[y * kWidth + x] = x < kWidth / 2 ? make_uchar4(0, 40, 0, 255) : make_uchar4(200, 40, 0, 255);
  const size_t row = kWidth * sizeof(uchar4);
  cudaMemcpy2DToArray(arrays[0], 0, 0, pixels.data(), row, row, kHeight, cudaMemcpyHostToDevice);

  cudaTextureDesc how{};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.readMode = cudaReadModeNormalizedFloat;
  for (int pass = 0; pass < 2; ++pass) {
    cudaResourceDesc from{}, to{};
    from.resType = to.resType = cudaResourceTypeArray;
    from.res.array.array = arrays[pass % 2];
    to.res.array.array = arrays[1 - pass % 2];
    cudaTextureObject_t texture;
    cudaSurfaceObject_t target;
    cudaCreateTextureObject(&texture, &from, &how, nullptr);
    cudaCreateSurfaceObject(&target, &to);
    blur<<<dim3(kWidth / 16, kHeight / 16), dim3(16, 16)>>>(texture, target);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaDestroySurfaceObject(target);
  }
  cudaMemcpy2DFromArray(pixels.data(), row, arrays[0], 0, 0, row, kHeight, cudaMemcpyDeviceToHost);

  long sum = 0;
  bool ramp = true, steady = true;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const uchar4 p = pixels[y * kWidth + x];
      sum += p.x;
      steady = steady && p.y == 40 && p.z == 0 && p.w == 255;
      if (x) ramp = ramp && p.x >= pixels[y * kWidth + x - 1].x;
    }
  std::printf("red along the middle row:");
  for (int x = kWidth / 2 - 8; x < kWidth / 2 + 8; ++x) std::printf(" %d", pixels[kHeight / 2 * kWidth + x].x);
  const double mean = static_cast<double>(sum) / (kWidth * kHeight);
  std::printf("\nmean %.2f\n", mean);
  const bool right = ramp && steady && mean > 99 && mean < 101 && cudaGetLastError() == cudaSuccess;
  for (cudaArray_t array : arrays) cudaFreeArray(array);
  std::printf("%s\n", right ? "ok" : "WRONG");
  return right ? 0 : 1;
}
