// Loads and stores of global memory with a cache policy: __ldg, __ldcg, __ldca, __ldcs, __ldlu, __ldcv, and __stwb,
// __stcg, __stcs, __stwt, for every scalar and vector type.
#ifndef WARPBEAM_DEVICE_LOAD_STORE_H
#define WARPBEAM_DEVICE_LOAD_STORE_H

#include "vector_types.h"

// type, its register's type, the constraint and type name of the register
#define WB_SCALARS(X, ...)                                        \
  X(char, short, "h", "s8", __VA_ARGS__)                          \
  X(signed char, short, "h", "s8", __VA_ARGS__)                   \
  X(unsigned char, unsigned short, "h", "u8", __VA_ARGS__)        \
  X(short, short, "h", "s16", __VA_ARGS__)                        \
  X(unsigned short, unsigned short, "h", "u16", __VA_ARGS__)      \
  X(int, int, "r", "s32", __VA_ARGS__)                            \
  X(unsigned int, unsigned int, "r", "u32", __VA_ARGS__)          \
  X(long, long, "l", "s64", __VA_ARGS__)                          \
  X(unsigned long, unsigned long, "l", "u64", __VA_ARGS__)        \
  X(long long, long long, "l", "s64", __VA_ARGS__)                \
  X(unsigned long long, unsigned long long, "l", "u64", __VA_ARGS__) \
  X(float, float, "f", "f32", __VA_ARGS__)                        \
  X(double, double, "d", "f64", __VA_ARGS__)
// vector prefix, element, register's type, constraint, type name
#define WB_PAIRS(X, ...)                                          \
  X(char, signed char, short, "h", "s8", __VA_ARGS__)             \
  X(uchar, unsigned char, unsigned short, "h", "u8", __VA_ARGS__) \
  X(short, short, short, "h", "s16", __VA_ARGS__)                 \
  X(ushort, unsigned short, unsigned short, "h", "u16", __VA_ARGS__) \
  X(int, int, int, "r", "s32", __VA_ARGS__)                       \
  X(uint, unsigned int, unsigned int, "r", "u32", __VA_ARGS__)    \
  X(float, float, float, "f", "f32", __VA_ARGS__)
#define WB_WIDE_PAIRS(X, ...)                                     \
  X(long, long, long, "l", "s64", __VA_ARGS__)                    \
  X(ulong, unsigned long, unsigned long, "l", "u64", __VA_ARGS__) \
  X(longlong, long long, long long, "l", "s64", __VA_ARGS__)      \
  X(ulonglong, unsigned long long, unsigned long long, "l", "u64", __VA_ARGS__) \
  X(double, double, double, "d", "f64", __VA_ARGS__)

#define WB_DEFINE_LOAD(T, R, c, t, name, policy)                                              \
  WB_DEVICE T name(const T* p) {                                                              \
    R r;                                                                                      \
    asm volatile("ld.global." policy "." t " %0, [%1];" : "=" c(r) : "l"(p) : "memory");      \
    return (T)r;                                                                              \
  }
#define WB_DEFINE_LOAD_2(V, T, R, c, t, name, policy)                                         \
  WB_DEVICE V##2 name(const V##2* p) {                                                        \
    R x, y;                                                                                   \
    asm volatile("ld.global." policy ".v2." t " {%0, %1}, [%2];" : "=" c(x), "=" c(y) : "l"(p) : "memory"); \
    V##2 v = {(T)x, (T)y};                                                                    \
    return v;                                                                                 \
  }
#define WB_DEFINE_LOAD_4(V, T, R, c, t, name, policy)                                         \
  WB_DEVICE V##4 name(const V##4* p) {                                                        \
    R x, y, z, w;                                                                             \
    asm volatile("ld.global." policy ".v4." t " {%0, %1, %2, %3}, [%4];"                      \
                 : "=" c(x), "=" c(y), "=" c(z), "=" c(w)                                     \
                 : "l"(p)                                                                     \
                 : "memory");                                                                 \
    V##4 v = {(T)x, (T)y, (T)z, (T)w};                                                        \
    return v;                                                                                 \
  }
#define WB_DEFINE_LOADS(name, policy)                \
  WB_SCALARS(WB_DEFINE_LOAD, name, policy)           \
  WB_PAIRS(WB_DEFINE_LOAD_2, name, policy)           \
  WB_WIDE_PAIRS(WB_DEFINE_LOAD_2, name, policy)      \
  WB_PAIRS(WB_DEFINE_LOAD_4, name, policy)

#define WB_DEFINE_STORE(T, R, c, t, name, policy)                                             \
  WB_DEVICE void name(T* p, T v) {                                                            \
    asm volatile("st.global." policy "." t " [%0], %1;" ::"l"(p), c((R)v) : "memory");        \
  }
#define WB_DEFINE_STORE_2(V, T, R, c, t, name, policy)                                        \
  WB_DEVICE void name(V##2* p, V##2 v) {                                                      \
    asm volatile("st.global." policy ".v2." t " [%0], {%1, %2};" ::"l"(p), c((R)v.x), c((R)v.y) : "memory"); \
  }
#define WB_DEFINE_STORE_4(V, T, R, c, t, name, policy)                                        \
  WB_DEVICE void name(V##4* p, V##4 v) {                                                      \
    asm volatile("st.global." policy ".v4." t " [%0], {%1, %2, %3, %4};" ::"l"(p), c((R)v.x), c((R)v.y), \
                 c((R)v.z), c((R)v.w)                                                         \
                 : "memory");                                                                 \
  }
#define WB_DEFINE_STORES(name, policy)               \
  WB_SCALARS(WB_DEFINE_STORE, name, policy)          \
  WB_PAIRS(WB_DEFINE_STORE_2, name, policy)          \
  WB_WIDE_PAIRS(WB_DEFINE_STORE_2, name, policy)     \
  WB_PAIRS(WB_DEFINE_STORE_4, name, policy)

#if WB_HAS_ARCH(320)
WB_DEFINE_LOADS(__ldca, "ca")
WB_DEFINE_LOADS(__ldcg, "cg")
WB_DEFINE_LOADS(__ldcs, "cs")
WB_DEFINE_LOADS(__ldlu, "lu")
WB_DEFINE_LOADS(__ldcv, "cv")
WB_DEFINE_STORES(__stwb, "wb")
WB_DEFINE_STORES(__stcg, "cg")
WB_DEFINE_STORES(__stcs, "cs")
WB_DEFINE_STORES(__stwt, "wt")

// Read-only data, by clang's builtins: the optimizer may merge and move these loads.
#define WB_DEFINE_LDG(T, code) \
  WB_DEVICE T __ldg(const T* p) { return __nvvm_ldg_##code(p); }
#define WB_DEFINE_LDG_2(V, T, code)                                                            \
  WB_DEVICE V##2 __ldg(const V##2* p) {                                                        \
    typedef T Register __attribute__((ext_vector_type(2)));                                    \
    return __builtin_bit_cast(V##2, __nvvm_ldg_##code##2((const Register*)p));                 \
  }
#define WB_DEFINE_LDG_4(V, T, code)                                                            \
  WB_DEVICE V##4 __ldg(const V##4* p) {                                                        \
    typedef T Register __attribute__((ext_vector_type(4)));                                    \
    return __builtin_bit_cast(V##4, __nvvm_ldg_##code##4((const Register*)p));                 \
  }
#define WB_DEFINE_LDG_NARROW(V, T, code) WB_DEFINE_LDG(T, code) WB_DEFINE_LDG_2(V, T, code) WB_DEFINE_LDG_4(V, T, code)
#define WB_DEFINE_LDG_WIDE(V, T, code) WB_DEFINE_LDG(T, code) WB_DEFINE_LDG_2(V, T, code)
WB_DEFINE_LDG(char, c)
WB_DEFINE_LDG_NARROW(char, signed char, sc)
WB_DEFINE_LDG_NARROW(uchar, unsigned char, uc)
WB_DEFINE_LDG_NARROW(short, short, s)
WB_DEFINE_LDG_NARROW(ushort, unsigned short, us)
WB_DEFINE_LDG_NARROW(int, int, i)
WB_DEFINE_LDG_NARROW(uint, unsigned int, ui)
WB_DEFINE_LDG_NARROW(float, float, f)
WB_DEFINE_LDG_WIDE(long, long, l)
WB_DEFINE_LDG_WIDE(ulong, unsigned long, ul)
WB_DEFINE_LDG_WIDE(longlong, long long, ll)
WB_DEFINE_LDG_WIDE(ulonglong, unsigned long long, ull)
WB_DEFINE_LDG_WIDE(double, double, d)
#endif

#undef WB_SCALARS
#undef WB_PAIRS
#undef WB_WIDE_PAIRS
#undef WB_DEFINE_LOAD
#undef WB_DEFINE_LOAD_2
#undef WB_DEFINE_LOAD_4
#undef WB_DEFINE_LOADS
#undef WB_DEFINE_STORE
#undef WB_DEFINE_STORE_2
#undef WB_DEFINE_STORE_4
#undef WB_DEFINE_STORES
#undef WB_DEFINE_LDG
#undef WB_DEFINE_LDG_2
#undef WB_DEFINE_LDG_4
#undef WB_DEFINE_LDG_NARROW
#undef WB_DEFINE_LDG_WIDE

#endif
