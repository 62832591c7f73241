// Numbers of 4, 6 and 8 bits: every one of them comes back from every type, ties go to even, and what does not fit saturates;
// on the device as on the host.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>

#define REQUIRE(condition)                                                  \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::printf("line %d: %s\n", __LINE__, #condition);                   \
      return 1;                                                             \
    }                                                                       \
  } while (0)

struct Answer {
  unsigned char fp4, down4, e2m3, e3m2, pair;
  unsigned short pair6, four;
  float back4, back23, back32;
};

__host__ __device__ Answer convert(float x) {
  Answer a;
  a.fp4 = __nv_fp4_e2m1(x).__x;
  a.down4 = __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundZero);
  a.e2m3 = __nv_fp6_e2m3(x).__x;
  a.e3m2 = __nv_fp6_e3m2(__float2bfloat16(x)).__x;
  a.pair = __nv_fp4x2_e2m1(make_float2(x, 1)).__x;
  a.pair6 = __nv_fp6x2_e3m2(make_double2(1, x)).__x;
  a.four = __nv_fp4x4_e2m1(make_float4(1, x, -1, x)).__x;
  a.back4 = (float)__nv_fp4_e2m1(x);
  a.back23 = (float)__nv_fp6_e2m3(x);
  a.back32 = (float)__nv_fp6_e3m2((double)x);
  return a;
}
__global__ void kernel(const float* x, Answer* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = convert(x[i]);
}

bool same(const Answer& a, const Answer& b) {
  return a.fp4 == b.fp4 && a.down4 == b.down4 && a.e2m3 == b.e2m3 && a.e3m2 == b.e3m2 && a.pair == b.pair && a.pair6 == b.pair6 &&
         a.four == b.four && a.back4 == b.back4 && a.back23 == b.back23 && a.back32 == b.back32;
}

// What a NaN becomes: of a double the sign stays, and in e5m2 the bits of the fraction that it has; of others nothing.
struct Nans {
  unsigned char e4m3, e5m2, e4m3_of_float, e5m2_of_float, e5m2_of_half;
  unsigned short pair;
};
__host__ __device__ Nans nans(double d, double other, float f, __half h) {
  return {__nv_cvt_double_to_fp8(d, __NV_NOSAT, __NV_E4M3),      __nv_cvt_double_to_fp8(d, __NV_SATFINITE, __NV_E5M2),
          __nv_fp8_e4m3(f).__x,                                  __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2),
          __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, __NV_E5M2), __nv_cvt_double2_to_fp8x2(make_double2(d, other), __NV_NOSAT, __NV_E5M2)};
}
__global__ void nans_of(const unsigned long long* bits, Nans* out) {
  const double d = __longlong_as_double(bits[threadIdx.x]);
  out[threadIdx.x] = nans(d, __longlong_as_double(bits[threadIdx.x] ^ 1ull << 63), -__int_as_float(0x7fc00000), __ushort_as_half(0xfe00));
}
int check_nans() {
  const unsigned long long bits[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff4000000000000, 0xfffc000000000001};
  const unsigned char wanted[][2] = {{0x7f, 0x7e}, {0xff, 0xfe}, {0x7f, 0x7f}, {0xff, 0xff}};
  unsigned long long* in;
  Nans *out, got[4];
  cudaMalloc(&in, sizeof bits);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(in, bits, sizeof bits, cudaMemcpyHostToDevice);
  nans_of<<<1, 4>>>(in, out);
  REQUIRE(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 4; i++) {
    REQUIRE(got[i].e4m3 == wanted[i][0] && got[i].e5m2 == wanted[i][1] && got[i].pair == (wanted[i][1] | (wanted[i][1] ^ 0x80) << 8));
    REQUIRE(got[i].e4m3_of_float == 0x7f && got[i].e5m2_of_float == 0x7f && got[i].e5m2_of_half == 0x7f);
  }
  const Nans here = nans(-NAN, NAN, -NAN, __ushort_as_half(0xfe00));
  REQUIRE(here.e4m3 == 0xff && here.e5m2 == 0xfe && here.e4m3_of_float == 0x7f && here.e5m2_of_float == 0x7f && here.e5m2_of_half == 0x7f);
  return 0;
}

int main() {
  if (check_nans()) return 1;
  // e2m1 has these and their negatives.
  const float numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int i = 0; i < 8; i++) {
    REQUIRE(__nv_fp4_e2m1(numbers[i]).__x == i && __nv_fp4_e2m1(-numbers[i]).__x == (i | 8));
    REQUIRE(__half2float(__half(__nv_cvt_fp4_to_halfraw(i, __NV_E2M1))) == numbers[i]);
    if (i == 0) continue;
    const float middle = (numbers[i - 1] + numbers[i]) / 2;
    REQUIRE(__nv_fp4_e2m1(middle).__x == (i % 2 ? i - 1 : i));
    REQUIRE(__nv_fp4_e2m1(std::nextafter(middle, 9.0f)).__x == i && __nv_fp4_e2m1(std::nextafter(middle, 0.0f)).__x == i - 1);
    REQUIRE(__nv_cvt_float_to_fp4(std::nextafter(numbers[i], 0.0f), __NV_E2M1, cudaRoundZero) == i - 1);
  }
  REQUIRE(__nv_fp4_e2m1(1e30f).__x == 7 && __nv_fp4_e2m1(-INFINITY).__x == 15 && __nv_fp4_e2m1(-NAN).__x == 7);
  REQUIRE((float)__nv_fp6_e2m3(100) == 7.5f && (float)__nv_fp6_e3m2(-100) == -28 && __nv_fp6_e3m2(NAN).__x == 31);
  REQUIRE((unsigned char)__nv_fp4_e2m1(-6.0f) == 0 && (int)__nv_fp4_e2m1(-1.5f) == -1 && (bool)__nv_fp6_e2m3(0.125f));
  for (int i = 0; i < 64; i++) {
    __nv_fp6_e2m3 a;
    __nv_fp6_e3m2 b;
    a.__x = b.__x = static_cast<unsigned char>(i);
    REQUIRE(__nv_fp6_e2m3((float)a).__x == i && __nv_fp6_e3m2((__half)b).__x == i);
  }

  constexpr int kCount = 4096;
  float* x;
  Answer* out;
  cudaMallocManaged(&x, kCount * sizeof(float));
  cudaMallocManaged(&out, kCount * sizeof(Answer));
  for (int i = 0; i < kCount; i++) x[i] = std::ldexp(static_cast<float>(i % 257 - 128), i / 257 - 10);
  kernel<<<kCount / 256, 256>>>(x, out, kCount);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < kCount; i++) REQUIRE(same(out[i], convert(x[i])));
}
