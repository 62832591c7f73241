// The formats of 4 and 6 bits: conversions from and to every type, on the host as on the device.
#include <cuda_fp4.h>
#include <cuda_fp6.h>

static_assert(sizeof(__nv_fp4_e2m1) == 1 && sizeof(__nv_fp4x2_e2m1) == 1 && sizeof(__nv_fp4x4_e2m1) == 2, "");
static_assert(sizeof(__nv_fp6_e2m3) == 1 && sizeof(__nv_fp6x2_e2m3) == 2 && sizeof(__nv_fp6x4_e3m2) == 4, "");

template <class T, class T2, class T4>
__host__ __device__ float all(float f) {
  const T a(f), b((double)f), c(__float2half(f)), d(__float2bfloat16(f)), e((int)f);
  const T2 p(make_float2(f, -f)), q(make_double2(f, f)), r(__floats2half2_rn(f, f)), s(__floats2bfloat162_rn(f, f));
  const T4 v(make_float4(f, 1, 2, 3)), w(__floats2half2_rn(f, f), __floats2half2_rn(f, f));
  return (float)a + (float)(double)b + (float)(int)c + (float)(__half)d + (float)(__nv_bfloat16)e + ((bool)a ? 1.0f : 0.0f) +
         ((float2)p).y + ((float2)q).x + __low2float((__half2)r) + __low2float((__nv_bfloat162)s) + ((float4)v).w + ((float4)w).x;
}
__host__ __device__ float both(float f) {
  const __half_raw h = __nv_cvt_fp4_to_halfraw(__nv_cvt_float_to_fp4(f, __NV_E2M1, cudaRoundNearest), __NV_E2M1);
  const __half2_raw h2 = __nv_cvt_fp6x2_to_halfraw2(__nv_cvt_float2_to_fp6x2(make_float2(f, f), __NV_E3M2, cudaRoundZero), __NV_E3M2);
  return all<__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1>(f) + all<__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3>(f) +
         all<__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2>(f) + __half2float(__half(h)) + __high2float(__half2(h2));
}
__global__ void kernel(float* f) { f[0] = both(f[1]); }
float host() { return both(3.0f); }
