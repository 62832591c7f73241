// Texture reads of one warp: how many requests an H100 makes of them is in h100/textures.csv, in the order of the launches.
// args: check
#include <cstdio>

__device__ bool takes_part(unsigned mask) { return mask >> (threadIdx.x + threadIdx.y * blockDim.x & 31) & 1; }
template <class T>
__device__ float some(T v) { return *(unsigned char*)&v; }

using Texels = cudaTextureObject_t;
template <class T>
__global__ void fetch(Texels t, float* o, unsigned mask, int s) { if (takes_part(mask)) o[threadIdx.x] = some(tex1Dfetch<T>(t, threadIdx.x * s)); }
template <class T>
__global__ void plane(Texels t, float* o, unsigned mask, float d, float s) { if (takes_part(mask)) o[threadIdx.y * blockDim.x + threadIdx.x] = some(tex2D<T>(t, threadIdx.x * s + d, threadIdx.y + d)); }
template <class T>
__global__ void line(Texels t, float* o, unsigned mask, float d) { if (takes_part(mask)) o[threadIdx.x] = some(tex1D<T>(t, threadIdx.x + d)); }
template <class T>
__global__ void room(Texels t, float* o, unsigned mask, float d) { if (takes_part(mask)) o[threadIdx.x] = some(tex3D<T>(t, threadIdx.x + d, threadIdx.y + d, 1 + d)); }
template <class T>
__global__ void layer(Texels t, float* o, unsigned mask, float d) { if (takes_part(mask)) o[threadIdx.x] = some(tex2DLayered<T>(t, threadIdx.x + d, threadIdx.y + d, 1)); }
template <class T>
__global__ void level(Texels t, float* o, unsigned mask, float d) { if (takes_part(mask)) o[threadIdx.x] = some(tex2DLod<T>(t, threadIdx.x + d, threadIdx.y + d, 0.f)); }
template <class T>
__global__ void surface_read(cudaSurfaceObject_t t, float* o, unsigned mask) { if (takes_part(mask)) o[threadIdx.x] = some(surf2Dread<T>(t, threadIdx.x * sizeof(T), threadIdx.y)); }
template <class T>
__global__ void surface_write(cudaSurfaceObject_t t, unsigned mask) { if (takes_part(mask)) surf2Dwrite<T>(T{}, t, threadIdx.x * sizeof(T), threadIdx.y); }

template <class T>
struct Textures {
  Texels linear, plane, blended, line, room, layers;
  cudaSurfaceObject_t surface;

  static Texels of(cudaArray_t array, bool blend) {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d{};
    d.readMode = blend && sizeof(T) % 4 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.filterMode = blend ? cudaFilterModeLinear : cudaFilterModePoint;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
    Texels t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
  }
  explicit Textures(void* memory) {
    const auto channel = cudaCreateChannelDesc<T>();
    cudaArray_t of_plane, of_line, of_room, of_layers;
    cudaMallocArray(&of_plane, &channel, 128, 64, cudaArraySurfaceLoadStore | cudaArrayTextureGather);
    cudaMallocArray(&of_line, &channel, 1024);
    cudaMalloc3DArray(&of_room, &channel, make_cudaExtent(64, 16, 4));
    cudaMalloc3DArray(&of_layers, &channel, make_cudaExtent(64, 16, 4), cudaArrayLayered);
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory;
    r.res.linear.desc = channel;
    r.res.linear.sizeInBytes = 1 << 15;
    const cudaTextureDesc d{};
    cudaCreateTextureObject(&linear, &r, &d, nullptr);
    plane = of(of_plane, false);
    line = of(of_line, false);
    room = of(of_room, false);
    layers = of(of_layers, false);
    blended = of(of_plane, true);
    cudaResourceDesc s{};
    s.resType = cudaResourceTypeArray;
    s.res.array.array = of_plane;
    cudaCreateSurfaceObject(&surface, &s);
  }
};

template <class T, bool blends>
void all(void* memory, float* o) {
  const Textures<T> x(memory);
  const dim3 rows(16, 2);
  const unsigned masks[] = {~0u, 0x0000ffff, 0x11111111, 0x00f000f0, 0x1, 0xff00ff00, 0x80000001};
  for (unsigned mask : masks) fetch<T><<<1, 32>>>(x.linear, o, mask, 1);
  fetch<T><<<1, 32>>>(x.linear, o, ~0u, 5);
  for (unsigned mask : masks) plane<T><<<1, rows>>>(x.plane, o, mask, 0.5f, 1.f);
  plane<T><<<1, dim3(32, 1)>>>(x.plane, o, ~0u, 0.5f, 1.f);
  plane<T><<<1, dim3(8, 4)>>>(x.plane, o, ~0u, 0.5f, 1.f);
  plane<T><<<1, dim3(32, 1)>>>(x.plane, o, ~0u, 0.5f, 3.f);
  plane<T><<<1, dim3(2, 16)>>>(x.plane, o, ~0u, 0.5f, 1.f);
  for (unsigned mask : {~0u, 0x11111111u}) {
    line<T><<<1, 32>>>(x.line, o, mask, 0.5f);
    room<T><<<1, rows>>>(x.room, o, mask, 0.5f);
    layer<T><<<1, rows>>>(x.layers, o, mask, 0.5f);
    level<T><<<1, rows>>>(x.plane, o, mask, 0.5f);
    surface_read<T><<<1, rows>>>(x.surface, o, mask);
    surface_write<T><<<1, rows>>>(x.surface, mask);
  }
  if constexpr (blends) {
    plane<T><<<1, rows>>>(x.blended, o, ~0u, 0.5f, 1.f);
    plane<T><<<1, rows>>>(x.blended, o, ~0u, 0.8f, 1.f);
    plane<T><<<1, rows>>>(x.blended, o, 0x11111111u, 0.8f, 1.f);
  }
}

int main() {
  float* o;
  void* memory;
  cudaMalloc(&o, 1 << 16);
  cudaMalloc(&memory, 1 << 16);
  cudaMemset(memory, 0, 1 << 16);
  all<unsigned char, false>(memory, o);
  all<short, false>(memory, o);
  all<float, true>(memory, o);
  all<float2, true>(memory, o);
  all<float4, true>(memory, o);
  all<uchar4, false>(memory, o);
  const cudaError_t result = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(result));
  return result != cudaSuccess;
}
