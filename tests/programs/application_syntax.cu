// What nvcc and g++ take together: old words, mixed arithmetic, macros and types of application code.
#include <cuda.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <iostream>
#include <vector>
using namespace std;
#define N 256
#define min3(a, b, c) min(a, min(b, c))
const float PI = 3.14159265f;
const double eps = 1e-9;
const int K = 7;
static const int TBL_N = 4;
constexpr float CF = 2.f;
enum { BS = 64 };
__constant__ __device__ float cst[4];
__device__ __constant__ int cst2[2] = {1, 2};
typedef struct __align__(16) {
  float x, y, z;
  int id;
} Part;
typedef struct {
  float re, im;
} cpx;
struct __builtin_align__(8) P2 {
  float a, b;
};
inline __host__ __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline __device__ __host__ float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
inline __device__ __host__ float lerp(float a, float b, float t) { return a + t * (b - a); }
inline __host__ __device__ float length(float3 v) { return sqrtf(dot(v, v)); }
static __global__ void k1(float* o, int n) {
  register int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n)
    o[i] = sin(PI * i) * K + eps + CF + TBL_N + pow(2, 3) + sqrt(4.0) + floor(3.0) + abs(-3) + max(1, 2) + min(3u, 4u) +
           fabs(-1.5) + ceil(2.5f);
}
template <class T, int B>
__global__ void __launch_bounds__(B) k2(T* o, T v = T(1)) {
  __shared__ T s[B];
  s[threadIdx.x] = v;
  __syncthreads();
  o[threadIdx.x] = s[B - 1 - threadIdx.x];
}
template __global__ void k2<double, BS>(double*, double);
template <>
__global__ void k2<short, BS>(short* o, short v) {
  o[threadIdx.x] = -v;
}
extern "C" {
__global__ void k3(int* o, Part p, const cpx* c) { *o = p.id + (int)c->re; }
__device__ int devfn(int x) { return x + 1; }
}
namespace {
__global__ void k4(int* o) { *o = devfn(41); }
__device__ int hidden = 3;
struct Local {
  int v;
};
template <class T>
__global__ void k5(T t, int* o) {
  *o = t.v;
}
}  // namespace
template <typename... A>
__global__ void k6(int* o, A... a) {
  int s = 0;
  int d[] = {a...};
  for (int x : d) s += x;
  *o = s;
}
__global__ void k7(int* o) {
  long double ld = 1.5L;
  o[0] = (int)(ld * 2);
  __int128 w = (__int128)1 << 70;
  o[1] = (int)(w >> 68);
  unsigned long long t = clock64();
  o[2] = t > 0;
  char c = 200;
  o[3] = c < 0;
  bool b = isnan(0.f / 0.f) && isinf(1.f / 0.f) && signbit(-1.f);
  o[4] = b;
  int a[4];
  memset(a, 0, sizeof a);
  memcpy(a, o, 8);
  o[5] = a[1];
  o[6] = hidden;
  size_t sz = sizeof(Part);
  o[7] = sz;
#pragma unroll(4)
  for (int i = 0; i < 4; ++i) o[8] += i;
#pragma unroll 1
  for (int i = 0; i < N / 64; i++) o[9] += min3(i, 2, 3);
  asm volatile("add.s32 %0, %1, %2;" : "=r"(o[10]) : "r"(5), "n"(6) : "memory");
  asm("{ .reg .f64 t; mul.f64 t,%1,%1; mov.f64 %0,t; }" : "=d"(*(double*)&o[12]) : "d"(3.0));
  unsigned short h;
  asm("mov.u16 %0, 7;" : "=h"(h));
  o[14] = h;
  o[15] = __popcll(~0ull) + __ffs(8) + __clz(1) + __brev(1u) / 0x40000000u;
}
class Base {
 public:
  __host__ __device__ Base() : v(1) {}
  __host__ __device__ virtual ~Base() {}
  __device__ virtual int f() { return v; }
  int v;
};
class Der : public Base {
 public:
  __device__ int f() override { return 10 * v; }
};
__global__ void k8(int* o) {
  Base* b = new Der;
  *o = b->f();
  delete b;
  Der d;
  Base& r = d;
  *o += r.f();
}
__device__ float reduceWarp(volatile float* s, int t) {
  s[t] += s[t + 32];
  return s[t];
}
void host(float* p) {
  int n = 10;
  float vla[n];
  for (int i = 0; i < n; i++) vla[i] = i;
  *p = vla[3];
}
double wall() {
  struct timeval tv;
  struct timezone tz;
  gettimeofday(&tv, &tz);
  return tv.tv_sec + tv.tv_usec * 1e-6;
}
typedef void (*kern)(int*);
__global__ void ka(int* o) { *o = 1; }
__global__ void kb(int* o) { *o = 2; }
__global__ void k9(const int* __restrict__ a, int* __restrict__ b) {
  int2 v = *reinterpret_cast<const int2*>(a);
  int4 q = make_int4(v.x, v.y, 0, 0);
  *reinterpret_cast<int4*>(b) = q;
  b[4] = __ldg(a + 1);
  b[5] = (int)__float_as_int(1.0f);
  auto l = [=](int x) { return x * v.y; };
  b[6] = l(3);
  goto end;
end:;
  switch (b[6]) {
    case 6:
      b[7] = 1;
      break;
    default:
      b[7] = 0;
  }
  int(*arr)[2] = (int(*)[2])b;
  arr[4][0] = 9;
  do {
    b[9] = 5;
  } while (0);
  b[10] = a[0] ?: 3;
}
int main(int argc, char* argv[]) {
  float* f;
  int* o;
  cudaMallocManaged(&f, 4096);
  cudaMallocManaged((void**)&o, 4096);
  memset(o, 0, 4096);
  dim3 g(1), b(N);
  int bad = 0;
  double t0 = wall();
  k1<<<g, b>>>(f, N);
  cudaDeviceSynchronize();
  printf("%f\n", f[0]);
  k2<float, BS><<<1, BS>>>(f);
  k2<short, BS><<<1, BS>>>((short*)f, 3);
  k2<double, 64><<<1, 64, 0, 0>>>((double*)f, 2.5);
  Part p = {1, 2, 3, 4};
  cpx* c;
  cudaMallocManaged(&c, 8);
  c->re = 5;
  k3<<<1, 1>>>(o, p, c);
  cudaDeviceSynchronize();
  bad |= *o != 9;
  k4<<<1, 1>>>(o);
  cudaDeviceSynchronize();
  bad |= (*o != 42) << 1;
  k5<<<1, 1>>>(Local{8}, o);
  cudaDeviceSynchronize();
  bad |= (*o != 8) << 2;
  k6<<<1, 1>>>(o, 1, 2, 3);
  cudaDeviceSynchronize();
  bad |= (*o != 6) << 3;
  memset(o, 0, 4096);
  k7<<<1, 1>>>(o);
  cudaDeviceSynchronize();
  int e[16] = {3, 4, 1, 1, 1, 4, 3, 16, 6, 0 + 1 + 2 + 2, 11, 0, 0, 0x40220000, 7, 64 + 4 + 31 + 2};
  for (int i = 0; i < 16; i++)
    if (o[i] != e[i]) {
      printf("k7 %d: %d %d\n", i, o[i], e[i]);
      bad |= 16;
    }
  k8<<<1, 1>>>(o);
  cudaDeviceSynchronize();
  bad |= (*o != 20) << 5;
  kern ks[2] = {ka, kb};
  for (int i = 0; i < 2; i++) {
    ks[i]<<<1, 1>>>(o);
    cudaDeviceSynchronize();
    bad |= (*o != i + 1) << 6;
  }
  int* in;
  cudaMallocManaged(&in, 16);
  in[0] = 1;
  in[1] = 2;
  k9<<<1, 1>>>(in, o);
  cudaDeviceSynchronize();
  bad |= (o[6] != 6 || o[7] != 1 || o[8] != 9 || o[10] != 1) << 7;
  float q;
  host(&q);
  bad |= (q != 3) << 8;
  printf("%s %d\n", bad ? "FAILED" : "PASSED", bad);
  (void)t0;
  return bad;
}
