// The atomic functions with a memory order and a thread scope: __nv_atomic_load_n, __nv_atomic_fetch_add …
//
// The instruction itself is relaxed; a fence of the scope before it releases, one after it acquires. Both arguments
// are constants in practice, so that one branch remains.
#ifndef WARPBEAM_DEVICE_SCOPED_ATOMICS_H
#define WARPBEAM_DEVICE_SCOPED_ATOMICS_H

#include "atomics.h"
#include "synchronize.h"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

#if WB_HAS_ARCH(600)

WB_DEVICE void wb_fence(int scope) {
  if (scope == __NV_THREAD_SCOPE_BLOCK) __threadfence_block();
  if (scope == __NV_THREAD_SCOPE_CLUSTER || scope == __NV_THREAD_SCOPE_DEVICE) __threadfence();
  if (scope == __NV_THREAD_SCOPE_SYSTEM) __threadfence_system();
}
WB_DEVICE void wb_fence_before(int order, int scope) {
  if (order >= __NV_ATOMIC_RELEASE) wb_fence(scope);
}
WB_DEVICE void wb_fence_after(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) wb_fence(scope);
}
WB_DEVICE void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order != __NV_ATOMIC_RELAXED) wb_fence(scope);
}

// The word that carries a type of that size.
template <int size>
struct wb_word {};
template <>
struct wb_word<1> {
  typedef unsigned char type;
};
template <>
struct wb_word<2> {
  typedef unsigned short type;
};
template <>
struct wb_word<4> {
  typedef unsigned int type;
};
template <>
struct wb_word<8> {
  typedef unsigned long long type;
};
#define WB_WORD(T) typename wb_word<sizeof(T)>::type

template <class W>
WB_DEVICE W wb_cas(W* address, W compare, W value, int scope) {
  return scope == __NV_THREAD_SCOPE_BLOCK    ? atomicCAS_block(address, compare, value)
         : scope == __NV_THREAD_SCOPE_SYSTEM ? atomicCAS_system(address, compare, value)
                                             : atomicCAS(address, compare, value);
}
// Bytes and halfwords by swapping the word around them, until only their own bits decide.
template <class W>
WB_DEVICE W wb_cas_within(W* address, W compare, W value, int scope) {
  unsigned int* word = (unsigned int*)((unsigned long long)address & ~3ull);
  const unsigned int shift = 8 * (unsigned int)((unsigned long long)address & 3);
  const unsigned int mask = (sizeof(W) == 1 ? 0xffu : 0xffffu) << shift;
  unsigned int seen = *(volatile unsigned int*)word;
  while (((seen & mask) >> shift) == compare) {
    const unsigned int expected = seen;
    seen = wb_cas(word, expected, (expected & ~mask) | ((unsigned int)value << shift), scope);
    if (seen == expected) return compare;
  }
  return (W)((seen & mask) >> shift);
}
WB_DEVICE unsigned char wb_cas(unsigned char* address, unsigned char compare, unsigned char value, int scope) {
  return wb_cas_within(address, compare, value, scope);
}
WB_DEVICE unsigned short wb_cas(unsigned short* address, unsigned short compare, unsigned short value, int scope) {
  return wb_cas_within(address, compare, value, scope);
}

// Relaxed loads and stores. From sm_70 on the instruction has the scope. Bytes have no registers of their own.
#if WB_HAS_ARCH(700)
#define WB_LOAD(scope, type, r) asm volatile("ld.relaxed." scope type " %0, [%1];" : "=" r(word) : "l"(address) : "memory")
#define WB_STORE(scope, type, r) asm volatile("st.relaxed." scope type " [%0], %1;" : : "l"(address), r(word) : "memory")
#define WB_RELAXED(W, Register, type, r)                                  \
  WB_DEVICE W wb_load(const W* address, int scope) {                      \
    Register word;                                                        \
    if (scope <= __NV_THREAD_SCOPE_BLOCK) WB_LOAD("cta", type, r);        \
    else if (scope == __NV_THREAD_SCOPE_SYSTEM) WB_LOAD("sys", type, r);  \
    else WB_LOAD("gpu", type, r);                                         \
    return (W)word;                                                       \
  }                                                                       \
  WB_DEVICE void wb_store(W* address, W value, int scope) {               \
    const Register word = value;                                          \
    if (scope <= __NV_THREAD_SCOPE_BLOCK) WB_STORE("cta", type, r);       \
    else if (scope == __NV_THREAD_SCOPE_SYSTEM) WB_STORE("sys", type, r); \
    else WB_STORE("gpu", type, r);                                        \
  }
WB_RELAXED(unsigned char, unsigned short, ".u8", "h")
WB_RELAXED(unsigned short, unsigned short, ".u16", "h")
WB_RELAXED(unsigned int, unsigned int, ".u32", "r")
WB_RELAXED(unsigned long long, unsigned long long, ".u64", "l")
#undef WB_LOAD
#undef WB_STORE
#undef WB_RELAXED
#else
template <class W>
WB_DEVICE W wb_load(const W* address, int) {
  return *(const volatile W*)address;
}
template <class W>
WB_DEVICE void wb_store(W* address, W word, int) {
  *(volatile W*)address = word;
}
#endif

template <class T>
WB_DEVICE T __nv_atomic_load_n(const T* address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_SEQ_CST) wb_fence(scope);
  const WB_WORD(T) word = wb_load((const WB_WORD(T)*)address, scope);
  wb_fence_after(order, scope);
  return __builtin_bit_cast(T, word);
}
template <class T>
WB_DEVICE void __nv_atomic_load(const T* address, T* result, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __nv_atomic_load_n(address, order, scope);
}
template <class T>
WB_DEVICE void __nv_atomic_store_n(T* address, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  wb_fence_before(order, scope);
  wb_store((WB_WORD(T)*)address, __builtin_bit_cast(WB_WORD(T), value), scope);
  if (order == __NV_ATOMIC_SEQ_CST) wb_fence(scope);
}
template <class T>
WB_DEVICE void __nv_atomic_store(T* address, const T* value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(address, *value, order, scope);
}

template <class T>
WB_DEVICE bool __nv_atomic_compare_exchange_n(T* address, T* expected, T desired, bool weak, int success, int failure,
                                              int scope = __NV_THREAD_SCOPE_SYSTEM) {
  typedef WB_WORD(T) W;
  (void)weak;
  const W compare = __builtin_bit_cast(W, *expected);
  wb_fence_before(success, scope);
  const W old = wb_cas((W*)address, compare, __builtin_bit_cast(W, desired), scope);
  wb_fence_after(old == compare ? success : failure, scope);
  if (old == compare) return true;
  *expected = __builtin_bit_cast(T, old);
  return false;
}
template <class T>
WB_DEVICE bool __nv_atomic_compare_exchange(T* address, T* expected, const T* desired, bool weak, int success,
                                            int failure, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(address, expected, *desired, weak, success, failure, scope);
}

// Every other operation is a loop of swaps, whatever the type; the commonest have their instruction.
template <class T, class Step>
WB_DEVICE T wb_atomic_update(T* address, int order, int scope, Step step) {
  typedef WB_WORD(T) W;
  wb_fence_before(order, scope);
  W seen = *(volatile W*)address, expected;
  do {
    expected = seen;
    seen = wb_cas((W*)address, expected, __builtin_bit_cast(W, (T)step(__builtin_bit_cast(T, expected))), scope);
  } while (seen != expected);
  wb_fence_after(order, scope);
  return __builtin_bit_cast(T, seen);
}
#define WB_DEFINE_FETCH(op, expression)                                                                       \
  template <class T>                                                                                          \
  WB_DEVICE T __nv_atomic_fetch_##op(T* address, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {  \
    return wb_atomic_update(address, order, scope, [value](T old) -> T { return (T)(expression); });          \
  }                                                                                                           \
  template <class T>                                                                                          \
  WB_DEVICE void __nv_atomic_##op(T* address, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {     \
    __nv_atomic_fetch_##op(address, value, order, scope);                                                     \
  }
#define WB_DEFINE_FETCH_INSTRUCTION(op, function, T)                                                          \
  WB_DEVICE T __nv_atomic_fetch_##op(T* address, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {  \
    wb_fence_before(order, scope);                                                                            \
    const T old = scope == __NV_THREAD_SCOPE_BLOCK    ? function##_block(address, value)                      \
                  : scope == __NV_THREAD_SCOPE_SYSTEM ? function##_system(address, value)                     \
                                                      : function(address, value);                             \
    wb_fence_after(order, scope);                                                                             \
    return old;                                                                                               \
  }
#define WB_DEFINE_FETCH_INTEGERS(op, function)                 \
  WB_DEFINE_FETCH_INSTRUCTION(op, function, int)               \
  WB_DEFINE_FETCH_INSTRUCTION(op, function, unsigned int)      \
  WB_DEFINE_FETCH_INSTRUCTION(op, function, unsigned long long)
WB_DEFINE_FETCH_INTEGERS(add, atomicAdd)
WB_DEFINE_FETCH_INSTRUCTION(add, atomicAdd, float)
WB_DEFINE_FETCH_INTEGERS(min, atomicMin)
WB_DEFINE_FETCH_INTEGERS(max, atomicMax)
WB_DEFINE_FETCH_INTEGERS(and, atomicAnd)
WB_DEFINE_FETCH_INTEGERS(or, atomicOr)
WB_DEFINE_FETCH_INTEGERS(xor, atomicXor)
WB_DEFINE_FETCH(add, old + value)
WB_DEFINE_FETCH(sub, old - value)
WB_DEFINE_FETCH(and, old & value)
WB_DEFINE_FETCH(or, old | value)
WB_DEFINE_FETCH(xor, old ^ value)
WB_DEFINE_FETCH(min, value < old ? value : old)
WB_DEFINE_FETCH(max, old < value ? value : old)
#undef WB_DEFINE_FETCH
#undef WB_DEFINE_FETCH_INSTRUCTION
#undef WB_DEFINE_FETCH_INTEGERS

template <class T>
WB_DEVICE T __nv_atomic_exchange_n(T* address, T value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return wb_atomic_update(address, order, scope, [value](T) -> T { return value; });
}
template <class T>
WB_DEVICE void __nv_atomic_exchange(T* address, const T* value, T* result, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *result = __nv_atomic_exchange_n(address, *value, order, scope);
}
#undef WB_WORD

#endif

#endif
