// cuda::atomic, cuda::atomic_ref and their cuda::std forms: atomic objects for threads of a block, a device or all.
#ifndef WARPBEAM_CXX_ATOMIC_H
#define WARPBEAM_CXX_ATOMIC_H

#include <cstddef>
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

template <class T, thread_scope S>
struct Cell {
#ifdef __CUDA_ARCH__
#define WB_ATOMIC(device, host) return device
#else
#define WB_ATOMIC(device, host) return host
#endif
  static WB_BOTH T load(const T* p, memory_order o) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_load_n(p, (int)o, device_scope(S));
#else
    T v;
    __atomic_load(const_cast<T*>(p), &v, o);
    return v;
#endif
  }
  static WB_BOTH void store(T* p, T v, memory_order o) {
#ifdef __CUDA_ARCH__
    __nv_atomic_store_n(p, v, (int)o, device_scope(S));
#else
    __atomic_store(p, &v, o);
#endif
  }
  static WB_BOTH T exchange(T* p, T v, memory_order o) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_exchange_n(p, v, (int)o, device_scope(S));
#else
    T old;
    __atomic_exchange(p, &v, &old, o);
    return old;
#endif
  }
  static WB_BOTH bool compare_exchange(T* p, T& expected, T desired, bool weak, memory_order success, int failure) {
#ifdef __CUDA_ARCH__
    return __nv_atomic_compare_exchange_n(p, &expected, desired, weak, (int)success, failure, device_scope(S));
#else
    return __atomic_compare_exchange(p, &expected, &desired, weak, success, failure);
#endif
  }
  template <class Step>
  static WB_BOTH T update(T* p, memory_order o, Step step) {
    T old = load(p, memory_order_relaxed);
    while (!compare_exchange(p, old, step(old), true, o, memory_order_relaxed)) {
    }
    return old;
  }
#undef WB_ATOMIC
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

// The members that an atomic object and a reference to one share; Self::address() says where the value is.
template <class Self, class T, thread_scope S>
class Operations {
  typedef Cell<T, S> C;
  WB_BOTH T* at() const { return static_cast<const Self*>(this)->address(); }

 public:
  typedef T value_type;
  static constexpr bool is_always_lock_free = sizeof(T) <= 8;
  WB_BOTH bool is_lock_free() const { return is_always_lock_free; }
  WB_BOTH T load(memory_order o = memory_order_seq_cst) const { return C::load(at(), o); }
  WB_BOTH operator T() const { return load(); }
  WB_BOTH void store(T v, memory_order o = memory_order_seq_cst) const { C::store(at(), v, o); }
  WB_BOTH T exchange(T v, memory_order o = memory_order_seq_cst) const { return C::exchange(at(), v, o); }
  WB_BOTH bool compare_exchange_weak(T& expected, T desired, memory_order o = memory_order_seq_cst) const {
    return C::compare_exchange(at(), expected, desired, true, o, failure_order(o));
  }
  WB_BOTH bool compare_exchange_weak(T& expected, T desired, memory_order s, memory_order f) const {
    return C::compare_exchange(at(), expected, desired, true, s, f);
  }
  WB_BOTH bool compare_exchange_strong(T& expected, T desired, memory_order o = memory_order_seq_cst) const {
    return C::compare_exchange(at(), expected, desired, false, o, failure_order(o));
  }
  WB_BOTH bool compare_exchange_strong(T& expected, T desired, memory_order s, memory_order f) const {
    return C::compare_exchange(at(), expected, desired, false, s, f);
  }
  WB_BOTH void wait(T old, memory_order o = memory_order_seq_cst) const {
    while (load(o) == old) {
    }
  }
  WB_BOTH void notify_one() const {}
  WB_BOTH void notify_all() const {}
  template <class U = T>
  WB_BOTH U fetch_add(T v, memory_order o = memory_order_seq_cst) const {
    return Numbers<U, S>::fetch_add(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_sub(T v, memory_order o = memory_order_seq_cst) const {
    return Numbers<U, S>::fetch_sub(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_min(T v, memory_order o = memory_order_seq_cst) const {
    return Numbers<U, S>::fetch_min(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_max(T v, memory_order o = memory_order_seq_cst) const {
    return Numbers<U, S>::fetch_max(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_and(T v, memory_order o = memory_order_seq_cst) const {
    return Integers<U, S>::fetch_and(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_or(T v, memory_order o = memory_order_seq_cst) const {
    return Integers<U, S>::fetch_or(at(), v, o);
  }
  template <class U = T>
  WB_BOTH U fetch_xor(T v, memory_order o = memory_order_seq_cst) const {
    return Integers<U, S>::fetch_xor(at(), v, o);
  }
  WB_BOTH T operator++() const { return (T)(fetch_add((T)1) + (T)1); }
  WB_BOTH T operator++(int) const { return fetch_add((T)1); }
  WB_BOTH T operator--() const { return (T)(fetch_sub((T)1) - (T)1); }
  WB_BOTH T operator--(int) const { return fetch_sub((T)1); }
  WB_BOTH T operator+=(T v) const { return (T)(fetch_add(v) + v); }
  WB_BOTH T operator-=(T v) const { return (T)(fetch_sub(v) - v); }
  WB_BOTH T operator&=(T v) const { return (T)(fetch_and(v) & v); }
  WB_BOTH T operator|=(T v) const { return (T)(fetch_or(v) | v); }
  WB_BOTH T operator^=(T v) const { return (T)(fetch_xor(v) ^ v); }
};

}  // namespace wb

template <class T, thread_scope S = thread_scope_system>
class atomic : public wb::Operations<atomic<T, S>, T, S> {
  alignas(sizeof(T) <= 8 ? sizeof(T) : alignof(T)) mutable T value_;

 public:
  atomic() = default;
  WB_BOTH constexpr atomic(T v) : value_(v) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  WB_BOTH T operator=(T v) {
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
  WB_BOTH bool test(memory_order o = memory_order_seq_cst) const { return set_.load(o) != 0; }
  WB_BOTH bool test_and_set(memory_order o = memory_order_seq_cst) { return set_.exchange(1, o) != 0; }
  WB_BOTH void clear(memory_order o = memory_order_seq_cst) { set_.store(0, o); }
  WB_BOTH void wait(bool old, memory_order o = memory_order_seq_cst) const { set_.wait(old, o); }
  WB_BOTH void notify_one() const {}
  WB_BOTH void notify_all() const {}
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
typedef atomic<bool> atomic_bool;
typedef atomic<int> atomic_int;
typedef atomic<unsigned int> atomic_uint;
typedef atomic<long> atomic_long;
typedef atomic<unsigned long> atomic_ulong;
typedef atomic<long long> atomic_llong;
typedef atomic<unsigned long long> atomic_ullong;
typedef atomic< ::std::size_t> atomic_size_t;
WB_BOTH void atomic_thread_fence(memory_order o) { cuda::atomic_thread_fence(o); }
}  // namespace std

}  // namespace cuda

#endif
