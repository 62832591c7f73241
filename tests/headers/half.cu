// half: conversions, arithmetic, comparisons, functions, pairs, memory, atomics; on the host as on the device.
#include <cuda_fp16.h>

typedef half T;
typedef __half2 T2;
static_assert(sizeof(T) == 2 && sizeof(T2) == 4 && alignof(T2) == 4, "");

__host__ __device__ float both(T a, T b, T c) {
  T x = __float2half(1.5f) + __float2half_rz(0.1f) * __float2half_ru(0.1f) - __float2half_rd(0.1f) / __double2half(3.0);
  x += a;
  x -= b;
  x *= c;
  x /= T(3.0f);
  x++;
  --x;
  x = -x + __habs(a) + __hneg(b) + __hadd(a, b) + __hsub(a, b) + __hmul(a, b) + __hdiv(a, b) + __hadd_rn(a, b) +
      __hadd_sat(a, b) + __hmul_sat(a, b) + __hmax(a, b) + __hmin(a, b) + __hmax_nan(a, b) + __hmin_nan(a, b) +
      __hfma(a, b, c) + __hfma_sat(a, b, c) + __hfma_relu(a, b, c);
  int n = (a == b) + (a != b) + (a < b) + (a <= b) + (a > b) + (a >= b) + __heq(a, b) + __hne(a, b) + __hlt(a, b) +
          __hequ(a, b) + __hneu(a, b) + __hltu(a, b) + __hisnan(a) + __hisinf(a);
  n += __half_as_short(a) + __half_as_ushort(b) + __half2int_rn(a);
  T2 p = __floats2half2_rn(1.0f, 2.0f), q = T2(a, b);
  p = p + q * q - q / p;
  p += __hadd2(p, q) + __hmul2_sat(p, q) + __hfma2(p, q, q) + __hmax2(p, q) + __hneg2(p) + __habs2(q) + __hcmadd(p, q, q) + __h2div(p, q);
  n += __hbeq2(p, q) + __hblt2(p, q) + (int)__heq2_mask(p, q) + (p == q) + (p < q);
  const T2 e = __heq2(p, q);
  const float s = x;
  return s + n + __low2float(e) + __high2float(e) + (float)T(3) + (float)T(3ll) + (float)T(2.5) + (x ? 1.0f : 0.0f);
}

__global__ void kernel(T* h, T2* p, float* f) {
  f[0] = both(h[0], h[1], h[2]);
  h[0] = hexp(h[0]) + hexp2(h[0]) + hexp10(h[0]) + hlog(h[0]) + hlog2(h[0]) + hlog10(h[0]) + hsin(h[0]) + hcos(h[0]) + htanh(h[0]) +
         htanh_approx(h[0]) + hsqrt(h[0]) + hrsqrt(h[0]) + hrcp(h[0]) + hfloor(h[0]) + hceil(h[0]) + htrunc(h[0]) + hrint(h[0]);
  p[0] = h2exp(p[0]) + h2log(p[0]) + h2sqrt(p[0]) + h2rcp(p[0]) + h2tanh_approx(p[0]) + h2rint(p[0]);
  h[1] = __shfl_sync(0xffffffff, h[1], 0) + __shfl_down_sync(0xffffffff, h[1], 1) + __shfl_xor_sync(0xffffffff, h[1], 1) + __ldg(h) + __ldcg(h);
  p[1] = __shfl_up_sync(0xffffffff, p[1], 1) + __ldg(p);
  __stcg(h + 3, h[1]);
  __stcs(p + 3, p[1]);
  atomicAdd(h + 4, h[0]);
  atomicAdd(p + 4, p[0]);
}
float host() { return both(T(1.0f), T(2.0f), T(3.0f)); }
__global__ void half2_from_braces(__half2* p, __half h) {
  p[0] = {h, h};
  p[1] = {};
  __half2_raw raw;
  raw.x = raw.y = 0x3c00;
  p[2] = raw;
}
