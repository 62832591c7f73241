// Textures and surfaces: memory that nobody has written, that has gone, that others use. An argument picks the case.
#include "cases.h"

__global__ void fill(float* p) { p[blockIdx.x * 64 + threadIdx.x] = 1; }
__global__ void fetch(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x - 1); }  // expect linear_unwritten uninitialized_read; expect linear_freed use_after_free; expect linear_apart race_raw
__global__ void fetch_behind(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, 128 + threadIdx.x); }  // expect linear_too_long out_of_bounds
__global__ void sample(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x % 8 + 1.0f, threadIdx.x / 8 + 1.0f); }  // expect array_unwritten uninitialized_read; expect array_freed use_after_free; expect array_apart race_streams
__global__ void draw(cudaSurfaceObject_t s, float v) { surf2Dwrite(v, s, threadIdx.x % 8 * 4, threadIdx.x / 8); }
__global__ void draw_columns(cudaSurfaceObject_t s) { surf2Dwrite((float)threadIdx.x, s, threadIdx.x / 8 * 4, 3); }  // expect surface_race race_waw
__global__ void draw_flags(cudaSurfaceObject_t s, bool same) {
  if (threadIdx.x % 3) surf2Dwrite(make_float4(1, 2, same ? 3 : threadIdx.x / 2 % 2, 4), s, threadIdx.x % 2 * 16, 0);  // expect surface_flags_differ race_waw
}
__global__ void mirror(cudaSurfaceObject_t s, bool waits) {
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  const float v = surf2Dread<float>(s, (7 - x) * 4, y);  // expect surface_mirrored race_war
  if (waits) __syncthreads();
  surf2Dwrite(v, s, x * 4, y);
}

struct Linear {
  float *p, *out;
  cudaTextureObject_t t;
  explicit Linear(size_t bytes = 256) {
    cudaMalloc(&p, 256);
    cudaMalloc(&out, 256);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = bytes;
    cudaTextureDesc d = {};
    d.readMode = cudaReadModeElementType;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
  }
  ~Linear() {
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(t);
    if (p) cudaFree(p);
    cudaFree(out);
  }
};
CASE(linear_unwritten) { Linear l; fetch<<<1, 64>>>(l.t, l.out); }
CASE(linear_past_end) { Linear l; cudaMemset(l.p, 0, 256); fetch<<<1, 64>>>(l.t, l.out); }
CASE(linear_too_long_inside) { Linear l(1 << 16); cudaMemset(l.p, 0, 256); fetch<<<1, 64>>>(l.t, l.out); }
CASE(linear_too_long) { Linear l(1 << 16); cudaMemset(l.p, 0, 256); fetch_behind<<<1, 64>>>(l.t, l.out); }
CASE(linear_freed) {
  Linear l;
  cudaMemset(l.p, 0, 256);
  cudaFree(l.p);
  l.p = nullptr;
  fetch<<<1, 64>>>(l.t, l.out);
}
static void in_streams(bool ordered) {
  Linear l;
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  fill<<<1, 64, 0, a>>>(l.p);
  fetch<<<1, 64, 0, ordered ? a : b>>>(l.t, l.out);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}
CASE(linear_apart) { in_streams(false); }
CASE(linear_in_turn) { in_streams(true); }

struct Array {
  cudaArray_t a;
  cudaTextureObject_t t;
  cudaSurfaceObject_t s;
  float *out, *host;
  Array() {
    const cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMallocArray(&a, &f, 10, 8, cudaArraySurfaceLoadStore);
    cudaMalloc(&out, 256);
    cudaMallocHost(&host, 320);
    for (int k = 0; k < 80; ++k) host[k] = k;
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc d = {};
    d.filterMode = cudaFilterModeLinear;
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    cudaCreateSurfaceObject(&s, &r);
  }
  ~Array() {
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(t);
    cudaDestroySurfaceObject(s);
    if (a) cudaFreeArray(a);
    cudaFree(out);
    cudaFreeHost(host);
  }
};
CASE(array_unwritten) { Array a; sample<<<1, 64>>>(a.t, a.out); }
CASE(array_written) {
  Array a;
  cudaMemcpy2DToArray(a.a, 0, 0, a.host, 40, 40, 8, cudaMemcpyHostToDevice);
  sample<<<1, 64>>>(a.t, a.out);
}
CASE(array_drawn) {
  Array a;
  cudaMemcpy2DToArray(a.a, 32, 0, a.host, 8, 8, 8, cudaMemcpyHostToDevice);
  draw<<<1, 64>>>(a.s, 1);
  sample<<<1, 64>>>(a.t, a.out);
}
CASE(array_freed) {
  Array a;
  cudaMemcpy2DToArray(a.a, 0, 0, a.host, 40, 40, 8, cudaMemcpyHostToDevice);
  cudaFreeArray(a.a);
  a.a = nullptr;
  sample<<<1, 64>>>(a.t, a.out);
}
static void copies_in_streams(bool ordered) {
  Array a;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMemcpy2DToArrayAsync(a.a, 0, 0, a.host, 40, 40, 8, cudaMemcpyHostToDevice, s);
  sample<<<1, 64, 0, ordered ? s : t>>>(a.t, a.out);
  cudaDeviceSynchronize();
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
}
CASE(array_apart) { copies_in_streams(false); }
CASE(array_in_turn) { copies_in_streams(true); }
CASE(surface_race) { Array a; draw_columns<<<1, 64>>>(a.s); }
CASE(surface_each_its_own) { Array a; draw<<<1, 64>>>(a.s, 2); draw<<<1, 64>>>(a.s, 3); }
CASE(surface_mirrored) { Array a; draw<<<1, 64>>>(a.s, 2); mirror<<<1, 64>>>(a.s, false); }
CASE(surface_mirrored_in_turn) { Array a; draw<<<1, 64>>>(a.s, 2); mirror<<<1, 64>>>(a.s, true); }
CASE(surface_flags_same) { Array a; draw_flags<<<2, 64>>>(a.s, true); }
CASE(surface_flags_differ) { Array a; draw_flags<<<2, 64>>>(a.s, false); }
