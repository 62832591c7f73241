// Minima and maxima of two and three with addition, clamping at zero and a predicate, on words and on pairs of
// halfwords, as dynamic programming uses them (__viaddmax_s32_relu …). Also in host code.
#ifndef WARPBEAM_DEVICE_DYNAMIC_PROGRAMMING_H
#define WARPBEAM_DEVICE_DYNAMIC_PROGRAMMING_H

#include "attributes.h"

#define WB_MIN(a, b) ((b) < (a) ? (b) : (a))
#define WB_MAX(a, b) ((a) < (b) ? (b) : (a))

#define WB_DEFINE_EXTREMUM_32(ext, PICK, T, t)                                                                   \
  WB_HOST_DEVICE T __vi##ext##3_##t(T a, T b, T c) { return PICK(PICK(a, b), c); }                                \
  WB_HOST_DEVICE T __viadd##ext##_##t(T a, T b, T c) {                                                           \
    const T sum = (T)((unsigned int)a + (unsigned int)b);                                                        \
    return PICK(sum, c);                                                                                         \
  }
#define WB_DEFINE_EXTREMUM_32_RELU(ext, PICK)                                                                    \
  WB_HOST_DEVICE int __vi##ext##_s32_relu(int a, int b) { const int r = PICK(a, b); return WB_MAX(r, 0); }       \
  WB_HOST_DEVICE int __vi##ext##3_s32_relu(int a, int b, int c) {                                                \
    const int r = __vi##ext##3_s32(a, b, c);                                                                     \
    return WB_MAX(r, 0);                                                                                         \
  }                                                                                                              \
  WB_HOST_DEVICE int __viadd##ext##_s32_relu(int a, int b, int c) {                                              \
    const int r = __viadd##ext##_s32(a, b, c);                                                                   \
    return WB_MAX(r, 0);                                                                                         \
  }
WB_DEFINE_EXTREMUM_32(max, WB_MAX, int, s32)
WB_DEFINE_EXTREMUM_32(min, WB_MIN, int, s32)
WB_DEFINE_EXTREMUM_32(max, WB_MAX, unsigned int, u32)
WB_DEFINE_EXTREMUM_32(min, WB_MIN, unsigned int, u32)
WB_DEFINE_EXTREMUM_32_RELU(max, WB_MAX)
WB_DEFINE_EXTREMUM_32_RELU(min, WB_MIN)

// The predicate is true where the first operand was taken; it is, when both are equal.
#define WB_DEFINE_PREDICATED_32(ext, op, T, t)                                \
  WB_HOST_DEVICE T __vib##ext##_##t(T a, T b, bool* pred) {                   \
    *pred = a op b;                                                           \
    return *pred ? a : b;                                                     \
  }
WB_DEFINE_PREDICATED_32(max, >=, int, s32)
WB_DEFINE_PREDICATED_32(min, <=, int, s32)
WB_DEFINE_PREDICATED_32(max, >=, unsigned int, u32)
WB_DEFINE_PREDICATED_32(min, <=, unsigned int, u32)

// Pairs: the same on each half.
#define WB_LOW(T, x) ((T)((x) & 0xffffu))
#define WB_HIGH(T, x) ((T)((x) >> 16))
#define WB_PAIR(high, low) (((unsigned int)(unsigned short)(high) << 16) | (unsigned short)(low))
#define WB_DEFINE_HALF_STEPS(ext, PICK, T, t)                                                                    \
  WB_HOST_DEVICE T wb_##ext##3_##t(T a, T b, T c) { const T r = PICK(a, b); return PICK(r, c); }                 \
  WB_HOST_DEVICE T wb_add##ext##_##t(T a, T b, T c) { const T sum = (T)(a + b); return PICK(sum, c); }
#define WB_DEFINE_PAIRS_3(name, step, T)                                                                         \
  WB_HOST_DEVICE unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                             \
    return WB_PAIR(step(WB_HIGH(T, a), WB_HIGH(T, b), WB_HIGH(T, c)), step(WB_LOW(T, a), WB_LOW(T, b), WB_LOW(T, c))); \
  }
#define WB_DEFINE_EXTREMUM_16(ext, PICK, op, T, t)                                                               \
  WB_DEFINE_HALF_STEPS(ext, PICK, T, t)                                                                          \
  WB_DEFINE_PAIRS_3(__vi##ext##3_##t##x2, wb_##ext##3_##t, T)                                                    \
  WB_DEFINE_PAIRS_3(__viadd##ext##_##t##x2, wb_add##ext##_##t, T)                                                \
  WB_HOST_DEVICE unsigned int __vib##ext##_##t##x2(unsigned int a, unsigned int b, bool* pred_hi, bool* pred_lo) { \
    *pred_hi = WB_HIGH(T, a) op WB_HIGH(T, b);                                                                   \
    *pred_lo = WB_LOW(T, a) op WB_LOW(T, b);                                                                     \
    return WB_PAIR((*pred_hi ? a : b) >> 16, *pred_lo ? a : b);                                                  \
  }
WB_DEFINE_EXTREMUM_16(max, WB_MAX, >=, short, s16)
WB_DEFINE_EXTREMUM_16(min, WB_MIN, <=, short, s16)
WB_DEFINE_EXTREMUM_16(max, WB_MAX, >=, unsigned short, u16)
WB_DEFINE_EXTREMUM_16(min, WB_MIN, <=, unsigned short, u16)

WB_HOST_DEVICE unsigned int wb_relu_s16x2(unsigned int x) {
  return (x & 0x80000000u ? 0 : x & 0xffff0000u) | (x & 0x8000u ? 0 : x & 0xffffu);
}
#define WB_DEFINE_EXTREMUM_16_RELU(ext)                                                                          \
  WB_HOST_DEVICE unsigned int __vi##ext##_s16x2_relu(unsigned int a, unsigned int b) {                           \
    return wb_relu_s16x2(__vi##ext##3_s16x2(a, b, b));                                                           \
  }                                                                                                              \
  WB_HOST_DEVICE unsigned int __vi##ext##3_s16x2_relu(unsigned int a, unsigned int b, unsigned int c) {          \
    return wb_relu_s16x2(__vi##ext##3_s16x2(a, b, c));                                                           \
  }                                                                                                              \
  WB_HOST_DEVICE unsigned int __viadd##ext##_s16x2_relu(unsigned int a, unsigned int b, unsigned int c) {        \
    return wb_relu_s16x2(__viadd##ext##_s16x2(a, b, c));                                                         \
  }
WB_DEFINE_EXTREMUM_16_RELU(max)
WB_DEFINE_EXTREMUM_16_RELU(min)

#undef WB_MIN
#undef WB_MAX
#undef WB_LOW
#undef WB_HIGH
#undef WB_PAIR
#undef WB_DEFINE_EXTREMUM_32
#undef WB_DEFINE_EXTREMUM_32_RELU
#undef WB_DEFINE_PREDICATED_32
#undef WB_DEFINE_HALF_STEPS
#undef WB_DEFINE_PAIRS_3
#undef WB_DEFINE_EXTREMUM_16
#undef WB_DEFINE_EXTREMUM_16_RELU

#endif
