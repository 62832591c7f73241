// cuda::atomic, cuda::atomic_ref and their cuda::std forms: atomic objects for threads of a block, a device or all.
#ifndef WARPBEAM_CXX_ATOMIC_H
#define WARPBEAM_CXX_ATOMIC_H

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "std.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace wb {

// The orders of the device's functions and of the compiler's have the same numbers.
constexpr int device_scope(thread_scope s) {
  return s == thread_scope_system ? 4 : s == thread_scope_device ? 3 : s == thread_scope_block ? 1 : 0;
}
constexpr int failure_order(memory_order o) {
  return o == memory_order_acq_rel ? memory_order_acquire : o == memory_order_release ? memory_order_relaxed : o;
}

// What lies in memory, taken as the word of its size: its own type may have a lesser alignment. Three bytes have a word too.
template <class T, thread_scope S, ::std::size_t size = sizeof(T)>
struct Cell {
  typedef typename wb_word<size>::type W;
  static WB_BOTH T load(const T* p, memory_order o) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_load_n(p, (int)o, device_scope(S));
#else
    return __builtin_bit_cast(T, __atomic_load_n((const W*)p, o));
#endif
  }
  static WB_BOTH void store(T* p, T v, memory_order o) {
#ifdef __CUDA_ARCH__
    __nv_atomic_store_n(p, v, (int)o, device_scope(S));
#else
    __atomic_store_n((W*)p, __builtin_bit_cast(W, v), o);
#endif
  }
  static WB_BOTH T exchange(T* p, T v, memory_order o) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_exchange_n(p, v, (int)o, device_scope(S));
#else
    return __builtin_bit_cast(T, __atomic_exchange_n((W*)p, __builtin_bit_cast(W, v), o));
#endif
  }
  static WB_BOTH bool compare_exchange(T* p, T& expected, T desired, bool weak, memory_order success, int failure) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_compare_exchange_n(p, &expected, desired, weak, (int)success, failure, device_scope(S));
#else
    W word = __builtin_bit_cast(W, expected);
    if (__atomic_compare_exchange_n((W*)p, &word, __builtin_bit_cast(W, desired), weak, success, failure)) return true;
    expected = __builtin_bit_cast(T, word);
    return false;
#endif
  }
  template <class Step>
  static WB_BOTH T update(T* p, memory_order o, Step step) {
    T old = load(p, memory_order_relaxed);
    while (!compare_exchange(p, old, step(old), true, o, memory_order_relaxed)) {
    }
    return old;
  }
};
template <class T, thread_scope S>
struct Cell<T, S, 3> {
  typedef Cell<unsigned int, S> Word;
  static WB_BOTH T value(unsigned int word) {
    T v;
    __builtin_memcpy(&v, &word, 3);
    return v;
  }
  static WB_BOTH unsigned int word(T v) {
    unsigned int w = 0;
    __builtin_memcpy(&w, &v, 3);
    return w;
  }
  static WB_BOTH T load(const T* p, memory_order o) { return value(Word::load((const unsigned int*)p, o)); }
  static WB_BOTH void store(T* p, T v, memory_order o) { Word::store((unsigned int*)p, word(v), o); }
  static WB_BOTH T exchange(T* p, T v, memory_order o) { return value(Word::exchange((unsigned int*)p, word(v), o)); }
  // Nobody knows the fourth byte before the first store.
  static WB_BOTH bool compare_exchange(T* p, T& expected, T desired, bool, memory_order success, int failure) {
    unsigned int seen = Word::load((const unsigned int*)p, (memory_order)failure);
    while (word(value(seen)) == word(expected))
      if (Word::compare_exchange((unsigned int*)p, seen, word(desired), true, success, failure)) return true;
    expected = value(seen);
    return false;
  }
};

// What one instruction does on the device; the host has loops of swaps for the rest.
#ifdef __CUDA_ARCH__
#define WB_FETCH(op, expression) \
  static WB_BOTH T op(T* p, T v, memory_order o) { return __nv_atomic_##op(p, v, (int)o, device_scope(S)); }
#else
#define WB_FETCH(op, expression)                                                  \
  static WB_BOTH T op(T* p, T v, memory_order o) {                                \
    return Cell<T, S>::update(p, o, [v](T old) -> T { return (T)(expression); }); \
  }
#endif
template <class T, thread_scope S>
struct Numbers {
  WB_FETCH(fetch_add, old + v)
  WB_FETCH(fetch_sub, old - v)
  WB_FETCH(fetch_min, v < old ? v : old)
  WB_FETCH(fetch_max, old < v ? v : old)
};
template <class T, thread_scope S>
struct Integers : Numbers<T, S> {
  WB_FETCH(fetch_and, old& v)
  WB_FETCH(fetch_or, old | v)
  WB_FETCH(fetch_xor, old ^ v)
};
#undef WB_FETCH

// What is added to a T: pointers go on by whole elements.
template <class T>
struct Step {
  typedef T type;
};
template <class T>
struct Step<T*> {
  typedef ::std::ptrdiff_t type;
};
template <class T, thread_scope S>
struct Numbers<T*, S> {
  static WB_BOTH T* fetch_add(T** p, ::std::ptrdiff_t n, memory_order o) {
#ifdef __CUDA_ARCH__
    const unsigned long long bytes = (unsigned long long)n * sizeof(T);
    return (T*)__nv_atomic_fetch_add((unsigned long long*)p, bytes, (int)o, device_scope(S));
#else
    return Cell<T*, S>::update(p, o, [n](T* old) -> T* { return old + n; });
#endif
  }
  static WB_BOTH T* fetch_sub(T** p, ::std::ptrdiff_t n, memory_order o) { return fetch_add(p, -n, o); }
};

// The members that an atomic object and a reference to one share; Self::address() says where the value is. All are for
// volatile objects too.
template <class Self, class T, thread_scope S>
class Operations {
  typedef Cell<T, S> C;
  typedef typename Step<T>::type D;
  WB_BOTH T* at() const volatile {
    return const_cast<const Self*>(static_cast<const volatile Self*>(this))->address();
  }

 public:
  typedef T value_type;
  static constexpr bool is_always_lock_free = sizeof(T) <= 8;
  WB_BOTH bool is_lock_free() const volatile { return is_always_lock_free; }
  WB_BOTH T load(memory_order o = memory_order_seq_cst) const volatile { return C::load(at(), o); }
  WB_BOTH operator T() const volatile { return load(); }
  WB_BOTH void store(T v, memory_order o = memory_order_seq_cst) const volatile { C::store(at(), v, o); }
  WB_BOTH T exchange(T v, memory_order o = memory_order_seq_cst) const volatile { return C::exchange(at(), v, o); }
  WB_BOTH bool compare_exchange_weak(T& expected, T desired, memory_order o = memory_order_seq_cst) const volatile {
    return C::compare_exchange(at(), expected, desired, true, o, failure_order(o));
  }
  WB_BOTH bool compare_exchange_weak(T& expected, T desired, memory_order s, memory_order f) const volatile {
    return C::compare_exchange(at(), expected, desired, true, s, f);
  }
  WB_BOTH bool compare_exchange_strong(T& expected, T desired, memory_order o = memory_order_seq_cst) const volatile {
    return C::compare_exchange(at(), expected, desired, false, o, failure_order(o));
  }
  WB_BOTH bool compare_exchange_strong(T& expected, T desired, memory_order s, memory_order f) const volatile {
    return C::compare_exchange(at(), expected, desired, false, s, f);
  }
  WB_BOTH void wait(T old, memory_order o = memory_order_seq_cst) const volatile {
    while (load(o) == old) {
    }
  }
  WB_BOTH void notify_one() const volatile {}
  WB_BOTH void notify_all() const volatile {}
  template <class U = T>
  WB_BOTH U fetch_add(D v, memory_order o = memory_order_seq_cst) const volatile {
    return Numbers<U, S>::fetch_add(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_sub(D v, memory_order o = memory_order_seq_cst) const volatile {
    return Numbers<U, S>::fetch_sub(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_min(T v, memory_order o = memory_order_seq_cst) const volatile {
    return Numbers<U, S>::fetch_min(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_max(T v, memory_order o = memory_order_seq_cst) const volatile {
    return Numbers<U, S>::fetch_max(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_and(T v, memory_order o = memory_order_seq_cst) const volatile {
    return Integers<U, S>::fetch_and(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_or(T v, memory_order o = memory_order_seq_cst) const volatile {
    return Integers<U, S>::fetch_or(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_xor(T v, memory_order o = memory_order_seq_cst) const volatile {
    return Integers<U, S>::fetch_xor(at(), v, o);
  }
  WB_BOTH T operator++() const volatile { return (T)(fetch_add((D)1) + (D)1); }
  WB_BOTH T operator++(int) const volatile { return fetch_add((D)1); }
  WB_BOTH T operator--() const volatile { return (T)(fetch_sub((D)1) - (D)1); }
  WB_BOTH T operator--(int) const volatile { return fetch_sub((D)1); }
  WB_BOTH T operator+=(D v) const volatile { return (T)(fetch_add(v) + v); }
  WB_BOTH T operator-=(D v) const volatile { return (T)(fetch_sub(v) - v); }
  WB_BOTH T operator&=(T v) const volatile { return (T)(fetch_and(v) & v); }
  WB_BOTH T operator|=(T v) const volatile { return (T)(fetch_or(v) | v); }
  WB_BOTH T operator^=(T v) const volatile { return (T)(fetch_xor(v) ^ v); }
};

}  // namespace wb

template <class T, thread_scope S = thread_scope_system>
class atomic : public wb::Operations<atomic<T, S>, T, S> {
  // Bytes and halfwords have a whole word, as in libcu++.
  alignas(sizeof(T) < 4 ? 4 : sizeof(T) <= 8 ? sizeof(T) : alignof(T)) mutable T value_;

 public:
  atomic() = default;
  WB_BOTH constexpr atomic(T v) : value_(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  WB_BOTH T operator=(T v) {
    this->store(v);
    return v;
  }
  WB_BOTH T operator=(T v) volatile {
    this->store(v);
    return v;
  }
  WB_BOTH T* address() const { return &value_; }
};

template <class T, thread_scope S = thread_scope_system>
class atomic_ref : public wb::Operations<atomic_ref<T, S>, T, S> {
  T* at_;

 public:
  static constexpr ::std::size_t required_alignment = sizeof(T);
  WB_BOTH explicit atomic_ref(T& object) : at_(&object) {}
  atomic_ref(const atomic_ref&) = default;
  WB_BOTH T operator=(T v) const {
    this->store(v);
    return v;
  }
  WB_BOTH T* address() const { return at_; }
};

template <thread_scope S = thread_scope_system>
class wb_flag {
  atomic<int, S> set_;

 public:
  WB_BOTH constexpr wb_flag(bool set = false) : set_(set) {}
  WB_BOTH bool test(memory_order o = memory_order_seq_cst) const volatile { return set_.load(o) != 0; }
  WB_BOTH bool test_and_set(memory_order o = memory_order_seq_cst) volatile { return set_.exchange(1, o) != 0; }
  WB_BOTH void clear(memory_order o = memory_order_seq_cst) volatile { set_.store(0, o); }
  WB_BOTH void wait(bool old, memory_order o = memory_order_seq_cst) const volatile { set_.wait(old, o); }
  WB_BOTH void notify_one() const volatile {}
  WB_BOTH void notify_all() const volatile {}
};
template <thread_scope S = thread_scope_system>
using atomic_flag = wb_flag<S>;

WB_BOTH void atomic_thread_fence(memory_order o, thread_scope s = thread_scope_system) {
#ifdef __CUDA_ARCH__
  __nv_atomic_thread_fence((int)o, wb::device_scope(s));
#else
  (void)s;
  __atomic_thread_fence(o);
#endif
}
WB_BOTH void atomic_signal_fence(memory_order o) { __atomic_signal_fence(o); }

namespace std {
template <class T>
class atomic : public cuda::atomic<T, thread_scope_system> {
 public:
  atomic() = default;
  WB_BOTH constexpr atomic(T v) : cuda::atomic<T, thread_scope_system>(v) {}
  using cuda::atomic<T, thread_scope_system>::operator=;
};
template <class T>
using atomic_ref = cuda::atomic_ref<T, thread_scope_system>;
using atomic_flag = cuda::wb_flag<thread_scope_system>;

// The functions for all of that.
template <class T>
WB_BOTH bool atomic_is_lock_free(const volatile atomic<T>* a) { return a->is_lock_free(); }
template <class T>
WB_BOTH void atomic_init(volatile atomic<T>* a, typename atomic<T>::value_type v) { a->store(v, memory_order_relaxed); }
template <class T>
WB_BOTH T atomic_load(const volatile atomic<T>* a) { return a->load(); }
template <class T>
WB_BOTH T atomic_load_explicit(const volatile atomic<T>* a, memory_order o) { return a->load(o); }
template <class T>
WB_BOTH void atomic_store(volatile atomic<T>* a, typename atomic<T>::value_type v) { a->store(v); }
template <class T>
WB_BOTH void atomic_store_explicit(volatile atomic<T>* a, typename atomic<T>::value_type v, memory_order o) {
  a->store(v, o);
}
#define WB_ATOMIC_FUNCTIONS(op, V)                                                             \
  template <class T>                                                                           \
  WB_BOTH T atomic_##op(volatile atomic<T>* a, V v) { return a->op(v); }                       \
  template <class T>                                                                           \
  WB_BOTH T atomic_##op##_explicit(volatile atomic<T>* a, V v, memory_order o) { return a->op(v, o); }
WB_ATOMIC_FUNCTIONS(exchange, typename atomic<T>::value_type)
WB_ATOMIC_FUNCTIONS(fetch_add, typename wb::Step<T>::type)
WB_ATOMIC_FUNCTIONS(fetch_sub, typename wb::Step<T>::type)
WB_ATOMIC_FUNCTIONS(fetch_and, typename atomic<T>::value_type)
WB_ATOMIC_FUNCTIONS(fetch_or, typename atomic<T>::value_type)
WB_ATOMIC_FUNCTIONS(fetch_xor, typename atomic<T>::value_type)
#undef WB_ATOMIC_FUNCTIONS
#define WB_ATOMIC_FUNCTIONS(op)                                                                                  \
  template <class T>                                                                                             \
  WB_BOTH bool atomic_##op(volatile atomic<T>* a, T* expected, typename atomic<T>::value_type desired) {         \
    return a->op(*expected, desired);                                                                            \
  }                                                                                                              \
  template <class T>                                                                                             \
  WB_BOTH bool atomic_##op##_explicit(volatile atomic<T>* a, T* expected, typename atomic<T>::value_type desired, \
                                      memory_order success, memory_order failure) {                              \
    return a->op(*expected, desired, success, failure);                                                          \
  }
WB_ATOMIC_FUNCTIONS(compare_exchange_weak)
WB_ATOMIC_FUNCTIONS(compare_exchange_strong)
#undef WB_ATOMIC_FUNCTIONS
template <class T>
WB_BOTH void atomic_wait(const volatile atomic<T>* a, typename atomic<T>::value_type old) { a->wait(old); }
template <class T>
WB_BOTH void atomic_wait_explicit(const volatile atomic<T>* a, typename atomic<T>::value_type old, memory_order o) {
  a->wait(old, o);
}
template <class T>
WB_BOTH void atomic_notify_one(volatile atomic<T>* a) { a->notify_one(); }
template <class T>
WB_BOTH void atomic_notify_all(volatile atomic<T>* a) { a->notify_all(); }

WB_BOTH bool atomic_flag_test(const volatile atomic_flag* f) { return f->test(); }
WB_BOTH bool atomic_flag_test_explicit(const volatile atomic_flag* f, memory_order o) { return f->test(o); }
WB_BOTH bool atomic_flag_test_and_set(volatile atomic_flag* f) { return f->test_and_set(); }
WB_BOTH bool atomic_flag_test_and_set_explicit(volatile atomic_flag* f, memory_order o) { return f->test_and_set(o); }
WB_BOTH void atomic_flag_clear(volatile atomic_flag* f) { f->clear(); }
WB_BOTH void atomic_flag_clear_explicit(volatile atomic_flag* f, memory_order o) { f->clear(o); }
WB_BOTH void atomic_flag_wait(const volatile atomic_flag* f, bool old) { f->wait(old); }
WB_BOTH void atomic_flag_wait_explicit(const volatile atomic_flag* f, bool old, memory_order o) { f->wait(old, o); }
WB_BOTH void atomic_flag_notify_one(volatile atomic_flag* f) { f->notify_one(); }
WB_BOTH void atomic_flag_notify_all(volatile atomic_flag* f) { f->notify_all(); }

WB_BOTH void atomic_thread_fence(memory_order o) { cuda::atomic_thread_fence(o); }
WB_BOTH void atomic_signal_fence(memory_order o) { cuda::atomic_signal_fence(o); }

typedef atomic<bool> atomic_bool;
typedef atomic<char> atomic_char;
typedef atomic<signed char> atomic_schar;
typedef atomic<unsigned char> atomic_uchar;
typedef atomic<short> atomic_short;
typedef atomic<unsigned short> atomic_ushort;
typedef atomic<int> atomic_int;
typedef atomic<unsigned int> atomic_uint;
typedef atomic<long> atomic_long;
typedef atomic<unsigned long> atomic_ulong;
typedef atomic<long long> atomic_llong;
typedef atomic<unsigned long long> atomic_ullong;
typedef atomic<char16_t> atomic_char16_t;
typedef atomic<char32_t> atomic_char32_t;
typedef atomic<wchar_t> atomic_wchar_t;
#define WB_ATOMIC_TYPES(X)                                                                              \
  X(int8_t) X(uint8_t) X(int16_t) X(uint16_t) X(int32_t) X(uint32_t) X(int64_t) X(uint64_t)             \
  X(int_least8_t) X(uint_least8_t) X(int_least16_t) X(uint_least16_t)                                   \
  X(int_least32_t) X(uint_least32_t) X(int_least64_t) X(uint_least64_t)                                 \
  X(int_fast8_t) X(uint_fast8_t) X(int_fast16_t) X(uint_fast16_t)                                       \
  X(int_fast32_t) X(uint_fast32_t) X(int_fast64_t) X(uint_fast64_t)                                     \
  X(intptr_t) X(uintptr_t) X(intmax_t) X(uintmax_t) X(size_t) X(ptrdiff_t)
#define WB_ATOMIC_TYPE(T) typedef atomic< ::std::T> atomic_##T;
WB_ATOMIC_TYPES(WB_ATOMIC_TYPE)
#undef WB_ATOMIC_TYPE
#undef WB_ATOMIC_TYPES
#define LIBCUDACXX_ATOMIC_VAR_INIT(...) {__VA_ARGS__}
#define LIBCUDACXX_ATOMIC_FLAG_INIT {false}
}  // namespace std

}  // namespace cuda

#endif
