// build: -lcuda
// Textures of the driver API blend whole numbers and give whole numbers: what ffmpeg's bilinear scaling asks for. The
// rounding is an H200's, to the bit.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>

constexpr int kWidth = 8, kRows = 4, kSteps = 256;

__global__ void look(CUtexObject texture, int* out) {
  const float x = blockIdx.x + 0.5f + threadIdx.x / 256.0f, y = blockIdx.y + 0.5f;
  out[(blockIdx.y * gridDim.x + blockIdx.x) * kSteps + threadIdx.x] = tex2D<int>(texture, x, y);
}

template <class T>
int wrong(CUarray_format format, std::vector<T> special) {
  std::vector<T> image(kWidth * kRows);
  for (size_t k = 0; k < image.size(); ++k)
    image[k] = k % 3 ? static_cast<T>((k + 1) * 2654435761u >> 3) : special[k / 3 % special.size()];
  CUdeviceptr pixels;
  size_t pitch;
  if (cuMemAllocPitch(&pixels, &pitch, kWidth * sizeof(T), kRows, 16)) return 1;
  for (int y = 0; y < kRows; ++y) cuMemcpyHtoD(pixels + y * pitch, &image[y * kWidth], kWidth * sizeof(T));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {pixels, format, 1, kWidth, kRows, pitch};
  CUDA_TEXTURE_DESC how{};
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.flags = CU_TRSF_READ_AS_INTEGER;
  for (CUaddress_mode& mode : how.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture;
  if (cuTexObjectCreate(&texture, &resource, &how, nullptr)) return 1;
  int* out;
  const int columns = kWidth - 1;
  cudaMallocManaged(&out, columns * kRows * kSteps * sizeof(int));
  look<<<dim3(columns, kRows), kSteps>>>(texture, out);
  int failures = cudaDeviceSynchronize() != cudaSuccess;
  for (int y = 0; y < kRows; ++y)
    for (int x = 0; x < columns; ++x)
      for (int step = 0; step < kSteps; ++step) {
        const long long left = image[y * kWidth + x], right = image[y * kWidth + x + 1];
        const long long sum = left * (256 - step) + right * step + (sizeof(T) < 4 ? 128 : 0);
        failures += out[(y * columns + x) * kSteps + step] != static_cast<int>(sum >> 8);
      }
  cuTexObjectDestroy(texture);
  cudaFree(out), cuMemFree(pixels);
  return failures;
}

int main() {
  cudaFree(nullptr);
  int failures = wrong<unsigned char>(CU_AD_FORMAT_UNSIGNED_INT8, {0, 255, 1}) + wrong<signed char>(CU_AD_FORMAT_SIGNED_INT8, {-128, 127, -1}) +
                 wrong<unsigned short>(CU_AD_FORMAT_UNSIGNED_INT16, {0, 65535, 1}) + wrong<short>(CU_AD_FORMAT_SIGNED_INT16, {-32768, 32767, -1}) +
                 wrong<unsigned>(CU_AD_FORMAT_UNSIGNED_INT32, {0, 4294967295u, 1}) + wrong<int>(CU_AD_FORMAT_SIGNED_INT32, {-2147483647 - 1, 2147483647, -1});
  // The runtime API refuses it.
  cudaArray_t array;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
  cudaMallocArray(&array, &bytes, 8, 2);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how{};
  how.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  failures += cudaCreateTextureObject(&texture, &resource, &how, nullptr) != cudaErrorInvalidFilterSetting;
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
