// cuda::latch and cuda::counting_semaphore.
#ifndef WARPBEAM_CXX_LATCH_H
#define WARPBEAM_CXX_LATCH_H

#include "atomic.h"

namespace cuda {

// A barrier of a single phase.
template <thread_scope S = thread_scope_system>
class latch {
  atomic<long long, S> left_;

 public:
  WB_BOTH constexpr explicit latch(::std::ptrdiff_t expected) : left_(expected) {}
  latch(const latch&) = delete;
  WB_BOTH static constexpr ::std::ptrdiff_t max() { return __PTRDIFF_MAX__; }
  WB_BOTH void count_down(::std::ptrdiff_t n = 1) { left_.fetch_sub(n, memory_order_release); }
  WB_BOTH bool try_wait() const { return left_.load(memory_order_acquire) == 0; }
  WB_BOTH void wait() const {
    while (!try_wait()) {
    }
  }
  WB_BOTH void arrive_and_wait(::std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }
};

template <thread_scope S = thread_scope_system, ::std::ptrdiff_t most = __PTRDIFF_MAX__>
class counting_semaphore {
  atomic<long long, S> count_;

 public:
  WB_BOTH constexpr explicit counting_semaphore(::std::ptrdiff_t count = 0) : count_(count) {}
  counting_semaphore(const counting_semaphore&) = delete;
  WB_BOTH static constexpr ::std::ptrdiff_t max() { return most; }
  WB_BOTH void release(::std::ptrdiff_t n = 1) { count_.fetch_add(n, memory_order_release); }
  WB_BOTH bool try_acquire() {
    long long count = count_.load(memory_order_relaxed);
    while (count > 0)
      if (count_.compare_exchange_weak(count, count - 1, memory_order_acquire, memory_order_relaxed)) return true;
    return false;
  }
  template <class Duration>
  WB_BOTH bool try_acquire_for(const Duration&) {
    return try_acquire();
  }
  WB_BOTH void acquire() {
    while (!try_acquire()) {
    }
  }
};
template <thread_scope S = thread_scope_system>
using binary_semaphore = counting_semaphore<S, 1>;

namespace std {
using latch = cuda::latch<thread_scope_system>;
template < ::std::ptrdiff_t most = __PTRDIFF_MAX__>
using counting_semaphore = cuda::counting_semaphore<thread_scope_system, most>;
using binary_semaphore = cuda::binary_semaphore<thread_scope_system>;
}  // namespace std

}  // namespace cuda

#endif
