// What is wrong with images ends in documented errors: kernels fail and the process goes on.
#include <cstdio>
#include <cstdlib>

int failures = 0;
void expect(cudaError_t got, cudaError_t wanted, const char* what) {
  if (got == wanted) return;
  ++failures;
  std::printf("%s: %s instead of %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
}

__global__ void read_texture(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 1.5f, 1.5f); }
__global__ void read_surface(cudaSurfaceObject_t s, float* out, int x, int y) { *out = surf2Dread<float>(s, x, y); }
__global__ void write_surface(cudaSurfaceObject_t s, int x, int y) { surf2Dwrite(1.0f, s, x, y); }
__global__ void fetch(cudaTextureObject_t t, float* out) { *out = tex1Dfetch<float>(t, 1); }

struct Scene {
  cudaArray_t array;
  cudaTextureObject_t texture;
  cudaSurfaceObject_t surface_object;
  float* out;
  Scene() {
    const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();
    expect(cudaMallocArray(&array, &f1, 8, 4, cudaArraySurfaceLoadStore), cudaSuccess, "array");
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    cudaTextureDesc d{};
    expect(cudaCreateTextureObject(&texture, &r, &d, nullptr), cudaSuccess, "texture");
    expect(cudaCreateSurfaceObject(&surface_object, &r), cudaSuccess, "surface");
    expect(cudaMalloc(&out, 4), cudaSuccess, "memory");
  }
  void ends_with(cudaError_t wanted, const char* what) {
    expect(cudaDeviceSynchronize(), wanted, what);
    expect(cudaDeviceReset(), cudaSuccess, "reset");
  }
};

int main() {
  { Scene s; read_texture<<<1, 1>>>(s.texture, s.out); read_surface<<<1, 1>>>(s.surface_object, s.out, 28, 3); s.ends_with(cudaSuccess, "nothing wrong"); }
  { Scene s; read_texture<<<1, 1>>>(0, s.out); s.ends_with(cudaErrorIllegalAddress, "zero for a texture"); }
  { Scene s; read_texture<<<1, 1>>>(0x123456789ull, s.out); s.ends_with(cudaErrorIllegalAddress, "any number for a texture"); }
  { Scene s; read_texture<<<1, 1>>>(cudaTextureObject_t(s.out), s.out); s.ends_with(cudaErrorIllegalAddress, "a pointer for a texture"); }
  { Scene s; read_texture<<<1, 1>>>(s.surface_object, s.out); s.ends_with(cudaErrorIllegalAddress, "a surface for a texture"); }
  { Scene s; read_surface<<<1, 1>>>(s.texture, s.out, 0, 0); s.ends_with(cudaErrorIllegalAddress, "a texture for a surface"); }
  { Scene s; read_surface<<<1, 1>>>(s.surface_object, s.out, 32, 0); s.ends_with(cudaErrorIllegalAddress, "right of a surface"); }
  { Scene s; read_surface<<<1, 1>>>(s.surface_object, s.out, -4, 0); s.ends_with(cudaErrorIllegalAddress, "left of a surface"); }
  { Scene s; write_surface<<<1, 1>>>(s.surface_object, 0, 4); s.ends_with(cudaErrorIllegalAddress, "below a surface"); }
  { Scene s; write_surface<<<1, 1>>>(s.surface_object, 6, 0); s.ends_with(cudaErrorMisalignedAddress, "between texels of a surface"); }
  { Scene s; cudaDestroyTextureObject(s.texture); read_texture<<<1, 1>>>(s.texture, s.out); s.ends_with(cudaErrorIllegalAddress, "a destroyed texture"); }
  { Scene s; cudaDestroySurfaceObject(s.surface_object); read_surface<<<1, 1>>>(s.surface_object, s.out, 0, 0); s.ends_with(cudaErrorIllegalAddress, "a destroyed surface"); }
  { Scene s; cudaFreeArray(s.array); read_texture<<<1, 1>>>(s.texture, s.out); s.ends_with(cudaErrorIllegalAddress, "a freed array"); }
  {
    Scene s;
    float* memory;
    cudaMalloc(&memory, 1 << 20);
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {memory, cudaCreateChannelDesc<float>(), 1 << 20};
    cudaTextureDesc d{};
    cudaTextureObject_t t;
    expect(cudaCreateTextureObject(&t, &r, &d, nullptr), cudaSuccess, "linear texture");
    cudaFree(memory);
    fetch<<<1, 1>>>(t, s.out);
    s.ends_with(cudaErrorIllegalAddress, "freed memory");
  }
  Scene s;
  expect(cudaDestroyTextureObject(s.texture), cudaSuccess, "destroy");
  expect(cudaDestroyTextureObject(s.texture), cudaSuccess, "destroying twice is no error");
  cudaResourceDesc r;
  expect(cudaGetTextureObjectResourceDesc(&r, s.texture), cudaErrorInvalidValue, "description of no object");
  expect(cudaFreeArray(s.array), cudaSuccess, "free");
  expect(cudaFreeArray(s.array), cudaErrorInvalidResourceHandle, "free twice");
  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}
