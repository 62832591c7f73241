// What the functions for arrays, textures and surfaces return, and what arrays say of themselves. Built with the vendor's
// compiler it records what a GPU's driver answers; the recording is calls_h200.txt.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define SHOW(call) (std::printf("%s %s\n", #call, cudaGetErrorName(call)), cudaGetLastError())

const cudaChannelFormatDesc kFloat = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
const cudaChannelFormatDesc kFloat4 = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
const cudaChannelFormatDesc kByte = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
const cudaChannelFormatDesc kByte4 = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
const cudaChannelFormatDesc kInt = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
const cudaChannelFormatDesc kHalf = cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);

cudaExtent extent(size_t w, size_t h, size_t d) { return make_cudaExtent(w, h, d); }

cudaError_t made(const cudaChannelFormatDesc& desc, cudaExtent e, unsigned flags = 0) {
  cudaArray_t array = nullptr;
  const cudaError_t status = cudaMalloc3DArray(&array, &desc, e, flags);
  if (status == cudaSuccess) {
    cudaChannelFormatDesc d;
    cudaExtent x;
    unsigned f;
    if (cudaArrayGetInfo(&d, &x, &f, array) == cudaSuccess)
      std::printf("  info: {%d %d %d %d kind %d} %zu x %zu x %zu flags %#x\n", d.x, d.y, d.z, d.w, d.f, x.width, x.height, x.depth, f);
    cudaArrayMemoryRequirements r{};
    std::printf("  requirements: %s\n", cudaGetErrorName(cudaArrayGetMemoryRequirements(&r, array, 0)));
    cudaArraySparseProperties p{};
    std::printf("  sparse: %s\n", cudaGetErrorName(cudaArrayGetSparseProperties(&p, array)));
    cudaArray_t plane = nullptr;
    std::printf("  plane: %s\n", cudaGetErrorName(cudaArrayGetPlane(&plane, array, 0)));
    cudaFreeArray(array);
  }
  cudaGetLastError();
  return status;
}

cudaError_t made_mips(const cudaChannelFormatDesc& desc, cudaExtent e, unsigned levels, unsigned flags = 0) {
  cudaMipmappedArray_t mips = nullptr;
  const cudaError_t status = cudaMallocMipmappedArray(&mips, &desc, e, levels, flags);
  if (status == cudaSuccess) {
    for (unsigned l = 0; l < levels + 2; ++l) {
      cudaArray_t level = nullptr;
      const cudaError_t s = cudaGetMipmappedArrayLevel(&level, mips, l);
      cudaExtent x{};
      unsigned f = 0;
      if (s == cudaSuccess) cudaArrayGetInfo(nullptr, &x, &f, level);
      std::printf("  level %u: %s %zu x %zu x %zu flags %#x\n", l, cudaGetErrorName(s), x.width, x.height, x.depth, f);
    }
    cudaFreeMipmappedArray(mips);
  }
  cudaGetLastError();
  return status;
}

void arrays() {
  SHOW(made(kFloat, extent(16, 0, 0)));
  SHOW(made(kFloat, extent(16, 8, 0)));
  SHOW(made(kFloat, extent(16, 8, 4)));
  SHOW(made(kFloat, extent(16, 8, 4), cudaArrayLayered));
  SHOW(made(kFloat, extent(16, 0, 4), cudaArrayLayered));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArrayLayered));
  SHOW(made(kFloat, extent(16, 16, 6), cudaArrayCubemap));
  SHOW(made(kFloat, extent(16, 16, 12), cudaArrayCubemap | cudaArrayLayered));
  SHOW(made(kFloat, extent(16, 16, 8), cudaArrayCubemap));
  SHOW(made(kFloat, extent(16, 16, 7), cudaArrayCubemap | cudaArrayLayered));
  SHOW(made(kFloat, extent(16, 8, 6), cudaArrayCubemap));
  SHOW(made(kFloat, extent(16, 0, 6), cudaArrayCubemap));
  SHOW(made(kFloat, extent(0, 0, 0)));
  SHOW(made(kFloat, extent(0, 8, 0)));
  SHOW(made(kFloat, extent(16, 0, 4)));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArraySurfaceLoadStore));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArrayTextureGather));
  SHOW(made(kFloat, extent(16, 0, 0), cudaArrayTextureGather));
  SHOW(made(kFloat, extent(16, 8, 4), cudaArrayTextureGather));
  SHOW(made(kFloat, extent(16, 8, 0), 0x1000));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArrayColorAttachment));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArraySparse));
  SHOW(made(kFloat, extent(16, 8, 0), cudaArrayDeferredMapping));
  SHOW(made(kFloat, extent(131072, 0, 0)));
  SHOW(made(kFloat, extent(131073, 0, 0)));
  SHOW(made(kByte, extent(131072, 8, 0)));
  SHOW(made(kByte, extent(131073, 8, 0)));
  SHOW(made(kByte, extent(8, 65536, 0)));
  SHOW(made(kByte, extent(8, 65537, 0)));
  SHOW(made(kByte, extent(8, 8, 16384)));
  SHOW(made(kByte, extent(8, 8, 16385)));
  SHOW(made(kByte, extent(8, 8, 2048), cudaArrayLayered));
  SHOW(made(kByte, extent(8, 8, 2049), cudaArrayLayered));
  SHOW(made(kByte, extent(32769, 8, 2), cudaArrayLayered));
  SHOW(made(kByte, extent(32769, 8, 0), cudaArrayTextureGather));
  SHOW(made(kByte, extent(32769, 0, 0), cudaArraySurfaceLoadStore));
  SHOW(made(cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindUnsigned), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(24, 0, 0, 0, cudaChannelFormatKindUnsigned), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(64, 0, 0, 0, cudaChannelFormatKindFloat), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(0, 32, 0, 0, cudaChannelFormatKindFloat), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindNone), extent(16, 0, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4), extent(16, 8, 0)));
  SHOW(made(cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindSignedNormalized16X1), extent(16, 8, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1), extent(16, 8, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed7), extent(16, 8, 0)));
  SHOW(made(cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindNV12), extent(16, 8, 0)));
  cudaArray_t array = nullptr;
  SHOW(cudaMallocArray(nullptr, &kFloat, 16));
  SHOW(cudaMallocArray(&array, nullptr, 16));
  SHOW(cudaFreeArray(nullptr));
  SHOW(cudaFreeMipmappedArray(nullptr));
  SHOW(made_mips(kFloat, extent(32, 20, 0), 4));
  SHOW(made_mips(kFloat, extent(32, 20, 0), 9));
  SHOW(made_mips(kFloat, extent(32, 0, 0), 6));
  SHOW(made_mips(kFloat, extent(16, 12, 8), 5));
  SHOW(made_mips(kFloat, extent(16, 16, 6), 5, cudaArrayCubemap));
  SHOW(made_mips(kFloat, extent(16, 8, 3), 2, cudaArrayLayered | cudaArraySurfaceLoadStore));
  SHOW(made_mips(kFloat, extent(32, 20, 0), 0));
}

void copies() {
  cudaArray_t a, b, volume, line, bytes;
  cudaMallocArray(&a, &kFloat, 16, 8);
  cudaMallocArray(&b, &kFloat, 16, 8);
  cudaMallocArray(&line, &kFloat, 16);
  cudaMallocArray(&bytes, &kByte, 64, 8);
  cudaMalloc3DArray(&volume, &kFloat, extent(16, 8, 4));
  std::vector<float> host(4096), back(4096);
  for (int i = 0; i < 4096; ++i) host[i] = static_cast<float>(i);
  float* device;
  cudaMalloc(&device, 16384);
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 4, 0, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 4, 1, host.data(), 64, 60, 7, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 2, 1, host.data(), 64, 4, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 1, host.data(), 64, 2, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 1, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 32, 64, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 0, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 2, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, device, 64, 64, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 2, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, device, 64, 64, 2, cudaMemcpyDefault));
  SHOW(cudaMemcpy2DToArray(a, 0, 0, host.data(), 64, 64, 2, static_cast<cudaMemcpyKind>(9)));
  SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, host.data(), 64, 64, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(line, 0, 0, host.data(), 64, 64, 1, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(line, 0, 0, host.data(), 64, 64, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DToArray(volume, 0, 0, host.data(), 64, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToArray(a, 0, 0, host.data(), 512, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToArray(a, 8, 2, host.data(), 100, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyToArray(a, 8, 2, host.data(), 512, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyFromArray(back.data(), a, 0, 0, 512, cudaMemcpyDeviceToHost));
  for (int i = 30; i < 64; ++i) std::printf("%g ", back[i]);
  std::printf("\n");
  SHOW(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 512, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpyArrayToArray(b, 8, 1, a, 4, 2, 100, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpyArrayToArray(bytes, 0, 0, a, 0, 0, 512, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DArrayToArray(b, 4, 0, a, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DArrayToArray(bytes, 0, 0, a, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpyFromArray(back.data(), b, 0, 0, 512, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2DFromArray(back.data(), 64, a, 0, 0, 64, 8, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy2DFromArray(back.data(), 64, a, 0, 0, 64, 8, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2DFromArrayAsync(back.data(), 64, a, 0, 4, 64, 4, cudaMemcpyDeviceToHost, 0));
  auto parms = [&](cudaArray_t from, cudaArray_t to, cudaExtent e) {
    cudaMemcpy3DParms p{};
    p.srcArray = from;
    p.dstArray = to;
    p.extent = e;
    p.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3D(&p);
  };
  SHOW(parms(a, b, extent(16, 8, 1)));
  SHOW(parms(a, b, extent(16, 8, 0)));
  SHOW(parms(a, b, extent(17, 8, 1)));
  SHOW(parms(a, volume, extent(16, 8, 1)));
  SHOW(parms(a, volume, extent(16, 8, 2)));
  SHOW(parms(a, bytes, extent(16, 8, 1)));
  SHOW(parms(a, line, extent(16, 1, 1)));
  auto both = [&] {
    cudaMemcpy3DParms p{};
    p.srcArray = a;
    p.srcPtr = make_cudaPitchedPtr(device, 64, 16, 8);
    p.dstArray = b;
    p.extent = extent(16, 8, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3D(&p);
  };
  SHOW(both());
  auto neither = [&] {
    cudaMemcpy3DParms p{};
    p.dstArray = b;
    p.extent = extent(16, 8, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    return cudaMemcpy3D(&p);
  };
  SHOW(neither());
  cudaFreeArray(b);
  SHOW(cudaFreeArray(a));
  for (cudaArray_t other : {volume, line, bytes}) cudaFreeArray(other);
}

cudaResourceDesc of_array(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}
cudaResourceDesc of_memory(void* p, cudaChannelFormatDesc d, size_t bytes) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeLinear;
  r.res.linear = {p, d, bytes};
  return r;
}
cudaResourceDesc of_pitch(void* p, cudaChannelFormatDesc d, size_t w, size_t h, size_t pitch) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D = {p, d, w, h, pitch};
  return r;
}

cudaError_t texture_of(const cudaResourceDesc& r, cudaTextureFilterMode filter = cudaFilterModePoint,
                    cudaTextureReadMode read = cudaReadModeElementType, bool normalised = false,
                    cudaTextureAddressMode mode = cudaAddressModeClamp, int srgb = 0, const cudaResourceViewDesc* view = nullptr) {
  cudaTextureDesc d{};
  for (auto& m : d.addressMode) m = mode;
  d.filterMode = filter;
  d.readMode = read;
  d.normalizedCoords = normalised;
  d.sRGB = srgb;
  cudaTextureObject_t t = 0;
  const cudaError_t status = cudaCreateTextureObject(&t, &r, &d, view);
  if (status == cudaSuccess) {
    cudaTextureDesc got{};
    if (cudaGetTextureObjectTextureDesc(&got, t) == cudaSuccess)
      std::printf("  desc: %d %d %d filter %d read %d srgb %d normalised %d aniso %u mip %d %g %g %g\n", got.addressMode[0], got.addressMode[1],
                  got.addressMode[2], got.filterMode, got.readMode, got.sRGB, got.normalizedCoords, got.maxAnisotropy, got.mipmapFilterMode,
                  got.mipmapLevelBias, got.minMipmapLevelClamp, got.maxMipmapLevelClamp);
    cudaResourceViewDesc v{};
    std::printf("  view: %s\n", cudaGetErrorName(cudaGetTextureObjectResourceViewDesc(&v, t)));
    cudaDestroyTextureObject(t);
  }
  cudaGetLastError();
  return status;
}

cudaError_t surface_of(const cudaResourceDesc& r) {
  cudaSurfaceObject_t s = 0;
  const cudaError_t status = cudaCreateSurfaceObject(&s, &r);
  if (status == cudaSuccess) cudaDestroySurfaceObject(s);
  return status;
}

void objects() {
  cudaArray_t floats, bytes, ints, halves, plain, stored, line, volume, layers;
  cudaMallocArray(&floats, &kFloat, 16, 8);
  cudaMallocArray(&bytes, &kByte4, 16, 8);
  cudaMallocArray(&ints, &kInt, 16, 8);
  cudaMallocArray(&halves, &kHalf, 16, 8);
  cudaMallocArray(&plain, &kFloat, 16, 8);
  cudaMallocArray(&line, &kFloat, 16);
  cudaMalloc3DArray(&volume, &kFloat, extent(16, 8, 4));
  cudaMalloc3DArray(&layers, &kFloat, extent(16, 8, 4), cudaArrayLayered);
  cudaMallocArray(&stored, &kFloat, 16, 8, cudaArraySurfaceLoadStore);
  char* memory;
  cudaMalloc(&memory, 1 << 20);
  const auto point = cudaFilterModePoint, linear = cudaFilterModeLinear;
  const auto element = cudaReadModeElementType, normal = cudaReadModeNormalizedFloat;
  SHOW(texture_of(of_array(floats), linear));
  SHOW(texture_of(of_array(floats), linear, normal));
  SHOW(texture_of(of_array(floats), point, normal));
  SHOW(texture_of(of_array(halves), linear, element));
  SHOW(texture_of(of_array(halves), linear, normal));
  SHOW(texture_of(of_array(bytes), linear, element));
  SHOW(texture_of(of_array(bytes), linear, normal));
  SHOW(texture_of(of_array(bytes), point, element));
  SHOW(texture_of(of_array(ints), linear, element));
  SHOW(texture_of(of_array(ints), point, normal));
  SHOW(texture_of(of_array(ints), point, element));
  SHOW(texture_of(of_array(bytes), linear, normal, true, cudaAddressModeWrap, 1));
  SHOW(texture_of(of_array(floats), linear, element, true, cudaAddressModeWrap, 1));
  SHOW(texture_of(of_array(bytes), point, element, true, cudaAddressModeWrap, 1));
  SHOW(texture_of(of_array(floats), linear, element, false, cudaAddressModeWrap));
  SHOW(texture_of(of_array(floats), linear, element, false, cudaAddressModeMirror));
  SHOW(texture_of(of_array(floats), linear, element, false, static_cast<cudaTextureAddressMode>(7)));
  SHOW(texture_of(of_array(floats), static_cast<cudaTextureFilterMode>(3)));
  SHOW(texture_of(of_array(nullptr)));
  SHOW(texture_of(of_memory(memory, kFloat, 4096)));
  SHOW(texture_of(of_memory(memory, kFloat, 4096), linear));
  SHOW(texture_of(of_memory(memory, kByte, 4096), point, normal));
  SHOW(texture_of(of_memory(memory, kByte, 4096), linear, normal));
  SHOW(texture_of(of_memory(memory, kFloat, 4096), point, element, true));
  SHOW(texture_of(of_memory(memory + 4, kFloat, 4096)));
  SHOW(texture_of(of_memory(memory + 256, kFloat, 4096)));
  SHOW(texture_of(of_memory(memory + 512, kFloat, 4096)));
  SHOW(texture_of(of_memory(memory + 16, kFloat4, 4096)));
  SHOW(texture_of(of_memory(memory, kFloat, 0)));
  SHOW(texture_of(of_memory(memory, kFloat, 3)));
  SHOW(texture_of(of_memory(memory, kFloat, 4097)));
  SHOW(texture_of(of_memory(memory, kFloat, size_t(1) << 40)));
  SHOW(texture_of(of_memory(nullptr, kFloat, 4096)));
  SHOW(texture_of(of_memory(memory, cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat), 4096)));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 8, 64)));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 8, 64), linear));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 8, 72)));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 8, 32)));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 8, 48)));
  SHOW(texture_of(of_pitch(memory + 64, kFloat, 16, 8, 64)));
  SHOW(texture_of(of_pitch(memory, kFloat, 0, 8, 64)));
  SHOW(texture_of(of_pitch(memory, kFloat, 16, 0, 64)));
  SHOW(texture_of(of_pitch(memory, kByte, 131073, 1, 131104)));
  SHOW(texture_of(of_pitch(memory, kByte, 16, 65001, 32)));
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = 16, view.height = 8;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.format = cudaResViewFormatSignedInt1;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.format = cudaResViewFormatUnsignedChar4;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.format = cudaResViewFormatFloat2;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.format = cudaResViewFormatFloat1;
  view.width = 8;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.width = 16, view.lastMipmapLevel = 2;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.lastMipmapLevel = 0, view.lastLayer = 2;
  SHOW(texture_of(of_array(floats), point, element, false, cudaAddressModeClamp, 0, &view));
  view.depth = 2, view.firstLayer = 1, view.lastLayer = 2;
  SHOW(texture_of(of_array(layers), point, element, false, cudaAddressModeClamp, 0, &view));
  view.lastLayer = 9;
  SHOW(texture_of(of_array(layers), point, element, false, cudaAddressModeClamp, 0, &view));
  SHOW(texture_of(of_memory(memory, kFloat, 4096), point, element, false, cudaAddressModeClamp, 0, &view));
  SHOW(surface_of(of_array(stored)));
  SHOW(surface_of(of_array(plain)));
  SHOW(surface_of(of_array(nullptr)));
  SHOW(surface_of(of_memory(memory, kFloat, 4096)));
  SHOW(surface_of(of_pitch(memory, kFloat, 16, 8, 64)));
  cudaTextureObject_t t;
  cudaTextureDesc d{};
  cudaResourceDesc r = of_array(floats), got{};
  SHOW(cudaCreateTextureObject(nullptr, &r, &d, nullptr));
  SHOW(cudaCreateTextureObject(&t, nullptr, &d, nullptr));
  SHOW(cudaCreateTextureObject(&t, &r, nullptr, nullptr));
  SHOW(cudaDestroyTextureObject(0));
  SHOW(cudaDestroySurfaceObject(0));
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  SHOW(cudaGetTextureObjectResourceDesc(&got, t));
  std::printf("same array: %d\n", got.res.array.array == floats && got.resType == cudaResourceTypeArray);
  SHOW(cudaGetTextureObjectResourceDesc(nullptr, t));
  SHOW(cudaDestroyTextureObject(t));
  SHOW(cudaGetTextureObjectResourceDesc(&got, 0));
  cudaChannelFormatDesc channels;
  SHOW(cudaGetChannelDesc(&channels, bytes));
  std::printf("%d %d %d %d %d\n", channels.x, channels.y, channels.z, channels.w, channels.f);
  size_t width = 0;
  SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &kFloat, 0));
  std::printf("%zu\n", width);
  SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &kFloat4, 0));
  std::printf("%zu\n", width);
  SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &kByte, 0));
  std::printf("%zu\n", width);
}

int main() {
  cudaFree(nullptr);
  arrays();
  copies();
  objects();
  return 0;
}
