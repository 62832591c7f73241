// Texture objects of every kind of resource against what the programming guide says they read: element and normalised
// reads, point and linear filters with weights of eight bits, the four address modes, layers, levels, gathers, views.
#include <cmath>
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

template <class Body>
__global__ void each(int n, Body body) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) body(i);
}

// What a kernel computes for each of n indices.
template <class T, class F>
struct Store {
  T* out;
  F f;
  __device__ void operator()(int i) const { out[i] = f(i); }
};
template <class T, class F>
std::vector<T> gather(int n, F f) {
  T* out;
  CHECK(cudaMalloc(&out, n * sizeof(T)));
  each<<<(n + 127) / 128, 128>>>(n, Store<T, F>{out, f});
  std::vector<T> host(n);
  CHECK(cudaMemcpy(host.data(), out, n * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(out));
  return host;
}

struct Tex1D { cudaTextureObject_t t; float scale, shift; __device__ float operator()(int i) const { return tex1D<float>(t, i * scale + shift); } };
struct Tex2D { cudaTextureObject_t t; int w; float dx, dy; __device__ float operator()(int i) const { return tex2D<float>(t, i % w + dx, i / w + dy); } };
struct Tex3D { cudaTextureObject_t t; int w, h; float d; __device__ float operator()(int i) const { return tex3D<float>(t, i % w + d, i / w % h + d, i / w / h + d); } };
struct Layer { cudaTextureObject_t t; int w, h; __device__ float operator()(int i) const { return tex2DLayered<float>(t, i % w + 0.5f, i / w % h + 0.5f, i / w / h); } };
struct Layer1 { cudaTextureObject_t t; int w; __device__ float operator()(int i) const { return tex1DLayered<float>(t, i % w + 0.5f, i / w); } };
struct Fetch { cudaTextureObject_t t; int from; __device__ float operator()(int i) const { return tex1Dfetch<float>(t, i + from); } };
struct Bytes { cudaTextureObject_t t; __device__ uchar4 operator()(int i) const { return tex2D<uchar4>(t, i % 8 + 0.5f, i / 8 + 0.5f); } };
struct Word { cudaTextureObject_t t; __device__ unsigned operator()(int i) const { return tex2D<unsigned>(t, i % 8 + 0.5f, i / 8 + 0.5f); } };
struct Signed { cudaTextureObject_t t; __device__ short2 operator()(int i) const { short2 v; tex2D(&v, t, i % 8 + 0.5f, i / 8 + 0.5f); return v; } };
struct Normal { cudaTextureObject_t t; __device__ float4 operator()(int i) const { return tex2D<float4>(t, i % 8 + 0.5f, i / 8 + 0.5f); } };
struct Lod { cudaTextureObject_t t; __device__ float operator()(int i) const { return tex2DLod<float>(t, 0.5f, 0.5f, i * 0.25f); } };
struct Grad { cudaTextureObject_t t; __device__ float operator()(int i) const { const float s = (1 << i) / 32.0f; return tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(s, 0), make_float2(0, s / 4)); } };
struct Four { cudaTextureObject_t t; __device__ float4 operator()(int i) const { return tex2Dgather<float4>(t, i % 7 + 1.0f, i / 7 + 1.0f, 1); } };
struct Cube { cudaTextureObject_t t; __device__ float operator()(int i) const { const float s = i & 1 ? -1.0f : 1.0f; return i < 2 ? texCubemap<float>(t, s, 0.1f, 0.2f) : i < 4 ? texCubemap<float>(t, 0.1f, s, 0.2f) : texCubemap<float>(t, 0.1f, 0.2f, s); } };
struct Cubes { cudaTextureObject_t t; __device__ float operator()(int i) const { return texCubemapLayered<float>(t, 0.1f, 0.2f, -1.0f, i); } };

cudaArray_t array_of(const cudaChannelFormatDesc& desc, const void* data, size_t w, size_t h, size_t d, unsigned flags = 0) {
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d), flags));
  const size_t texel = (desc.x + desc.y + desc.z + desc.w) / 8;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(data), w * texel, w, h ? h : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode mode = cudaAddressModeClamp, bool normalized = false,
                               cudaTextureReadMode read = cudaReadModeElementType, const cudaResourceViewDesc* view = nullptr) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  cudaTextureDesc d{};
  for (auto& m : d.addressMode) m = mode;
  d.filterMode = filter;
  d.readMode = read;
  d.normalizedCoords = normalized;
  d.borderColor[0] = 9;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &r, &d, view));
  return t;
}

int main() {
  std::vector<float> ramp(512);
  for (int i = 0; i < 512; ++i) ramp[i] = static_cast<float>(i);
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();

  // One dimension: weights have eight bits, so a ramp is followed in steps of 1/256.
  cudaArray_t line = array_of(f1, ramp.data(), 16, 0, 0);
  auto along = gather<float>(256, Tex1D{texture_of(line, linear), 1 / 16.0f, 0.0f});
  for (int i = 0; i < 256; ++i) expect(along[i] == std::fmin(std::fmax(i / 16.0f - 0.5f, 0.0f), 15.0f), "1d linear", i);
  struct { cudaTextureAddressMode mode; float left, right; } edges[] = {
      {cudaAddressModeWrap, 15, 0}, {cudaAddressModeClamp, 0, 15}, {cudaAddressModeMirror, 0, 15}, {cudaAddressModeBorder, 9, 9}};
  for (const auto& e : edges) {
    auto got = gather<float>(18, Tex1D{texture_of(line, point, e.mode, true), 1 / 16.0f, -0.5f / 16});
    for (int i = 0; i < 18; ++i) expect(got[i] == (i == 0 ? e.left : i == 17 ? e.right : static_cast<float>(i - 1)), "1d edge", i);
  }

  // Two and three dimensions: at texel centres the texels themselves, between four of them their mean.
  cudaArray_t plane = array_of(f1, ramp.data(), 8, 4, 0);
  auto centres = gather<float>(32, Tex2D{texture_of(plane, linear), 8, 0.5f, 0.5f});
  auto corners = gather<float>(21, Tex2D{texture_of(plane, linear), 7, 1.0f, 1.0f});
  for (int i = 0; i < 32; ++i) expect(centres[i] == ramp[i], "2d centre", i);
  for (int i = 0; i < 21; ++i) expect(corners[i] == (i / 7) * 8 + i % 7 + 4.5f, "2d corner", i);
  cudaArray_t solid = array_of(f1, ramp.data(), 8, 4, 3);
  auto inside = gather<float>(96, Tex3D{texture_of(solid, point), 8, 4, 0.25f});
  for (int i = 0; i < 96; ++i) expect(inside[i] == ramp[i], "3d point", i);

  // Layers are chosen, not blended, and clamped.
  cudaArray_t layers = array_of(f1, ramp.data(), 8, 4, 3, cudaArrayLayered);
  auto chosen = gather<float>(128, Layer{texture_of(layers, linear), 8, 4});
  for (int i = 0; i < 128; ++i) expect(chosen[i] == ramp[i < 96 ? i : i - 32], "layer", i);
  cudaArray_t lines = array_of(f1, ramp.data(), 8, 0, 5, cudaArrayLayered);
  auto chosen_lines = gather<float>(40, Layer1{texture_of(lines, point), 8});
  for (int i = 0; i < 40; ++i) expect(chosen_lines[i] == ramp[i], "1d layer", i);

  // Linear memory: what lies outside reads as zero.
  float* memory;
  CHECK(cudaMalloc(&memory, 64 * sizeof(float)));
  CHECK(cudaMemcpy(memory, ramp.data() + 1, 64 * sizeof(float), cudaMemcpyHostToDevice));
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {memory, f1, 64 * sizeof(float)};
  cudaTextureDesc plain{};
  cudaTextureObject_t fetched;
  CHECK(cudaCreateTextureObject(&fetched, &r, &plain, nullptr));
  auto words = gather<float>(70, Fetch{fetched, -3});
  for (int i = 0; i < 70; ++i) expect(words[i] == (i < 3 || i > 66 ? 0.0f : ramp[i - 2]), "fetch", i);

  // A size past the end of the allocation, as programs give that count in the wrong unit: what is there may be read.
  r.res.linear = {memory, f1, 64 * sizeof(float) * sizeof(float) * 1024};
  cudaTextureObject_t longer;
  CHECK(cudaCreateTextureObject(&longer, &r, &plain, nullptr));
  auto first_words = gather<float>(64, Fetch{longer, 0});
  for (int i = 0; i < 64; ++i) expect(first_words[i] == ramp[i + 1], "fetch of too long a texture", i);
  CHECK(cudaDestroyTextureObject(longer));

  // Pitched memory.
  float* pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(float), 4));
  CHECK(cudaMemcpy2D(pitched, pitch, ramp.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D = {pitched, f1, 8, 4, pitch};
  plain.filterMode = linear;
  plain.addressMode[0] = plain.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t rows;
  CHECK(cudaCreateTextureObject(&rows, &r, &plain, nullptr));
  auto over_rows = gather<float>(21, Tex2D{rows, 7, 1.0f, 1.0f});
  for (int i = 0; i < 21; ++i) expect(over_rows[i] == (i / 7) * 8 + i % 7 + 4.5f, "pitch2d", i);

  // Formats: as they are, or as floats.
  std::vector<unsigned char> noise(128);
  for (int i = 0; i < 128; ++i) noise[i] = static_cast<unsigned char>(i * 37 + 11);
  cudaArray_t bytes = array_of(cudaCreateChannelDesc<uchar4>(), noise.data(), 8, 4, 0);
  auto quads = gather<uchar4>(32, Bytes{texture_of(bytes, point)});
  auto floats = gather<float4>(32, Normal{texture_of(bytes, linear, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat)});
  cudaArray_t shorts = array_of(cudaCreateChannelDesc<short2>(), noise.data(), 8, 4, 0);
  auto pairs = gather<short2>(32, Signed{texture_of(shorts, point)});
  auto half_floats = gather<float4>(32, Normal{texture_of(shorts, point, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat)});
  for (int i = 0; i < 32; ++i) {
    expect(quads[i].x == noise[4 * i] && quads[i].w == noise[4 * i + 3], "uchar4", i);
    expect(floats[i].y == noise[4 * i + 1] / 255.0f, "normalised uchar4", i);
    const short x = static_cast<short>(noise[4 * i] | noise[4 * i + 1] << 8);
    expect(pairs[i].x == x, "short2", i);
    expect(half_floats[i].x == std::fmax(-1.0f, x / 32767.0f) && half_floats[i].z == 0, "normalised short2", i);
  }

  // A view reads the same bits as something else. (Into more components than the array has, a GPU makes other bits of them.)
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatUnsignedInt1;
  view.width = 8;
  view.height = 4;
  auto viewed = gather<unsigned>(32, Word{texture_of(plane, point, cudaAddressModeClamp, false, cudaReadModeElementType, &view)});
  for (int i = 0; i < 32; ++i) expect(viewed[i] == reinterpret_cast<unsigned*>(ramp.data())[i], "view", i);

  // Levels of detail.
  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &f1, make_cudaExtent(32, 32, 0), 4));
  for (int level = 0; level < 4; ++level) {
    cudaArray_t a;
    CHECK(cudaGetMipmappedArrayLevel(&a, mips, level));
    std::vector<float> flat(1024, static_cast<float>(100 * level));
    const size_t row = (32 >> level) * sizeof(float);
    CHECK(cudaMemcpy2DToArray(a, 0, 0, flat.data(), row, row, 32 >> level, cudaMemcpyHostToDevice));
  }
  r.resType = cudaResourceTypeMipmappedArray;
  r.res.mipmap.mipmap = mips;
  plain.normalizedCoords = 1;
  plain.mipmapFilterMode = linear;
  plain.minMipmapLevelClamp = 0.5f;
  plain.maxMipmapLevelClamp = 8;
  cudaTextureObject_t levels;
  CHECK(cudaCreateTextureObject(&levels, &r, &plain, nullptr));
  auto by_level = gather<float>(20, Lod{levels});
  for (int i = 0; i < 20; ++i) expect(by_level[i] == std::fmin(std::fmax(i * 25.0f, 50.0f), 300.0f), "level", i);
  auto by_gradient = gather<float>(4, Grad{levels});
  for (int i = 0; i < 4; ++i) expect(std::fabs(by_gradient[i] - std::fmax(i * 100.0f, 50.0f)) < 1, "gradient", i);

  // The four texels a filter would blend, counter-clockwise from the lower left.
  std::vector<float> two(64);
  for (int i = 0; i < 64; ++i) two[i] = static_cast<float>(i);
  cudaArray_t gathered = array_of(cudaCreateChannelDesc<float2>(), two.data(), 8, 4, 0, cudaArrayTextureGather);
  auto fours = gather<float4>(21, Four{texture_of(gathered, linear)});
  for (int i = 0; i < 21; ++i) {
    auto at = [&](int dx, int dy) { return two[2 * ((i / 7 + dy) * 8 + i % 7 + dx) + 1]; };
    expect(fours[i].x == at(0, 1) && fours[i].y == at(1, 1) && fours[i].z == at(1, 0) && fours[i].w == at(0, 0), "gather", i);
  }

  // Cube maps.
  std::vector<float> faces(12 * 16);
  for (int i = 0; i < 12 * 16; ++i) faces[i] = static_cast<float>(i / 16);
  cudaArray_t cube = array_of(f1, faces.data(), 4, 4, 6, cudaArrayCubemap), cubes = array_of(f1, faces.data(), 4, 4, 12, cudaArrayCubemap | cudaArrayLayered);
  auto seen = gather<float>(6, Cube{texture_of(cube, linear, cudaAddressModeClamp, true)});
  for (int i = 0; i < 6; ++i) expect(seen[i] == i, "cube", i);
  auto seen_layers = gather<float>(2, Cubes{texture_of(cubes, linear, cudaAddressModeClamp, true)});
  for (int i = 0; i < 2; ++i) expect(seen_layers[i] == 5 + 6 * i, "cube layer", i);

  // Directions have no units: a cube map is sampled alike when its coordinates count texels.
  auto unscaled = gather<float>(6, Cube{texture_of(cube, linear)});
  for (int i = 0; i < 6; ++i) expect(unscaled[i] == i, "cube without normalized coordinates", i);

  // A border's colour as bytes: twelve bits of it count, and half a step more does not.
  unsigned char black[16] = {};
  cudaArray_t dark = array_of(cudaCreateChannelDesc<unsigned char>(), black, 4, 4, 0);
  struct { float colour; int byte; } colours[] = {{0.5f, 127}, {0.002f, 0}, {12.51f / 255, 12}, {13.51f / 255, 14}, {0.8768f, 224}, {1, 255}, {-1, 0}, {2, 255}};
  for (const auto& c : colours) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = dark;
    cudaTextureDesc d{};
    for (auto& m : d.addressMode) m = cudaAddressModeBorder;
    d.readMode = cudaReadModeNormalizedFloat;
    d.borderColor[0] = c.colour;
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    const float got = gather<float>(1, Tex2D{t, 1, -5.0f, -5.0f})[0];
    expect(std::lround(got * 255) == c.byte, "border byte", c.byte);
  }
  // Integers that are blended without being fractions, whatever their size.
  {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    int numbers[16] = {};
    r.res.array.array = array_of(cudaCreateChannelDesc<int>(), numbers, 4, 4, 0);
    cudaTextureDesc d{};
    d.filterMode = linear;
    d.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t t;
    expect(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaErrorInvalidFilterSetting, "blended integers", 0);
    d.filterMode = point;
    expect(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaErrorInvalidNormSetting, "integers as fractions", 0);
    cudaGetLastError();
  }

  // Objects that are destroyed while kernels still sample them.
  float* faces_seen;
  CHECK(cudaMalloc(&faces_seen, 6 * sizeof(float)));
  for (int round = 0; round < 200; ++round) {
    const cudaTextureObject_t brief = texture_of(cube, cudaFilterModePoint, cudaAddressModeClamp, true);
    each<<<1, 32>>>(6, Store<float, Cube>{faces_seen, {brief}});
    CHECK(cudaDestroyTextureObject(brief));
  }
  CHECK(cudaDeviceSynchronize());

  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
