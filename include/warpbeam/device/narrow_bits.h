// Floating-point formats of 4 and 6 bits: a sign, an exponent, a fraction, and neither infinities nor NaN.
#ifndef WARPBEAM_DEVICE_NARROW_BITS_H
#define WARPBEAM_DEVICE_NARROW_BITS_H

struct wb_narrow_shape {
  int exponent_bits, fraction_bits, bias;
};

// `nearest` rounds ties to even; else towards zero. What is too large becomes the largest number, and so does NaN.
WB_HOST_DEVICE unsigned char wb_narrow_bits(const double x, const wb_narrow_shape shape, const bool nearest) {
  const int width = shape.exponent_bits + shape.fraction_bits;
  const unsigned int largest = (1u << width) - 1;
  if (x != x) return (unsigned char)largest;
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  const unsigned int sign = (unsigned int)(bits >> 63) << width;
  const int least = 1 - shape.bias;  // the exponent of subnormal numbers
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent < least) exponent = least;
  if (exponent > least + (1 << shape.exponent_bits)) return (unsigned char)(sign | largest);
  // In units of the last place: exact, for the factor is a power of two.
  const double unit = __builtin_bit_cast(double, (unsigned long long)(1023 + shape.fraction_bits - exponent) << 52);
  const double units = (x < 0 ? -x : x) * unit;
  unsigned int count = (unsigned int)units;
  const double rest = units - count;
  if (nearest && (rest > 0.5 || (rest == 0.5 && (count & 1)))) count++;
  // Above the subnormal numbers the count has the leading 1, which the exponent then lacks.
  count += (unsigned int)(exponent - least) << shape.fraction_bits;
  return (unsigned char)(sign | (count < largest ? count : largest));
}

WB_HOST_DEVICE float wb_narrow_value(const unsigned int bits, const wb_narrow_shape shape) {
  const int width = shape.exponent_bits + shape.fraction_bits;
  const unsigned int exponent = (bits & ((1u << width) - 1)) >> shape.fraction_bits;
  const unsigned int fraction = bits & ((1u << shape.fraction_bits) - 1);
  const unsigned int count = exponent ? fraction | 1u << shape.fraction_bits : fraction;
  const int place = (int)(exponent ? exponent : 1) - shape.bias - shape.fraction_bits;
  const float magnitude = (float)count * __builtin_bit_cast(float, (unsigned int)(127 + place) << 23);
  return bits >> width & 1 ? -magnitude : magnitude;
}

// The conversions of a width, which the formats of that width share.
#define WB_NARROW_CONVERSIONS(fp, Kind, S, S2, shift)                                                                        \
  WB_HOST_DEVICE S __nv_cvt_double_to_##fp(const double x, const Kind kind, const enum cudaRoundMode rounding) {             \
    return wb_narrow_bits(x, wb_shape_of(kind), rounding == cudaRoundNearest);                                               \
  }                                                                                                                          \
  WB_HOST_DEVICE S __nv_cvt_float_to_##fp(const float x, const Kind kind, const enum cudaRoundMode rounding) {               \
    return __nv_cvt_double_to_##fp((double)x, kind, rounding);                                                               \
  }                                                                                                                          \
  WB_HOST_DEVICE S __nv_cvt_halfraw_to_##fp(const __half_raw x, const Kind kind, const enum cudaRoundMode rounding) {        \
    return __nv_cvt_float_to_##fp(__half2float(__half(x)), kind, rounding);                                                  \
  }                                                                                                                          \
  WB_HOST_DEVICE S __nv_cvt_bfloat16raw_to_##fp(const __nv_bfloat16_raw x, const Kind kind,                                  \
                                                const enum cudaRoundMode rounding) {                                         \
    return __nv_cvt_float_to_##fp(__bfloat162float(__nv_bfloat16(x)), kind, rounding);                                       \
  }                                                                                                                          \
  WB_HOST_DEVICE S2 __nv_cvt_double2_to_##fp##x2(const double2 x, const Kind kind, const enum cudaRoundMode rounding) {      \
    return (S2)(__nv_cvt_double_to_##fp(x.x, kind, rounding) | __nv_cvt_double_to_##fp(x.y, kind, rounding) << shift);       \
  }                                                                                                                          \
  WB_HOST_DEVICE S2 __nv_cvt_float2_to_##fp##x2(const float2 x, const Kind kind, const enum cudaRoundMode rounding) {        \
    return __nv_cvt_double2_to_##fp##x2(make_double2(x.x, x.y), kind, rounding);                                             \
  }                                                                                                                          \
  WB_HOST_DEVICE S2 __nv_cvt_halfraw2_to_##fp##x2(const __half2_raw x, const Kind kind, const enum cudaRoundMode rounding) { \
    return __nv_cvt_float2_to_##fp##x2(__half22float2(__half2(x)), kind, rounding);                                          \
  }                                                                                                                          \
  WB_HOST_DEVICE S2 __nv_cvt_bfloat16raw2_to_##fp##x2(const __nv_bfloat162_raw x, const Kind kind,                           \
                                                      const enum cudaRoundMode rounding) {                                   \
    return __nv_cvt_float2_to_##fp##x2(__bfloat1622float2(__nv_bfloat162(x)), kind, rounding);                               \
  }                                                                                                                          \
  WB_HOST_DEVICE __half_raw __nv_cvt_##fp##_to_halfraw(const S x, const Kind kind) {                                         \
    return (__half_raw)__float2half(wb_narrow_value(x, wb_shape_of(kind)));                                                  \
  }                                                                                                                          \
  WB_HOST_DEVICE __half2_raw __nv_cvt_##fp##x2_to_halfraw2(const S2 x, const Kind kind) {                                    \
    __half2_raw result;                                                                                                      \
    result.x = __nv_cvt_##fp##_to_halfraw((S)x, kind).x;                                                                     \
    result.y = __nv_cvt_##fp##_to_halfraw((S)(x >> shift), kind).x;                                                          \
    return result;                                                                                                           \
  }

#endif
