// Arithmetic and conversions in every rounding mode, and the bits of floating-point numbers.
__device__ float f;
__device__ double d;
__device__ long long ll;

__global__ void arithmetic() {
#define MODE(r)                                                                                                      \
  f = __fadd_##r(f, 1) + __fsub_##r(f, 1) + __fmul_##r(f, 3) + __fdiv_##r(f, 3) + __fmaf_##r(f, f, 1) + __frcp_##r(f) + \
      __fsqrt_##r(f) + __fmaf_ieee_##r(f, f, 1);                                                                     \
  d = __dadd_##r(d, 1) + __dsub_##r(d, 1) + __dmul_##r(d, 3) + __ddiv_##r(d, 3) + __fma_##r(d, d, 1) + __drcp_##r(d) + \
      __dsqrt_##r(d);
  MODE(rn) MODE(rz) MODE(ru) MODE(rd)
#undef MODE
}

__global__ void conversions() {
#define MODE(r)                                                                                                 \
  ll += __float2int_##r(f) + __float2uint_##r(f) + __float2ll_##r(f) + (long long)__float2ull_##r(f);           \
  ll += __double2int_##r(d) + __double2uint_##r(d) + __double2ll_##r(d) + (long long)__double2ull_##r(d);       \
  f += __int2float_##r((int)ll) + __uint2float_##r((unsigned)ll) + __ll2float_##r(ll) +                         \
       __ull2float_##r((unsigned long long)ll) + __double2float_##r(d);                                         \
  d += __ll2double_##r(ll) + __ull2double_##r((unsigned long long)ll);
  MODE(rn) MODE(rz) MODE(ru) MODE(rd)
#undef MODE
  d += __int2double_rn((int)ll) + __uint2double_rn((unsigned)ll);
  ll += __float_as_int(f) + __float_as_uint(f) + __double_as_longlong(d) + __double2hiint(d) + __double2loint(d);
  f += __int_as_float((int)ll) + __uint_as_float((unsigned)ll);
  d += __longlong_as_double(ll) + __hiloint2double((int)ll, 1);
}
