// Rotates an image with a texture: the hardware interpolates between texels and repeats the image beyond its edges.
// What to see: a quarter turn gives back exactly the transposed image, and a turn there and back stays close to it.
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int kSize = 64;

__global__ void rotate(cudaTextureObject_t image, float angle, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  // Normalised coordinates run from 0 to 1 whatever the size; texel centres lie at (i + 0.5) / size.
  const float u = (x + 0.5f) / kSize - 0.5f, v = (y + 0.5f) / kSize - 0.5f;
  const float c = cosf(angle), s = sinf(angle);
  out[y * kSize + x] = tex2D<float>(image, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
}

class Image {
 public:
  Image() {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array_, &channels, kSize, kSize);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 1;
    cudaCreateTextureObject(&texture_, &resource, &how, nullptr);
    cudaMalloc(&out_, kSize * kSize * sizeof(float));
  }
  ~Image() {
    cudaDestroyTextureObject(texture_);
    cudaFreeArray(array_);
    cudaFree(out_);
  }
  std::vector<float> rotated(const std::vector<float>& pixels, float angle) {
    const size_t row = kSize * sizeof(float);
    cudaMemcpy2DToArray(array_, 0, 0, pixels.data(), row, row, kSize, cudaMemcpyHostToDevice);
    rotate<<<dim3(kSize / 16, kSize / 16), dim3(16, 16)>>>(texture_, angle, out_);
    std::vector<float> result(kSize * kSize);
    cudaMemcpy(result.data(), out_, result.size() * sizeof(float), cudaMemcpyDeviceToHost);
    return result;
  }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  float* out_ = nullptr;
};

int main() {
  std::vector<float> pixels(kSize * kSize);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) pixels[y * kSize + x] = std::sin(x * 0.2f) + std::cos(y * 0.15f);
  Image image;

  const std::vector<float> quarter = image.rotated(pixels, std::acos(0.0f));
  float worst = 0;
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) worst = std::fmax(worst, std::fabs(quarter[y * kSize + x] - pixels[x * kSize + (kSize - 1 - y)]));
  std::printf("a quarter turn differs from the transposed image by at most %g\n", worst);

  const std::vector<float> back = image.rotated(image.rotated(pixels, 0.3f), -0.3f);
  float inner = 0;  // the corners have left the image and come back from its other side
  for (int y = 16; y < kSize - 16; ++y)
    for (int x = 16; x < kSize - 16; ++x) inner = std::fmax(inner, std::fabs(back[y * kSize + x] - pixels[y * kSize + x]));
  std::printf("there and back differs inside by at most %.3f\n", inner);
  const bool right = worst < 0.01f && inner < 0.02f && cudaGetLastError() == cudaSuccess;
  std::printf("%s\n", right ? "ok" : "WRONG");
  return right ? 0 : 1;
}
