// The 8-bit formats: conversions from and to every type, on the host as on the device.
#include <cuda_fp8.h>

static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(__nv_fp8x2_e5m2) == 2 && sizeof(__nv_fp8x4_e4m3) == 4, "");

template <class T, class T2, class T4>
__host__ __device__ float all(float f) {
  const T a(f), b((double)f), c(__float2half(f)), d(__float2bfloat16(f)), e((int)f);
  const T2 p(make_float2(f, -f)), q(make_double2(f, f)), r(__floats2half2_rn(f, f));
  const T4 v(make_float4(f, 1, 2, 3)), w(__floats2half2_rn(f, f), __floats2half2_rn(f, f));
  return (float)a + (float)(double)b + (float)(int)c + (float)(__half)d + (float)(__nv_bfloat16)e + ((bool)a ? 1.0f : 0.0f) +
         ((float2)p).y + ((float2)q).x + __low2float((__half2)r) + ((float4)v).w + ((float4)w).x;
}
__host__ __device__ float both(float f) {
  const __nv_fp8_storage_t x = __nv_cvt_float_to_fp8(f, __NV_NOSAT, __NV_E5M2);
  const __half_raw h = __nv_cvt_fp8_to_halfraw(x, __NV_E5M2);
  return all<__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(f) + all<__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(f) +
         __half2float(__half(h));
}
__global__ void kernel(float* f) { f[0] = both(f[1]); }
float host() { return both(3.0f); }
__host__ __device__ float scales(float f) {
  const __nv_fp8_e8m0 a(f), b((double)f), c(__float2half(f)), d(__float2bfloat16(f)), e((int)f), g((unsigned long long)f);
  const __nv_fp8x2_e8m0 p(make_float2(f, f)), q(__floats2half2_rn(f, f));
  const __nv_fp8x4_e8m0 v(make_float4(f, 1, 2, 3));
  return (float)a + (float)(double)b + (float)(int)c + (float)(__half)d + (float)(__nv_bfloat16)e + ((bool)g ? 1.0f : 0.0f) +
         ((float2)p).y + __low2float((__half2)q) + ((float4)v).w;
}
__global__ void scale_kernel(float* f) { f[0] = scales(f[1]); }
