// Samples textures of every kind at many coordinates and prints a digest of the results of each case with its first
// values. Built with the vendor's compiler it records what a GPU answers; the recording is values_h200.txt.
//
//   values [--dump FILE] [FILTER]     --dump writes every result: 4 words for each sample, case after case
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#define CHECK(call)                                                                            \
  do {                                                                                         \
    cudaError_t status = (call);                                                               \
    if (status != cudaSuccess) {                                                               \
      std::printf("%s: %s\n", #call, cudaGetErrorName(status));                                \
      return;                                                                                  \
    }                                                                                          \
  } while (0)

enum class Op {
  Tex1D, Tex2D, Tex3D, Tex1DLayered, Tex2DLayered, Cube, CubeLayered, Fetch1D,
  Lod1D, Lod2D, Lod3D, LodCube, Lod2DLayered, Grad1D, Grad2D, Grad3D, Gather0, Gather1, Gather2, Gather3,
};

__device__ uint4 bits(float4 v) {
  return make_uint4(__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z), __float_as_uint(v.w));
}
__device__ uint4 bits(uint4 v) { return v; }

template <class V>
__device__ uint4 fetch(cudaTextureObject_t t, Op op, float4 p, float4 q) {
  switch (op) {
    case Op::Tex1D: return bits(tex1D<V>(t, p.x));
    case Op::Tex2D: return bits(tex2D<V>(t, p.x, p.y));
    case Op::Tex3D: return bits(tex3D<V>(t, p.x, p.y, p.z));
    case Op::Tex1DLayered: return bits(tex1DLayered<V>(t, p.x, int(p.w)));
    case Op::Tex2DLayered: return bits(tex2DLayered<V>(t, p.x, p.y, int(p.w)));
    case Op::Cube: return bits(texCubemap<V>(t, p.x, p.y, p.z));
    case Op::CubeLayered: return bits(texCubemapLayered<V>(t, p.x, p.y, p.z, int(p.w)));
    case Op::Fetch1D: return bits(tex1Dfetch<V>(t, int(p.w)));
    case Op::Lod1D: return bits(tex1DLod<V>(t, p.x, q.x));
    case Op::Lod2D: return bits(tex2DLod<V>(t, p.x, p.y, q.x));
    case Op::Lod3D: return bits(tex3DLod<V>(t, p.x, p.y, p.z, q.x));
    case Op::LodCube: return bits(texCubemapLod<V>(t, p.x, p.y, p.z, q.x));
    case Op::Lod2DLayered: return bits(tex2DLayeredLod<V>(t, p.x, p.y, int(p.w), q.x));
    case Op::Grad1D: return bits(tex1DGrad<V>(t, p.x, q.x, q.y));
    case Op::Grad2D: return bits(tex2DGrad<V>(t, p.x, p.y, make_float2(q.x, q.y), make_float2(q.z, q.w)));
    case Op::Grad3D:
      return bits(tex3DGrad<V>(t, p.x, p.y, p.z, make_float4(q.x, q.y, 0, 0), make_float4(q.z, q.w, 0, 0)));
    case Op::Gather0: return bits(tex2Dgather<V>(t, p.x, p.y, 0));
    case Op::Gather1: return bits(tex2Dgather<V>(t, p.x, p.y, 1));
    case Op::Gather2: return bits(tex2Dgather<V>(t, p.x, p.y, 2));
    case Op::Gather3: return bits(tex2Dgather<V>(t, p.x, p.y, 3));
  }
  return make_uint4(0, 0, 0, 0);
}

__global__ void sample(cudaTextureObject_t t, Op op, bool integers, int n, const float4* p, const float4* q, uint4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = integers ? fetch<uint4>(t, op, p[i], q[i]) : fetch<float4>(t, op, p[i], q[i]);
}

// --- numbers that are the same everywhere -------------------------------------------------------------------------
struct Random {
  uint64_t state;
  explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
  uint32_t word() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 32);
  }
  float unit() { return static_cast<float>(word() >> 8) * 0x1p-24f; }
  float between(float lo, float hi) { return lo + (hi - lo) * unit(); }
};

enum class Data { Codes, Unit, Wide, Noise, Index };

struct Format {
  int bits, channels;
  cudaChannelFormatKind kind;
  int bytes() const { return bits / 8 * channels; }
  cudaChannelFormatDesc desc() const {
    auto width = [&](int c) { return c < channels ? bits : 0; };
    return cudaCreateChannelDesc(width(0), width(1), width(2), width(3), kind);
  }
};
const Format kF1{32, 1, cudaChannelFormatKindFloat}, kF2{32, 2, cudaChannelFormatKindFloat}, kF4{32, 4, cudaChannelFormatKindFloat};
const Format kH1{16, 1, cudaChannelFormatKindFloat}, kH4{16, 4, cudaChannelFormatKindFloat};
const Format kU8{8, 1, cudaChannelFormatKindUnsigned}, kU8x4{8, 4, cudaChannelFormatKindUnsigned}, kU8x2{8, 2, cudaChannelFormatKindUnsigned};
const Format kS8{8, 1, cudaChannelFormatKindSigned}, kS8x4{8, 4, cudaChannelFormatKindSigned};
const Format kU16{16, 1, cudaChannelFormatKindUnsigned}, kS16{16, 1, cudaChannelFormatKindSigned};
const Format kU16x4{16, 4, cudaChannelFormatKindUnsigned}, kS16x2{16, 2, cudaChannelFormatKindSigned};
const Format kU32{32, 1, cudaChannelFormatKindUnsigned}, kS32{32, 1, cudaChannelFormatKindSigned}, kU32x4{32, 4, cudaChannelFormatKindUnsigned};

std::vector<unsigned char> make_data(Format f, Data data, size_t texels, int seed) {
  std::vector<unsigned char> out(texels * f.bytes());
  Random r(seed);
  for (size_t k = 0; k < texels * f.channels; ++k) {
    uint32_t word = r.word();
    if (data == Data::Codes) word = static_cast<uint32_t>(k);
    if (f.kind == cudaChannelFormatKindFloat && f.bits == 32 && data != Data::Noise) {
      float v = static_cast<float>(word >> 8) * 0x1p-24f;
      if (data == Data::Wide) v = std::ldexp(v * 2 - 1, static_cast<int>(r.word() % 40) - 20);
      if (data == Data::Index) v = static_cast<float>(k);
      std::memcpy(&word, &v, 4);
    } else if (f.kind == cudaChannelFormatKindFloat && f.bits == 16 && data != Data::Codes) {
      word = (word & 0x83ff) | (8 + word % 16) << 10;  // finite, of middling size
    } else if (data == Data::Index) {
      word = static_cast<uint32_t>(k);
    }
    std::memcpy(out.data() + k * (f.bits / 8), &word, f.bits / 8);
  }
  return out;
}

// --- cases --------------------------------------------------------------------------------------------------------
struct Case {
  std::string name;
  Op op = Op::Tex1D;
  Format format = kF1;
  Data data = Data::Unit;
  size_t width = 16, height = 0, depth = 0;
  unsigned flags = 0;
  int levels = 0;           // above 0: a mipmapped array
  int pitch2d = 0;          // above 0: pitch-linear memory with this pitch
  bool linear_memory = false;
  bool integers = false;
  cudaTextureDesc desc{};
  int n = 2048;
  std::function<void(Random&, int, float4&, float4&)> at;
};

std::string filter;
FILE* dump = nullptr;

uint64_t digest(const std::vector<uint4>& words) {
  uint64_t h = 1469598103934665603u;
  for (const uint4& v : words)
    for (uint32_t w : {v.x, v.y, v.z, v.w}) h = (h ^ w) * 1099511628211u;
  return h;
}

void run(const Case& c) {
  if (c.name.find(filter) == std::string::npos) return;
  cudaResourceDesc resource{};
  cudaArray_t array = nullptr;
  cudaMipmappedArray_t mipmap = nullptr;
  void* memory = nullptr;
  const size_t rows = c.height ? c.height : 1, planes = c.depth ? c.depth : 1;
  const cudaChannelFormatDesc channels = c.format.desc();
  auto fill = [&](cudaArray_t to, size_t w, size_t h, size_t d, int seed) {
    const auto data = make_data(c.format, c.data, w * h * d, seed);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char*>(data.data()), w * c.format.bytes(), w, h);
    copy.dstArray = to;
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
  };
  if (c.linear_memory || c.pitch2d) {
    const size_t pitch = c.pitch2d ? c.pitch2d : c.width * c.format.bytes();
    const auto data = make_data(c.format, c.data, c.width * rows, 7);
    CHECK(cudaMalloc(&memory, pitch * rows));
    CHECK(cudaMemset(memory, 0xee, pitch * rows));
    CHECK(cudaMemcpy2D(memory, pitch, data.data(), c.width * c.format.bytes(), c.width * c.format.bytes(), rows, cudaMemcpyHostToDevice));
    if (c.pitch2d) {
      resource.resType = cudaResourceTypePitch2D;
      resource.res.pitch2D = {memory, channels, c.width, c.height, pitch};
    } else {
      resource.resType = cudaResourceTypeLinear;
      resource.res.linear = {memory, channels, pitch};
    }
  } else if (c.levels) {
    CHECK(cudaMallocMipmappedArray(&mipmap, &channels, make_cudaExtent(c.width, c.height, c.depth), c.levels, c.flags));
    const bool layered = c.flags & (cudaArrayLayered | cudaArrayCubemap);
    for (int l = 0; l < c.levels; ++l) {
      cudaArray_t level;
      CHECK(cudaGetMipmappedArrayLevel(&level, mipmap, l));
      auto shrunk = [&](size_t e) { return e >> l ? e >> l : 1; };
      fill(level, shrunk(c.width), c.height ? shrunk(c.height) : 1, c.depth ? (layered ? c.depth : shrunk(c.depth)) : 1, 7 + l);
    }
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
  } else {
    CHECK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(c.width, c.height, c.depth), c.flags));
    fill(array, c.width, rows, planes, 7);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
  }
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &c.desc, nullptr));
  std::vector<float4> p(c.n), q(c.n);
  Random r(99);
  for (int i = 0; i < c.n; ++i) {
    p[i] = q[i] = float4{0, 0, 0, 0};
    c.at(r, i, p[i], q[i]);
  }
  float4 *dp, *dq;
  uint4* dout;
  CHECK(cudaMalloc(&dp, c.n * sizeof(float4)));
  CHECK(cudaMalloc(&dq, c.n * sizeof(float4)));
  CHECK(cudaMalloc(&dout, c.n * sizeof(uint4)));
  CHECK(cudaMemcpy(dp, p.data(), c.n * sizeof(float4), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dq, q.data(), c.n * sizeof(float4), cudaMemcpyHostToDevice));
  sample<<<(c.n + 255) / 256, 256>>>(texture, c.op, c.integers, c.n, dp, dq, dout);
  CHECK(cudaGetLastError());
  std::vector<uint4> out(c.n);
  CHECK(cudaMemcpy(out.data(), dout, c.n * sizeof(uint4), cudaMemcpyDeviceToHost));
  std::printf("%s %016llx", c.name.c_str(), static_cast<unsigned long long>(digest(out)));
  for (int i = 0; i < 6 && i < c.n; ++i) std::printf(" %08x,%08x,%08x,%08x", out[i].x, out[i].y, out[i].z, out[i].w);
  std::printf("\n");
  if (dump) {
    char head[64] = {};
    std::snprintf(head, sizeof head, "%s", c.name.c_str());
    const uint32_t n = c.n;
    std::fwrite(head, 1, sizeof head, dump);
    std::fwrite(&n, 4, 1, dump);
    std::fwrite(p.data(), 16, c.n, dump);
    std::fwrite(q.data(), 16, c.n, dump);
    std::fwrite(out.data(), 16, c.n, dump);
  }
  CHECK(cudaDestroyTextureObject(texture));
  for (void* m : {static_cast<void*>(dp), static_cast<void*>(dq), static_cast<void*>(dout), memory}) CHECK(cudaFree(m));
  if (array) CHECK(cudaFreeArray(array));
  if (mipmap) CHECK(cudaFreeMipmappedArray(mipmap));
}

cudaTextureDesc described(cudaTextureFilterMode filtering, cudaTextureAddressMode x, bool normalised,
                          cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc d{};
  for (auto& mode : d.addressMode) mode = x;
  d.filterMode = filtering;
  d.readMode = read;
  d.normalizedCoords = normalised;
  const float border[4] = {0.25f, -0.75f, 1.5f, 0.625f};
  std::memcpy(d.borderColor, border, sizeof border);
  return d;
}

constexpr auto kPoint = cudaFilterModePoint, kLinear = cudaFilterModeLinear;
constexpr auto kWrap = cudaAddressModeWrap, kClamp = cudaAddressModeClamp, kMirror = cudaAddressModeMirror, kBorder = cudaAddressModeBorder;
constexpr auto kNormal = cudaReadModeNormalizedFloat;
const char* name_of(cudaTextureAddressMode m) {
  return m == kWrap ? "wrap" : m == kClamp ? "clamp" : m == kMirror ? "mirror" : "border";
}

float special(int i) {
  const float values[] = {0.0f, -0.0f, 0.5f, -0.5f, 1.0f, -1.0f, 0.99999994f, 1.0000001f, 0.49999997f, 0.50000006f, 1e-30f, -1e-30f, 1e-45f,
                          15.5f, 15.999999f, 16.0f, 16.000002f, 16.5f, 17.0f, 32.0f, -16.0f, 100.25f, -100.25f, 32767.0f, 32768.5f, 65535.0f,
                          65536.5f, -65536.5f, 1e6f, -1e6f, 8388608.0f, 16777216.0f, 1e9f, -1e9f, 2147483648.0f, -2147483648.0f, 4294967296.0f, 1e12f,
                          -1e12f, 1e20f, 1e38f, -1e38f, INFINITY, -INFINITY, NAN, 2.9999998f, 3.0000002f, 3.4999998f, 3.5000002f, 7.998046f, 7.998047f,
                          7.9990234f, 7.999f, 0.001f, 0.00195f, 0.00196f, 0.0019531f, 0.0039f, 0.00390625f, 0.0078125f};
  return values[i % (sizeof values / sizeof *values)];
}

// Coordinates for a width of `size`: the special ones, steps of 1/1024 texel, then random ones in and around the image.
float coordinate(Random& r, int i, float size, bool normalised) {
  float x;
  if (i < 64) {
    x = special(i);
    return normalised ? x / (i < 30 ? 16.0f : 1.0f) : x;
  }
  if (i < 1024) x = static_cast<float>(i - 64) / 1024.0f + 2.0f;
  else if (i < 1200) x = std::nextafterf(static_cast<float>(i - 1024) / 8.0f, i & 1 ? 1e9f : -1e9f);
  else x = r.between(-0.75f * size, 1.75f * size);
  return normalised ? x / size : x;
}

auto line(float size, bool normalised) {
  return [=](Random& r, int i, float4& p, float4&) { p.x = coordinate(r, i, size, normalised); };
}
auto plane(float w, float h, bool normalised) {
  return [=](Random& r, int i, float4& p, float4&) {
    if (i < 256) {
      p.x = r.between(0, w) / (normalised ? w : 1);
      p.y = r.between(0, h) / (normalised ? h : 1);
    } else {
      p.x = coordinate(r, i, w, normalised);
      p.y = coordinate(r, (i * 7) % 2048, h, normalised);
    }
  };
}
auto volume(float w, float h, float d, bool normalised) {
  return [=](Random& r, int i, float4& p, float4&) {
    const float far = i < 1024 ? 0.0f : 0.5f;
    auto one = [&](float size) { return r.between(-far * size, (1 + far) * size) / (normalised ? size : 1); };
    p.x = one(w);
    p.y = one(h);
    p.z = one(d);
  };
}
void direction(Random& r, int i, float4& p) {
  const float ties[][3] = {{1, 1, 1}, {-1, 1, 1}, {1, -1, 1}, {1, 1, -1}, {-1, -1, 1}, {-1, 1, -1}, {1, -1, -1}, {-1, -1, -1}, {1, 1, 0}, {1, 0, 1},
                           {0, 1, 1}, {-1, 1, 0}, {-1, 0, 1}, {0, -1, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, -1}, {-1, -1, 0}, {-1, 0, -1}, {0, -1, -1},
                           {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}, {0, 0, 0}};
  if (i < 27) {
    p.x = ties[i][0], p.y = ties[i][1], p.z = ties[i][2];
    return;
  }
  p.x = r.between(-1, 1), p.y = r.between(-1, 1), p.z = r.between(-1, 1);
  if (i & 1) {  // near the seams
    const float s = r.between(0.97f, 1.03f);
    if (i & 2) p.y = std::copysign(std::fabs(p.x) * s, p.y);
    else p.z = std::copysign(std::fabs(p.x) * s, p.z);
  }
}

void filters_of_one_dimension() {
  for (bool normalised : {false, true})
    for (auto mode : {kWrap, kClamp, kMirror, kBorder})
      for (auto filtering : {kPoint, kLinear})
        for (int width : {16, 17, 100}) {
          if (!normalised && (mode == kWrap || mode == kMirror) && width != 16) continue;
          Case c;
          c.name = std::string("1d.f32.") + (normalised ? "norm." : "texel.") + name_of(mode) + (filtering == kPoint ? ".point." : ".linear.") + std::to_string(width);
          c.desc = described(filtering, mode, normalised);
          c.width = width;
          c.at = line(static_cast<float>(width), normalised);
          run(c);
        }
  for (auto [format, data, name] : {std::tuple{kF1, Data::Wide, "f32wide"}, {kF4, Data::Unit, "f32x4"}, {kF2, Data::Unit, "f32x2"}, {kH1, Data::Unit, "f16"}, {kH4, Data::Unit, "f16x4"}, {kF1, Data::Noise, "f32noise"}}) {
    Case c;
    c.name = std::string("1d.") + name + ".linear";
    c.format = format;
    c.data = data;
    c.desc = described(kLinear, kClamp, false);
    c.at = line(16, false);
    run(c);
  }
  for (auto [format, name] : {std::tuple{kU8, "u8"}, {kS8, "s8"}, {kU16, "u16"}, {kS16, "s16"}, {kU8x4, "u8x4"}, {kU16x4, "u16x4"}, {kS16x2, "s16x2"}, {kS8x4, "s8x4"}, {kU8x2, "u8x2"}})
    for (auto mode : {kClamp, kBorder}) {
      Case c;
      c.name = std::string("1d.") + name + "." + name_of(mode) + ".linear";
      c.format = format;
      c.data = Data::Noise;
      c.desc = described(kLinear, mode, false, kNormal);
      c.at = line(16, false);
      run(c);
    }
}

void codes() {
  auto centre = [](Random&, int i, float4& p, float4&) { p.x = static_cast<float>(i) + 0.5f; };
  for (bool srgb : {false, true})
    for (auto [format, name] : {std::tuple{kU8, "u8"}, {kS8, "s8"}, {kU16, "u16"}, {kS16, "s16"}, {kH1, "f16"}, {kU8x4, "u8x4"}})
      for (auto filtering : {kPoint, kLinear}) {
        if (srgb && format.bits != 8) continue;
        Case c;
        c.name = std::string("codes.") + name + (srgb ? ".srgb" : "") + (filtering == kPoint ? ".point" : ".linear");
        c.format = format;
        c.data = Data::Codes;
        c.width = format.bits == 8 ? 256 : 65536;
        c.desc = described(filtering, kClamp, false, format.kind == cudaChannelFormatKindFloat ? cudaReadModeElementType : kNormal);
        c.desc.sRGB = srgb;
        c.n = static_cast<int>(c.width);
        c.at = centre;
        run(c);
      }
  for (auto [format, name] : {std::tuple{kU8, "u8"}, {kU8x4, "u8x4"}}) {
    Case c;
    c.name = std::string("1d.") + name + ".srgb.linear";
    c.format = format;
    c.data = Data::Noise;
    c.desc = described(kLinear, kBorder, false, kNormal);
    c.desc.sRGB = 1;
    c.at = line(16, false);
    run(c);
  }
}

void integers() {
  for (auto [format, name] : {std::tuple{kU8, "u8"}, {kS8, "s8"}, {kU16, "u16"}, {kS16, "s16"}, {kU32, "u32"}, {kS32, "s32"}, {kU32x4, "u32x4"}, {kS8x4, "s8x4"}, {kF1, "f32"}, {kH1, "f16"}, {kU8x2, "u8x2"}}) {
    Case c;
    c.name = std::string("1d.") + name + ".element.border";
    c.format = format;
    c.data = Data::Noise;
    c.desc = described(kPoint, kBorder, false);
    c.integers = format.kind != cudaChannelFormatKindFloat;
    c.at = line(16, false);
    run(c);
  }
}

void filters_of_more_dimensions() {
  for (bool normalised : {false, true})
    for (auto mode : {kWrap, kClamp, kMirror, kBorder})
      for (auto filtering : {kPoint, kLinear}) {
        if (!normalised && (mode == kWrap || mode == kMirror)) continue;
        Case c;
        c.name = std::string("2d.f32.") + (normalised ? "norm." : "texel.") + name_of(mode) + (filtering == kPoint ? ".point" : ".linear");
        c.op = Op::Tex2D;
        c.desc = described(filtering, mode, normalised);
        c.width = 24, c.height = 10;
        c.at = plane(24, 10, normalised);
        run(c);
        c.name[0] = '3';
        c.op = Op::Tex3D;
        c.width = 12, c.height = 7, c.depth = 9;
        c.at = volume(12, 7, 9, normalised);
        run(c);
      }
  {
    Case c;
    c.name = "2d.f32.mixed.linear";
    c.op = Op::Tex2D;
    c.desc = described(kLinear, kWrap, true);
    c.desc.addressMode[1] = kBorder;
    c.width = 24, c.height = 10;
    c.at = plane(24, 10, true);
    run(c);
  }
  for (auto [format, data, name] : {std::tuple{kF1, Data::Wide, "f32wide"}, {kF4, Data::Unit, "f32x4"}, {kH1, Data::Unit, "f16"}, {kU8, Data::Noise, "u8"}, {kU8x4, Data::Noise, "u8x4"},
                                    {kS8, Data::Noise, "s8"}, {kU16, Data::Noise, "u16"}, {kS16, Data::Noise, "s16"}, {kU16x4, Data::Noise, "u16x4"}, {kF1, Data::Noise, "f32noise"}}) {
    Case c;
    c.name = std::string("2d.") + name + ".linear";
    c.op = Op::Tex2D;
    c.format = format;
    c.data = data;
    c.desc = described(kLinear, kClamp, false, format.kind == cudaChannelFormatKindFloat ? cudaReadModeElementType : kNormal);
    c.width = 24, c.height = 10;
    c.at = plane(24, 10, false);
    run(c);
    if (format.channels > 1) continue;
    c.name[0] = '3';
    c.op = Op::Tex3D;
    c.width = 12, c.height = 7, c.depth = 9;
    c.at = volume(12, 7, 9, false);
    run(c);
  }
  for (auto filtering : {kPoint, kLinear}) {
    Case c;
    c.name = std::string("pitch2d.f32") + (filtering == kPoint ? ".point" : ".linear");
    c.op = Op::Tex2D;
    c.pitch2d = 128;
    c.width = 24, c.height = 10;
    c.desc = described(filtering, kClamp, false);
    c.at = plane(24, 10, false);
    run(c);
    c.name += ".wrap";
    c.desc = described(filtering, kWrap, true);
    c.at = plane(24, 10, true);
    run(c);
  }
}

void layers() {
  auto layered = [](float w, float h, bool normalised) {
    return [=](Random& r, int i, float4& p, float4& q) {
      plane(w, h, normalised)(r, i, p, q);
      p.w = static_cast<float>(i % 11) - 3;
    };
  };
  for (auto filtering : {kPoint, kLinear}) {
    const std::string end = filtering == kPoint ? ".point" : ".linear";
    Case c;
    c.name = "layered1d.f32" + end;
    c.op = Op::Tex1DLayered;
    c.width = 24, c.depth = 5;
    c.flags = cudaArrayLayered;
    c.desc = described(filtering, kBorder, false);
    c.at = layered(24, 10, false);
    run(c);
    c.name = "layered2d.f32" + end;
    c.op = Op::Tex2DLayered;
    c.height = 10;
    c.desc = described(filtering, kMirror, true);
    c.at = layered(24, 10, true);
    run(c);
    for (int seamless : {0, 1}) {
      c.name = std::string("cube.f32") + (seamless ? ".seamless" : "") + end;
      c.op = Op::Cube;
      c.width = c.height = 8, c.depth = 6;
      c.flags = cudaArrayCubemap;
      c.desc = described(filtering, kClamp, true);
      c.desc.seamlessCubemap = seamless;
      c.at = [](Random& r, int i, float4& p, float4&) { direction(r, i, p); };
      run(c);
    }
    c.name = "cube.f32.wrap" + end;
    c.desc = described(filtering, kWrap, true);
    run(c);
    c.name = "cubelayered.f32" + end;
    c.op = Op::CubeLayered;
    c.desc = described(filtering, kClamp, true);
    c.depth = 12;
    c.flags = cudaArrayCubemap | cudaArrayLayered;
    c.at = [](Random& r, int i, float4& p, float4&) {
      direction(r, i, p);
      p.w = static_cast<float>(i % 5) - 1;
    };
    run(c);
  }
}

void mipmaps() {
  auto lod = [](float w, float h, float d) {
    return [=](Random& r, int i, float4& p, float4& q) {
      p.x = r.between(0, 1), p.y = r.between(0, 1), p.z = r.between(0, 1);
      (void)w, (void)h, (void)d;
      p.w = static_cast<float>(i % 3);
      if (i < 64) q.x = special(i) * (i < 15 ? 1 : 0.25f);
      else if (i < 1024) q.x = static_cast<float>(i - 64) / 240.0f;
      else if (i < 1100) q.x = std::nextafterf(static_cast<float>(i - 1024) / 16.0f, i & 1 ? 1e9f : -1e9f);
      else q.x = r.between(-2, 7);
    };
  };
  for (auto mip : {kPoint, kLinear})
    for (auto filtering : {kPoint, kLinear}) {
      const std::string end = std::string(filtering == kPoint ? ".point" : ".linear") + (mip == kPoint ? ".point" : ".linear");
      Case c;
      c.name = "lod2d.f32" + end;
      c.op = Op::Lod2D;
      c.width = 32, c.height = 20, c.levels = 5;
      c.desc = described(filtering, kWrap, true);
      c.desc.mipmapFilterMode = mip;
      c.desc.maxMipmapLevelClamp = 10;
      c.at = lod(32, 20, 1);
      run(c);
      c.name = "lod2d.f32.bias" + end;
      c.desc.mipmapLevelBias = 0.7f;
      c.desc.minMipmapLevelClamp = 0.4f;
      c.desc.maxMipmapLevelClamp = 2.6f;
      run(c);
      c.name = "lod2d.f32.bare" + end;  // tex2D without a level
      c.op = Op::Tex2D;
      run(c);
      c.name = "lod2d.u8" + end;
      c.op = Op::Lod2D;
      c.format = kU8, c.data = Data::Noise;
      c.desc = described(filtering, kClamp, true, kNormal);
      c.desc.mipmapFilterMode = mip;
      c.desc.maxMipmapLevelClamp = 10;
      run(c);
      c.name = "lod1d.f32" + end;
      c.op = Op::Lod1D;
      c.format = kF1, c.data = Data::Unit;
      c.height = 0;
      c.desc.readMode = cudaReadModeElementType;
      run(c);
      c.name = "lod3d.f32" + end;
      c.op = Op::Lod3D;
      c.width = 16, c.height = 12, c.depth = 8, c.levels = 4;
      run(c);
      c.name = "lod2dlayered.f32" + end;
      c.op = Op::Lod2DLayered;
      c.width = 32, c.height = 20, c.depth = 3, c.levels = 5;
      c.flags = cudaArrayLayered;
      run(c);
      c.name = "lodcube.f32" + end;
      c.op = Op::LodCube;
      c.width = 16, c.height = 16, c.depth = 6, c.levels = 5;
      c.flags = cudaArrayCubemap;
      c.at = [=](Random& r, int i, float4& p, float4& q) {
        lod(16, 16, 1)(r, i, p, q);
        direction(r, i + 27, p);
      };
      run(c);
    }
  for (auto mip : {kPoint, kLinear})
    for (unsigned anisotropy : {0u, 1u, 16u}) {
      const std::string end = std::string(mip == kPoint ? ".point" : ".linear") + ".aniso" + std::to_string(anisotropy);
      Case c;
      c.name = "grad2d.f32" + end;
      c.op = Op::Grad2D;
      c.width = 32, c.height = 20, c.levels = 5;
      c.desc = described(kLinear, kWrap, true);
      c.desc.mipmapFilterMode = mip;
      c.desc.maxMipmapLevelClamp = 10;
      c.desc.maxAnisotropy = anisotropy;
      c.at = [](Random& r, int i, float4& p, float4& q) {
        p.x = r.between(0, 1), p.y = r.between(0, 1);
        const float s = std::ldexp(1.0f, static_cast<int>(r.word() % 8)) / 64.0f;
        if (i < 512) {
          q.x = s * r.between(0.5f, 1), q.w = 0;
        } else if (i < 1024) {
          q.w = s * r.between(0.5f, 1);
        } else {
          q.x = s * r.between(-1, 1), q.y = s * r.between(-1, 1), q.z = s * r.between(-1, 1), q.w = s * r.between(-1, 1);
        }
      };
      run(c);
      if (anisotropy) continue;
      c.name = "grad1d.f32" + end;
      c.op = Op::Grad1D;
      c.height = 0;
      run(c);
      c.name = "grad3d.f32" + end;
      c.op = Op::Grad3D;
      c.height = 20, c.depth = 16;
      run(c);
    }
}

void gathers_and_fetches() {
  for (auto op : {Op::Gather0, Op::Gather1, Op::Gather2, Op::Gather3})
    for (auto mode : {kClamp, kWrap, kBorder}) {
      Case c;
      c.name = "gather" + std::to_string(int(op) - int(Op::Gather0)) + "." + name_of(mode);
      c.op = op;
      c.format = mode == kClamp ? kU8x4 : kF4;
      c.data = mode == kClamp ? Data::Noise : Data::Unit;
      c.flags = cudaArrayTextureGather;
      c.width = 24, c.height = 10;
      c.desc = described(mode == kBorder ? kPoint : kLinear, mode, mode == kWrap, mode == kClamp ? kNormal : cudaReadModeElementType);
      c.at = plane(24, 10, mode == kWrap);
      run(c);
    }
  for (auto [format, name] : {std::tuple{kF1, "f32"}, {kU8, "u8"}, {kU8x4, "u8x4"}, {kS16, "s16"}, {kF4, "f32x4"}, {kU32, "u32"}})
    for (auto mode : {kClamp, kBorder, kWrap}) {
      Case c;
      c.name = std::string("fetch1d.") + name + "." + name_of(mode);
      c.op = Op::Fetch1D;
      c.format = format;
      c.data = Data::Noise;
      c.linear_memory = true;
      c.width = 1000;
      c.integers = format.kind != cudaChannelFormatKindFloat && mode != kBorder;
      if (format.bits == 32 && format.kind != cudaChannelFormatKindFloat) c.integers = true;
      c.desc = described(kPoint, mode, false, c.integers || format.kind == cudaChannelFormatKindFloat ? cudaReadModeElementType : kNormal);
      c.at = [](Random& r, int i, float4& p, float4&) {
        const float values[] = {-1, -2, 1000, 1001, 1023, 1024, 1e6f, -1e6f, 2e9f, -2e9f, 134217728, 268435456, 999, 0};
        p.w = i < 14 ? values[i] : static_cast<float>(r.word() % 1200) - 100;
      };
      run(c);
    }
  // One dimension's coordinates on an image of two, and the other way round.
  Case c;
  c.name = "odd.1d_on_2d";
  c.op = Op::Tex1D;
  c.width = 24, c.height = 10;
  c.desc = described(kLinear, kClamp, false);
  c.at = plane(24, 10, false);
  run(c);
  c.name = "odd.2d_on_1d";
  c.op = Op::Tex2D;
  c.height = 0;
  run(c);
  c.name = "odd.fetch_on_array";
  c.op = Op::Fetch1D;
  c.desc = described(kPoint, kClamp, false);
  c.at = [](Random&, int i, float4& p, float4&) { p.w = static_cast<float>(i % 64) - 16; };
  run(c);
  c.name = "odd.1d_on_memory";
  c.op = Op::Tex1D;
  c.linear_memory = true;
  c.at = line(24, false);
  run(c);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--dump") && i + 1 < argc) dump = std::fopen(argv[++i], "wb");
    else filter = argv[i];
  }
  filters_of_one_dimension();
  codes();
  integers();
  filters_of_more_dimensions();
  layers();
  mipmaps();
  gathers_and_fetches();
  if (dump) std::fclose(dump);
  return 0;
}
