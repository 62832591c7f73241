// What the lanes of a warp do together: votes, shuffles, matches, reductions.
#ifndef WARPBEAM_DEVICE_WARP_H
#define WARPBEAM_DEVICE_WARP_H

#include "attributes.h"

#define WB_TOGETHER static __inline__ __attribute__((always_inline, nodebug, unused, convergent)) __device__

WB_TOGETHER unsigned int __activemask() {
  unsigned int mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}
WB_TOGETHER int __all_sync(unsigned int mask, int predicate) { return __nvvm_vote_all_sync(mask, predicate); }
WB_TOGETHER int __any_sync(unsigned int mask, int predicate) { return __nvvm_vote_any_sync(mask, predicate); }
WB_TOGETHER int __uni_sync(unsigned int mask, int predicate) { return __nvvm_vote_uni_sync(mask, predicate); }
WB_TOGETHER unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return __nvvm_vote_ballot_sync(mask, predicate);
}

// The forms without a mask mean the lanes that happen to be active. The instructions are gone since compute capability
// 7.0; the names work on every one.
WB_TOGETHER int __all(int predicate) { return __all_sync(__activemask(), predicate); }
WB_TOGETHER int __any(int predicate) { return __any_sync(__activemask(), predicate); }
WB_TOGETHER unsigned int __ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }

// Shuffles. The last operand of the instruction holds the width's segment mask and the clamp: the last lane of the
// segment, or for shfl.up the first.
#define WB_DEFINE_SHUFFLE_32(T, name, builtin, Operand, clamp)                                              \
  WB_TOGETHER T name##_sync(unsigned int mask, T value, Operand operand, int width = 32) {                  \
    return __builtin_bit_cast(                                                                              \
        T, builtin(mask, __builtin_bit_cast(int, value), (int)operand, ((32 - width) << 8) | clamp));       \
  }                                                                                                         \
  WB_TOGETHER T name(T value, Operand operand, int width = 32) {                                            \
    return name##_sync(__activemask(), value, operand, width);                                              \
  }
#define WB_DEFINE_SHUFFLE_64(T, name, builtin, Operand, clamp)                                              \
  WB_TOGETHER T name##_sync(unsigned int mask, T value, Operand operand, int width = 32) {                  \
    const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);                          \
    const int c = ((32 - width) << 8) | clamp;                                                              \
    const unsigned int low = (unsigned int)builtin(mask, (int)bits, (int)operand, c);                       \
    const unsigned int high = (unsigned int)builtin(mask, (int)(bits >> 32), (int)operand, c);              \
    return __builtin_bit_cast(T, (unsigned long long)high << 32 | low);                                     \
  }                                                                                                         \
  WB_TOGETHER T name(T value, Operand operand, int width = 32) {                                            \
    return name##_sync(__activemask(), value, operand, width);                                              \
  }
#define WB_DEFINE_SHUFFLES(name, builtin, Operand, clamp)                  \
  WB_DEFINE_SHUFFLE_32(int, name, builtin, Operand, clamp)                 \
  WB_DEFINE_SHUFFLE_32(unsigned int, name, builtin, Operand, clamp)        \
  WB_DEFINE_SHUFFLE_32(float, name, builtin, Operand, clamp)               \
  WB_DEFINE_SHUFFLE_64(long, name, builtin, Operand, clamp)                \
  WB_DEFINE_SHUFFLE_64(unsigned long, name, builtin, Operand, clamp)       \
  WB_DEFINE_SHUFFLE_64(long long, name, builtin, Operand, clamp)           \
  WB_DEFINE_SHUFFLE_64(unsigned long long, name, builtin, Operand, clamp)  \
  WB_DEFINE_SHUFFLE_64(double, name, builtin, Operand, clamp)
#if WB_HAS_ARCH(300)
WB_DEFINE_SHUFFLES(__shfl, __nvvm_shfl_sync_idx_i32, int, 0x1f)
WB_DEFINE_SHUFFLES(__shfl_up, __nvvm_shfl_sync_up_i32, unsigned int, 0)
WB_DEFINE_SHUFFLES(__shfl_down, __nvvm_shfl_sync_down_i32, unsigned int, 0x1f)
WB_DEFINE_SHUFFLES(__shfl_xor, __nvvm_shfl_sync_bfly_i32, int, 0x1f)
#endif
#undef WB_DEFINE_SHUFFLE_32
#undef WB_DEFINE_SHUFFLE_64
#undef WB_DEFINE_SHUFFLES

#define WB_DEFINE_MATCH(T, Bits, code)                                                               \
  WB_TOGETHER unsigned int __match_any_sync(unsigned int mask, T value) {                            \
    return (unsigned int)__nvvm_match_any_sync_##code(mask, __builtin_bit_cast(Bits, value));        \
  }                                                                                                  \
  WB_TOGETHER unsigned int __match_all_sync(unsigned int mask, T value, int* pred) {                 \
    return (unsigned int)__nvvm_match_all_sync_##code##p(mask, __builtin_bit_cast(Bits, value), pred); \
  }
#if WB_HAS_ARCH(700)
WB_DEFINE_MATCH(int, unsigned int, i32)
WB_DEFINE_MATCH(unsigned int, unsigned int, i32)
WB_DEFINE_MATCH(float, unsigned int, i32)
WB_DEFINE_MATCH(long, unsigned long long, i64)
WB_DEFINE_MATCH(unsigned long, unsigned long long, i64)
WB_DEFINE_MATCH(long long, unsigned long long, i64)
WB_DEFINE_MATCH(unsigned long long, unsigned long long, i64)
WB_DEFINE_MATCH(double, unsigned long long, i64)
#endif
#undef WB_DEFINE_MATCH

#if WB_HAS_ARCH(800)
WB_TOGETHER int __reduce_add_sync(unsigned int mask, int value) { return __nvvm_redux_sync_add(value, mask); }
WB_TOGETHER unsigned int __reduce_add_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_add((int)value, mask);
}
WB_TOGETHER int __reduce_min_sync(unsigned int mask, int value) { return __nvvm_redux_sync_min(value, mask); }
WB_TOGETHER int __reduce_max_sync(unsigned int mask, int value) { return __nvvm_redux_sync_max(value, mask); }
WB_TOGETHER unsigned int __reduce_min_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umin(value, mask);
}
WB_TOGETHER unsigned int __reduce_max_sync(unsigned int mask, unsigned int value) {
  return __nvvm_redux_sync_umax(value, mask);
}
WB_TOGETHER unsigned int __reduce_and_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_and((int)value, mask);
}
WB_TOGETHER unsigned int __reduce_or_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_or((int)value, mask);
}
WB_TOGETHER unsigned int __reduce_xor_sync(unsigned int mask, unsigned int value) {
  return (unsigned int)__nvvm_redux_sync_xor((int)value, mask);
}
#endif

#endif
