// Atomic functions: every operation, type and scope (device, and with _block and _system in the name). All are relaxed.
#ifndef WARPBEAM_DEVICE_ATOMICS_H
#define WARPBEAM_DEVICE_ATOMICS_H

#include "vector_types.h"

// function, type, scope in PTX, the builtin's operation, type and suffix
#define WB_ATOMICS(X, scope, s)                                                \
  X(atomicAdd##scope, int, s, add, int, i)                                     \
  X(atomicAdd##scope, unsigned int, s, add, int, i)                            \
  X(atomicAdd##scope, unsigned long long, s, add, long long, ll)               \
  X(atomicAdd##scope, float, s, add, float, f)                                 \
  X(atomicExch##scope, int, s, xchg, int, i)                                   \
  X(atomicExch##scope, unsigned int, s, xchg, int, i)                          \
  X(atomicExch##scope, unsigned long long, s, xchg, long long, ll)             \
  X(atomicExch##scope, float, s, xchg, int, i)                                 \
  X(atomicMin##scope, int, s, min, int, i)                                     \
  X(atomicMin##scope, unsigned int, s, min, unsigned int, ui)                  \
  X(atomicMin##scope, long long, s, min, long long, ll)                        \
  X(atomicMin##scope, unsigned long long, s, min, unsigned long long, ull)     \
  X(atomicMax##scope, int, s, max, int, i)                                     \
  X(atomicMax##scope, unsigned int, s, max, unsigned int, ui)                  \
  X(atomicMax##scope, long long, s, max, long long, ll)                        \
  X(atomicMax##scope, unsigned long long, s, max, unsigned long long, ull)     \
  X(atomicInc##scope, unsigned int, s, inc, unsigned int, ui)                  \
  X(atomicDec##scope, unsigned int, s, dec, unsigned int, ui)                  \
  X(atomicAnd##scope, int, s, and, int, i)                                     \
  X(atomicAnd##scope, unsigned int, s, and, int, i)                            \
  X(atomicAnd##scope, long long, s, and, long long, ll)                        \
  X(atomicAnd##scope, unsigned long long, s, and, long long, ll)               \
  X(atomicOr##scope, int, s, or, int, i)                                       \
  X(atomicOr##scope, unsigned int, s, or, int, i)                              \
  X(atomicOr##scope, long long, s, or, long long, ll)                          \
  X(atomicOr##scope, unsigned long long, s, or, long long, ll)                 \
  X(atomicXor##scope, int, s, xor, int, i)                                     \
  X(atomicXor##scope, unsigned int, s, xor, int, i)                            \
  X(atomicXor##scope, long long, s, xor, long long, ll)                        \
  X(atomicXor##scope, unsigned long long, s, xor, long long, ll)
#define WB_COMPARE_AND_SWAPS(X, scope, s)                                      \
  X(atomicCAS##scope, int, s, cas, int, i)                                     \
  X(atomicCAS##scope, unsigned int, s, cas, int, i)                            \
  X(atomicCAS##scope, unsigned long long, s, cas, long long, ll)

#define WB_DEFINE_ATOMIC(name, T, s, op, B, code)                                                        \
  WB_DEVICE T name(T* address, T value) {                                                             \
    return __builtin_bit_cast(T, __nvvm_atom_##op##_gen_##code((B*)address, __builtin_bit_cast(B, value))); \
  }
#define WB_DEFINE_CAS(name, T, s, op, B, code)                                                           \
  WB_DEVICE T name(T* address, T compare, T value) {                                                  \
    return (T)__nvvm_atom_##op##_gen_##code((B*)address, (B)compare, (B)value);                       \
  }
// Of other scopes clang's builtins compare numbers without a sign as if they had one. The memory is named where it is known:
// src/lowering/language/known_spaces.cc.
#define WB_DEFINE_SCOPED_ATOMIC(name, T, s, op, B, code)                                              \
  WB_DEVICE T name(T* address, T value) {                                                             \
    B old;                                                                                            \
    asm volatile("atom." #s "." WB_PTX_##op##_##code " %0, [%1], %2;"                                 \
                 : "=" WB_PTX_REGISTER_##code(old)                                                    \
                 : "l"(address), WB_PTX_REGISTER_##code(__builtin_bit_cast(B, value))                 \
                 : "memory");                                                                         \
    return __builtin_bit_cast(T, old);                                                                \
  }
#define WB_DEFINE_SCOPED_CAS(name, T, s, op, B, code)                                                 \
  WB_DEVICE T name(T* address, T compare, T value) {                                                  \
    B old;                                                                                            \
    asm volatile("atom." #s "." WB_PTX_##op##_##code " %0, [%1], %2, %3;"                             \
                 : "=" WB_PTX_REGISTER_##code(old)                                                    \
                 : "l"(address), WB_PTX_REGISTER_##code((B)compare), WB_PTX_REGISTER_##code((B)value) \
                 : "memory");                                                                         \
    return (T)old;                                                                                    \
  }
#define WB_PTX_REGISTER_i "r"
#define WB_PTX_REGISTER_ui "r"
#define WB_PTX_REGISTER_ll "l"
#define WB_PTX_REGISTER_ull "l"
#define WB_PTX_REGISTER_f "f"
#define WB_PTX_REGISTER_d "d"
#define WB_PTX_add_i "add.u32"
#define WB_PTX_add_ll "add.u64"
#define WB_PTX_add_f "add.f32"
#define WB_PTX_add_d "add.f64"
#define WB_PTX_xchg_i "exch.b32"
#define WB_PTX_xchg_ll "exch.b64"
#define WB_PTX_min_i "min.s32"
#define WB_PTX_min_ui "min.u32"
#define WB_PTX_min_ll "min.s64"
#define WB_PTX_min_ull "min.u64"
#define WB_PTX_max_i "max.s32"
#define WB_PTX_max_ui "max.u32"
#define WB_PTX_max_ll "max.s64"
#define WB_PTX_max_ull "max.u64"
#define WB_PTX_inc_ui "inc.u32"
#define WB_PTX_dec_ui "dec.u32"
#define WB_PTX_and_i "and.b32"
#define WB_PTX_and_ll "and.b64"
#define WB_PTX_or_i "or.b32"
#define WB_PTX_or_ll "or.b64"
#define WB_PTX_xor_i "xor.b32"
#define WB_PTX_xor_ll "xor.b64"
#define WB_PTX_cas_i "cas.b32"
#define WB_PTX_cas_ll "cas.b64"
#define WB_DEFINE_SUB(scope)                                                                          \
  WB_DEVICE int atomicSub##scope(int* address, int value) { return atomicAdd##scope(address, (int)-(unsigned int)value); } \
  WB_DEVICE unsigned int atomicSub##scope(unsigned int* address, unsigned int value) {                \
    return atomicAdd##scope(address, -value);                                                         \
  }

WB_ATOMICS(WB_DEFINE_ATOMIC, , )
WB_COMPARE_AND_SWAPS(WB_DEFINE_CAS, , )
WB_DEFINE_SUB()
#if WB_HAS_ARCH(600)
WB_ATOMICS(WB_DEFINE_SCOPED_ATOMIC, _block, cta)
WB_ATOMICS(WB_DEFINE_SCOPED_ATOMIC, _system, sys)
WB_COMPARE_AND_SWAPS(WB_DEFINE_SCOPED_CAS, _block, cta)
WB_COMPARE_AND_SWAPS(WB_DEFINE_SCOPED_CAS, _system, sys)
WB_DEFINE_SUB(_block)
WB_DEFINE_SUB(_system)
WB_DEFINE_SCOPED_ATOMIC(atomicAdd_block, double, cta, add, double, d)
WB_DEFINE_SCOPED_ATOMIC(atomicAdd_system, double, sys, add, double, d)
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
WB_DEFINE_ATOMIC(atomicAdd, double, , add, double, d)
#elif !defined(__CUDA_ARCH__)
// The programming guide's own atomicAdd for double stands under `#if __CUDA_ARCH__ < 600`, which is also true where
// __CUDA_ARCH__ is not defined: in the host pass that definition must find no other, which a template is not.
template <class T>
WB_DEVICE decltype((T*)0 == (double*)0, T()) atomicAdd(T* address, double value) {
  return __nvvm_atom_add_gen_d(address, value);
}
#endif

#define WB_DEFINE_CAS_16(name, instruction)                                                                         \
  WB_DEVICE unsigned short name(unsigned short* address, unsigned short compare, unsigned short value) {            \
    unsigned short old;                                                                                             \
    asm volatile(instruction " %0, [%1], %2, %3;" : "=h"(old) : "l"(address), "h"(compare), "h"(value) : "memory"); \
    return old;                                                                                                     \
  }
#if WB_HAS_ARCH(700)
WB_DEFINE_CAS_16(atomicCAS, "atom.cas.b16")
WB_DEFINE_CAS_16(atomicCAS_block, "atom.cta.cas.b16")
WB_DEFINE_CAS_16(atomicCAS_system, "atom.sys.cas.b16")
#endif

// Vectors of floats (each element is atomic by itself) and anything of 16 bytes.
#if WB_HAS_ARCH(900)
template <bool condition, class T>
struct wb_if_16_bytes {};
template <class T>
struct wb_if_16_bytes<true, T> {
  typedef T type;
};
#define WB_IF_16_BYTES(T) \
  typename wb_if_16_bytes<sizeof(T) == 16 && alignof(T) >= 16 && __is_trivially_copyable(T), T>::type
struct wb_words {
  unsigned long long low, high;
};
#define WB_DEFINE_WIDE_ATOMICS(scope, s)                                                                              \
  WB_DEVICE float2 atomicAdd##scope(float2* address, float2 value) {                                                  \
    float2 old;                                                                                                       \
    asm volatile("atom" s ".global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"                                              \
                 : "=f"(old.x), "=f"(old.y)                                                                           \
                 : "l"(address), "f"(value.x), "f"(value.y)                                                           \
                 : "memory");                                                                                         \
    return old;                                                                                                       \
  }                                                                                                                   \
  WB_DEVICE float4 atomicAdd##scope(float4* address, float4 value) {                                                  \
    float4 old;                                                                                                       \
    asm volatile("atom" s ".global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"                              \
                 : "=f"(old.x), "=f"(old.y), "=f"(old.z), "=f"(old.w)                                                 \
                 : "l"(address), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)                               \
                 : "memory");                                                                                         \
    return old;                                                                                                       \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  WB_DEVICE WB_IF_16_BYTES(T) atomicExch##scope(T* address, T value) {                                                \
    const wb_words v = __builtin_bit_cast(wb_words, value);                                                           \
    wb_words old;                                                                                                     \
    asm volatile(                                                                                                     \
        "{ .reg .b128 v, old; mov.b128 v, {%3, %4}; atom" s ".exch.b128 old, [%2], v; mov.b128 {%0, %1}, old; }"      \
        : "=l"(old.low), "=l"(old.high)                                                                               \
        : "l"(address), "l"(v.low), "l"(v.high)                                                                       \
        : "memory");                                                                                                  \
    return __builtin_bit_cast(T, old);                                                                                \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  WB_DEVICE WB_IF_16_BYTES(T) atomicCAS##scope(T* address, T compare, T value) {                                      \
    const wb_words c = __builtin_bit_cast(wb_words, compare);                                                         \
    const wb_words v = __builtin_bit_cast(wb_words, value);                                                           \
    wb_words old;                                                                                                     \
    asm volatile(                                                                                                     \
        "{ .reg .b128 c, v, old; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6};"                                         \
        " atom" s ".cas.b128 old, [%2], c, v; mov.b128 {%0, %1}, old; }"                                              \
        : "=l"(old.low), "=l"(old.high)                                                                               \
        : "l"(address), "l"(c.low), "l"(c.high), "l"(v.low), "l"(v.high)                                              \
        : "memory");                                                                                                  \
    return __builtin_bit_cast(T, old);                                                                                \
  }
WB_DEFINE_WIDE_ATOMICS(, "")
WB_DEFINE_WIDE_ATOMICS(_block, ".cta")
WB_DEFINE_WIDE_ATOMICS(_system, ".sys")
#undef WB_DEFINE_WIDE_ATOMICS
#undef WB_IF_16_BYTES
#endif

#undef WB_ATOMICS
#undef WB_COMPARE_AND_SWAPS
#undef WB_DEFINE_ATOMIC
#undef WB_DEFINE_CAS
#undef WB_DEFINE_SUB
#undef WB_DEFINE_SCOPED_ATOMIC
#undef WB_DEFINE_SCOPED_CAS
#undef WB_PTX_REGISTER_i
#undef WB_PTX_REGISTER_ui
#undef WB_PTX_REGISTER_ll
#undef WB_PTX_REGISTER_ull
#undef WB_PTX_REGISTER_f
#undef WB_PTX_REGISTER_d
#undef WB_PTX_add_i
#undef WB_PTX_add_ll
#undef WB_PTX_add_f
#undef WB_PTX_add_d
#undef WB_PTX_xchg_i
#undef WB_PTX_xchg_ll
#undef WB_PTX_min_i
#undef WB_PTX_min_ui
#undef WB_PTX_min_ll
#undef WB_PTX_min_ull
#undef WB_PTX_max_i
#undef WB_PTX_max_ui
#undef WB_PTX_max_ll
#undef WB_PTX_max_ull
#undef WB_PTX_inc_ui
#undef WB_PTX_dec_ui
#undef WB_PTX_and_i
#undef WB_PTX_and_ll
#undef WB_PTX_or_i
#undef WB_PTX_or_ll
#undef WB_PTX_xor_i
#undef WB_PTX_xor_ll
#undef WB_PTX_cas_i
#undef WB_PTX_cas_ll
#undef WB_DEFINE_CAS_16

#endif
