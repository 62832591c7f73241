// Powers of two in one byte: the scales of blocks of small numbers. 0xff is NaN; there is no sign and no zero.
#ifndef WARPBEAM_DEVICE_E8M0_H
#define WARPBEAM_DEVICE_E8M0_H

WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double x, const __nv_saturation_t saturate,
                                                          const enum cudaRoundMode rounding) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x) & ~(1ull << 63);
  const unsigned long long fraction = bits & 0xfffffffffffffull, half = 1ull << 51;
  if (x != x) return 0xff;
  int exponent = (int)(bits >> 52) - 1023;
  if (exponent < -127) return 0;
  if (rounding == cudaRoundPosInf ? fraction != 0 : rounding == cudaRoundNearest && fraction >= half) exponent++;
  // A finite double that is rounded down is at most the largest float.
  const bool finite_down = rounding == cudaRoundZero && exponent <= 1023;
  if (exponent > 127) return saturate == __NV_SATFINITE || finite_down ? 0xfe : 0xff;
  return (__nv_fp8_storage_t)(exponent + 127);
}
WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float x, const __nv_saturation_t saturate,
                                                         const enum cudaRoundMode rounding) {
  return __nv_cvt_double_to_e8m0((double)x, saturate, rounding);
}
WB_HOST_DEVICE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
                                                               const enum cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__bfloat162float(__nv_bfloat16(x)), saturate, rounding);
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 x, const __nv_saturation_t saturate,
                                                               const enum cudaRoundMode rounding) {
  return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_e8m0(x.x, saturate, rounding) |
                                __nv_cvt_double_to_e8m0(x.y, saturate, rounding) << 8);
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 x, const __nv_saturation_t saturate,
                                                              const enum cudaRoundMode rounding) {
  return __nv_cvt_double2_to_e8m0x2(make_double2(x.x, x.y), saturate, rounding);
}
WB_HOST_DEVICE __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(const __nv_bfloat162_raw x, const __nv_saturation_t saturate,
                                                                    const enum cudaRoundMode rounding) {
  return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, rounding);
}
// 2^-127 is a subnormal bfloat16.
WB_HOST_DEVICE __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
  __nv_bfloat16_raw result;
  result.x = (unsigned short)(x == 0xff ? 0x7fff : x == 0 ? 0x0040 : x << 7);
  return result;
}
WB_HOST_DEVICE __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
  __nv_bfloat162_raw result;
  result.x = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x;
  result.y = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x;
  return result;
}

// Constructors round up, so that what is divided by the scale fits.
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  explicit __host__ __device__ __nv_fp8_e8m0(const double f) : __x(__nv_cvt_double_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const float f) : __x(__nv_cvt_float_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const __half f) : __nv_fp8_e8m0(__half2float(f)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const __nv_bfloat16 f) : __nv_fp8_e8m0(__bfloat162float(f)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const short v) : __nv_fp8_e8m0((double)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const unsigned short v) : __nv_fp8_e8m0((double)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const int v) : __nv_fp8_e8m0((double)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const unsigned int v) : __nv_fp8_e8m0((double)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const long v) : __nv_fp8_e8m0((long long)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const unsigned long v) : __nv_fp8_e8m0((unsigned long long)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(const long long v) : __nv_fp8_e8m0(v < 0 ? 0ull - (unsigned long long)v : (unsigned long long)v) {}
  // double may not hold it: a rest below the leading bit only matters as such.
  explicit __host__ __device__ __nv_fp8_e8m0(const unsigned long long v)
      : __nv_fp8_e8m0(v >> 53 ? (double)((v >> 12) | ((v & 0xfff) != 0)) * 4096 : (double)v) {}

  explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  explicit __host__ __device__ operator float() const { return __bfloat162float((__nv_bfloat16)*this); }
  explicit __host__ __device__ operator double() const { return (double)(float)*this; }
  explicit __host__ __device__ operator __half() const { return __float2half((float)*this); }
#define WB_INTEGER(T, most)                                                                                          \
  explicit __host__ __device__ operator T() const {                                                                  \
    return __x == 0xff ? (T)(sizeof(T) == 8 ? 1ull << 63 : 0) : __x >= 127 + 8 * sizeof(T) - ((T)-1 < 0) ? (T)(most) : (T)(float)*this;              \
  }
  WB_INTEGER(signed char, 0x7f)
  WB_INTEGER(unsigned char, 0xff)
  WB_INTEGER(short, 0x7fff)
  WB_INTEGER(unsigned short, 0xffff)
  WB_INTEGER(int, 0x7fffffff)
  WB_INTEGER(unsigned int, 0xffffffffu)
  WB_INTEGER(long, 0x7fffffffffffffffl)
  WB_INTEGER(unsigned long, 0xfffffffffffffffful)
  WB_INTEGER(long long, 0x7fffffffffffffffll)
  WB_INTEGER(unsigned long long, 0xffffffffffffffffull)
#undef WB_INTEGER
  explicit __host__ __device__ operator char() const { return (char)(signed char)*this; }
  explicit __host__ __device__ operator bool() const { return true; }
};

struct __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  explicit __host__ __device__ __nv_fp8x2_e8m0(const double2 f) : __x(__nv_cvt_double2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8x2_e8m0(const float2 f) : __x(__nv_cvt_float2_to_e8m0x2(f, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8x2_e8m0(const __half2 f) : __nv_fp8x2_e8m0(__half22float2(f)) {}
  explicit __host__ __device__ __nv_fp8x2_e8m0(const __nv_bfloat162 f) : __nv_fp8x2_e8m0(__bfloat1622float2(f)) {}
  explicit __host__ __device__ operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
  explicit __host__ __device__ operator float2() const { return __bfloat1622float2((__nv_bfloat162)*this); }
  explicit __host__ __device__ operator __half2() const {
    const float2 f = (float2)*this;
    return __floats2half2_rn(f.x, f.y);
  }
};

struct __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
  explicit __host__ __device__ __nv_fp8x4_e8m0(const float4 f) : __x(join(make_double2(f.x, f.y), make_double2(f.z, f.w))) {}
  explicit __host__ __device__ __nv_fp8x4_e8m0(const double4 f) : __x(join(make_double2(f.x, f.y), make_double2(f.z, f.w))) {}
  explicit __host__ __device__ __nv_fp8x4_e8m0(const __half2 low, const __half2 high)
      : __x(__nv_fp8x2_e8m0(low).__x | (unsigned int)__nv_fp8x2_e8m0(high).__x << 16) {}
  explicit __host__ __device__ __nv_fp8x4_e8m0(const __nv_bfloat162 low, const __nv_bfloat162 high)
      : __x(__nv_fp8x2_e8m0(low).__x | (unsigned int)__nv_fp8x2_e8m0(high).__x << 16) {}
  explicit __host__ __device__ operator float4() const {
    __nv_fp8x2_e8m0 low, high;
    low.__x = (__nv_fp8x2_storage_t)__x;
    high.__x = (__nv_fp8x2_storage_t)(__x >> 16);
    const float2 a = (float2)low, b = (float2)high;
    return make_float4(a.x, a.y, b.x, b.y);
  }

 private:
  static __host__ __device__ __nv_fp8x4_storage_t join(double2 low, double2 high) {
    return __nv_fp8x2_e8m0(low).__x | (unsigned int)__nv_fp8x2_e8m0(high).__x << 16;
  }
};

#endif
