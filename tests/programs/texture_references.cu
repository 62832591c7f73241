// Texture references as programs before toolkit 12 use them: bound to memory, to pitched memory, to arrays and to levels;
// rebound between launches; with their fields changed; read as elements and as floats; at an offset; unbound.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

int failures = 0;
void expect(bool right, const char* what, int at) {
  if (right) return;
  if (++failures < 20) std::printf("wrong: %s at %d\n", what, at);
}

texture<float> line;
static texture<int2, 1, cudaReadModeElementType> doubles;  // how doubles were read
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
texture<float, 2, cudaReadModeElementType> plane(0, cudaFilterModeLinear, cudaAddressModeClamp);
texture<float, cudaTextureType3D> solid;
texture<float, cudaTextureType2DLayered> layers;
texture<float4, cudaTextureType1D> quads;
texture<float, 2> levels;

__global__ void read_line(float* out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }
__global__ void read_doubles(double* out) {
  const int2 v = tex1Dfetch(doubles, threadIdx.x);
  out[threadIdx.x] = __hiloint2double(v.y, v.x);
}
__global__ void read_bytes(float* out) { out[threadIdx.x] = tex2D(bytes, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f); }
__global__ void read_plane(float* out, float d) { out[threadIdx.x] = tex2D(plane, threadIdx.x % 8 + d, threadIdx.x / 8 + d); }
__global__ void read_solid(float* out) { out[threadIdx.x] = tex3D(solid, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 2 + 0.5f, threadIdx.x / 8 + 0.5f); }
__global__ void read_layers(float* out) { out[threadIdx.x] = tex2DLayered(layers, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 2 + 0.5f, threadIdx.x / 8); }
__global__ void read_quads(float* out) {
  const float4 v = tex1Dfetch(quads, threadIdx.x);
  out[threadIdx.x] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
}
__global__ void read_levels(float* out) { out[threadIdx.x] = tex2DLod(levels, 0.5f, 0.5f, threadIdx.x * 0.5f); }
template <int shift>
__global__ void read_in_template(float* out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x + shift); }

int main() {
  std::vector<float> ramp(512), got(512);
  for (int i = 0; i < 512; ++i) ramp[i] = static_cast<float>(i);
  float *memory, *other, *out;
  for (float** p : {&memory, &other, &out}) CHECK(cudaMalloc(p, 2048));
  CHECK(cudaMemcpy(memory, ramp.data(), 2048, cudaMemcpyHostToDevice));
  for (float& v : ramp) v += 1000;
  CHECK(cudaMemcpy(other, ramp.data(), 2048, cudaMemcpyHostToDevice));
  for (float& v : ramp) v -= 1000;
  auto back = [&](int n) { CHECK(cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost)); };

  // Launches keep what was bound when they were made.
  float* second;
  CHECK(cudaMalloc(&second, 2048));
  CHECK(cudaBindTexture(nullptr, line, memory, 2048));
  read_line<<<1, 64>>>(out);
  CHECK(cudaBindTexture(nullptr, line, other, 2048));
  read_line<<<1, 64>>>(second);
  back(64);
  for (int i = 0; i < 64; ++i) expect(got[i] == i, "line", i);
  CHECK(cudaMemcpy(got.data(), second, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) expect(got[i] == i + 1000, "rebound line", i);
  read_in_template<5><<<1, 32>>>(out);
  back(32);
  for (int i = 0; i < 32; ++i) expect(got[i] == i + 1005, "in a template", i);

  // Only aligned memory starts at offset zero.
  size_t offset = 1;
  CHECK(cudaBindTexture(&offset, line, memory + 16, 256));
  expect(offset == 64, "offset", static_cast<int>(offset));
  expect(cudaGetTextureAlignmentOffset(&offset, line) == cudaSuccess && offset == 64, "offset asked for", 0);
  expect(cudaBindTexture(nullptr, line, memory + 16, 256) == cudaErrorInvalidValue, "offset not asked for", 0);
  cudaGetLastError();
  const textureReference* found = nullptr;
  expect(cudaGetTextureReference(&found, &line) == cudaSuccess && found == &line, "reference", 0);
  expect(cudaGetTextureReference(&found, &ramp) == cudaErrorInvalidTexture, "no reference", 0);
  cudaGetLastError();

  std::vector<double> numbers(32);
  for (int i = 0; i < 32; ++i) numbers[i] = i * 1.25 - 3;
  CHECK(cudaMemcpy(other, numbers.data(), 256, cudaMemcpyHostToDevice));
  CHECK(cudaBindTexture(nullptr, doubles, other, 256));
  read_doubles<<<1, 32>>>(reinterpret_cast<double*>(out));
  CHECK(cudaMemcpy(numbers.data(), out, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) expect(numbers[i] == i * 1.25 - 3, "doubles", i);

  unsigned char* pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 8, 4));
  CHECK(cudaMemset2D(pitched, pitch, 51, 8, 4));
  CHECK(cudaBindTexture2D(nullptr, bytes, pitched, cudaCreateChannelDesc<unsigned char>(), 8, 4, pitch));
  read_bytes<<<1, 32>>>(out);
  back(32);
  for (int i = 0; i < 32; ++i) expect(got[i] == 0.2f, "bytes", i);

  cudaArray* array;
  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &f1, 8, 4));
  CHECK(cudaMemcpyToArray(array, 0, 0, ramp.data(), 128, cudaMemcpyHostToDevice));
  CHECK(cudaBindTextureToArray(plane, array));
  read_plane<<<1, 24>>>(out, 1.0f);
  back(24);
  for (int i = 0; i < 24; ++i) expect(got[i] == (i % 8 == 7 ? i + 4.0f : i + 4.5f), "linear", i);
  plane.filterMode = cudaFilterModePoint;  // fields may change after binding
  read_plane<<<1, 24>>>(out, 1.0f);
  back(24);
  for (int i = 0; i < 24; ++i) expect(got[i] == (i % 8 == 7 ? i + 8 : i + 9), "point", i);
  plane.normalized = true;
  plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeWrap;
  read_plane<<<1, 24>>>(out, 1.0f / 16);
  back(24);
  for (int i = 0; i < 24; ++i) expect(got[i] == 0, "wrapped", i);

  for (unsigned flags : {cudaArrayDefault, cudaArrayLayered}) {
    cudaArray_t three;
    CHECK(cudaMalloc3DArray(&three, &f1, make_cudaExtent(4, 2, 3), flags));
    cudaMemcpy3DParms copy = {0};
    copy.srcPtr = make_cudaPitchedPtr(ramp.data(), 16, 4, 2);
    copy.dstArray = three;
    copy.extent = make_cudaExtent(4, 2, 3);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    if (flags) CHECK(cudaBindTextureToArray(layers, three, f1));
    else CHECK(cudaBindTextureToArray(solid, three, f1));
    if (flags) read_layers<<<1, 24>>>(out);
    else read_solid<<<1, 24>>>(out);
    back(24);
    for (int i = 0; i < 24; ++i) expect(got[i] == i, flags ? "layers" : "solid", i);
  }

  CHECK(cudaBindTexture(0, quads, memory));
  read_quads<<<1, 8>>>(out);
  back(8);
  for (int i = 0; i < 8; ++i) expect(got[i] == 4 * i * 1111 + 3210, "quads", i);

  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &f1, make_cudaExtent(4, 4, 0), 3));
  for (int k = 0; k < 3; ++k) {
    cudaArray_t level;
    CHECK(cudaGetMipmappedArrayLevel(&level, mips, k));
    std::vector<float> flat(16, 10.0f * k);
    CHECK(cudaMemcpy2DToArray(level, 0, 0, flat.data(), 16 >> k, 16 >> k, 4 >> k, cudaMemcpyHostToDevice));
  }
  levels.normalized = 1;
  levels.mipmapFilterMode = cudaFilterModeLinear;
  levels.maxMipmapLevelClamp = 5;
  CHECK(cudaBindTextureToMipmappedArray(levels, mips));
  read_levels<<<1, 6>>>(out);
  back(6);
  for (int i = 0; i < 6; ++i) expect(got[i] == (i < 4 ? 5 * i : 20), "levels", i);

  CHECK(cudaUnbindTexture(line));
  expect(cudaGetTextureAlignmentOffset(&offset, line) == cudaErrorInvalidTextureBinding, "unbound", 0);
  cudaGetLastError();
  read_line<<<1, 1>>>(out);
  expect(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "fetch from an unbound reference fails", 0);

  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
