// cuda::barrier: arriving apart from waiting. In shared memory, for a block, it is a barrier object of the device; in
// every other place a counter with a phase.
#ifndef WARPBEAM_CXX_BARRIER_H
#define WARPBEAM_CXX_BARRIER_H

#include "../cooperative/memcpy_async.h"
#include "atomic.h"
#include "mbarrier.h"

namespace cuda {

namespace wb {
struct NoCompletion {
  WB_BOTH void operator()() const {}
};
}  // namespace wb

template <thread_scope S = thread_scope_system, class Completion = wb::NoCompletion>
class barrier {
  // Low half: arrivals still awaited; high half: phases gone by. Or the device's own object.
  alignas(8) mutable unsigned long long word_;
  unsigned int expected_;
  Completion completion_;

#ifdef __CUDA_ARCH__
  __forceinline__ __device__ bool native() const {
    return WB_HAS_ARCH(800) && S == thread_scope_block && __is_same(Completion, wb::NoCompletion) && __isShared(&word_);
  }
#endif
  typedef wb::Cell<unsigned long long, S> Cell;
  WB_BOTH unsigned long long arrive_counted(unsigned int count) {
    const unsigned long long old = wb::Numbers<unsigned long long, S>::fetch_sub(&word_, count, memory_order_acq_rel);
    if ((unsigned int)old == count) {
      completion_();
      Cell::store(&word_, ((old >> 32) + 1) << 32 | expected(), memory_order_release);
    }
    return old >> 32;
  }
  WB_BOTH unsigned int expected() const { return wb::Cell<unsigned int, S>::load(&expected_, memory_order_relaxed); }
  WB_BOTH bool passed(unsigned long long phase) const {
    return Cell::load(&word_, memory_order_acquire) >> 32 != phase;
  }

 public:
  typedef unsigned long long arrival_token;

  barrier() = default;
  WB_BOTH barrier(::std::ptrdiff_t expected, Completion completion = Completion()) : completion_(completion) {
    set((unsigned int)expected);
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  WB_BOTH void set(unsigned int expected) {
    expected_ = expected;
#ifdef __CUDA_ARCH__
    if (native()) return wb_async::init(&word_, expected);
#endif
    word_ = expected;
  }
  WB_BOTH ~barrier() {}

  WB_BOTH static constexpr ::std::ptrdiff_t max() { return (1 << 20) - 1; }
  WB_BOTH arrival_token arrive(::std::ptrdiff_t count = 1) {
#ifdef __CUDA_ARCH__
    if (native()) return wb_async::arrive(&word_, (unsigned int)count);
#endif
    return arrive_counted((unsigned int)count);
  }
  WB_BOTH bool try_wait(const arrival_token& token) const {
#ifdef __CUDA_ARCH__
    if (native()) return wb_async::try_wait(&word_, token);
#endif
    return passed(token);
  }
  WB_BOTH bool try_wait_parity(bool parity) const {
#ifdef __CUDA_ARCH__
    if (native()) return wb_async::try_wait_parity(&word_, parity);
#endif
    return (bool)(Cell::load(&word_, memory_order_acquire) >> 32 & 1) != parity;
  }
  template <class Duration>
  WB_BOTH bool try_wait_for(const arrival_token& token, const Duration&) const {
    return try_wait(token);
  }
  template <class Duration>
  WB_BOTH bool try_wait_parity_for(bool parity, const Duration&) const {
    return try_wait_parity(parity);
  }
  WB_BOTH void wait(arrival_token&& token) const {
    while (!try_wait(token)) {
    }
  }
  WB_BOTH void wait(const arrival_token& token) const {
    while (!try_wait(token)) {
    }
  }
  WB_BOTH void wait_parity(bool parity) const {
    while (!try_wait_parity(parity)) {
    }
  }
  WB_BOTH void arrive_and_wait() { wait(arrive()); }
  WB_BOTH void arrive_and_drop() {
#ifdef __CUDA_ARCH__
    if (native()) {
      wb_async::arrive_drop(&word_);
      return;
    }
#endif
    wb::Numbers<unsigned int, S>::fetch_sub(&expected_, 1, memory_order_relaxed);
    arrive_counted(1);
  }
  WB_BOTH unsigned long long* wb_native() const { return &word_; }

  WB_BOTH friend void init(barrier* b, ::std::ptrdiff_t expected) { b->set((unsigned int)expected); }
  WB_BOTH friend void init(barrier* b, ::std::ptrdiff_t expected, Completion completion) {
    b->completion_ = completion;
    b->set((unsigned int)expected);
  }
};

// A thread's copies are done before its arrival at the barrier counts.
template <class Size, thread_scope S, class C>
__forceinline__ __device__ void memcpy_async(void* to, const void* from, Size bytes, barrier<S, C>&) {
  wb_async::copy_any(to, from, (::std::size_t)bytes, 0, 1);
#if WB_HAS_ARCH(800)
  wb_async::wait_all();
#endif
}
template <class Group, class Size, thread_scope S, class C>
__forceinline__ __device__ auto memcpy_async(const Group& group, void* to, const void* from, Size bytes, barrier<S, C>&)
    -> decltype((void)group.thread_rank()) {
  wb_async::copy_any(to, from, (::std::size_t)bytes, group.thread_rank(), group.size());
#if WB_HAS_ARCH(800)
  wb_async::wait_all();
#endif
}

namespace device {
template <class C>
__forceinline__ __device__ unsigned long long* barrier_native_handle(barrier<thread_scope_block, C>& b) {
  return b.wb_native();
}
#if WB_HAS_ARCH(900)
template <class C>
__forceinline__ __device__ typename barrier<thread_scope_block, C>::arrival_token barrier_arrive_tx(
    barrier<thread_scope_block, C>& b, ::std::ptrdiff_t count, ::std::ptrdiff_t bytes) {
  if (count == 1) return wb_async::arrive_expect_tx(b.wb_native(), (unsigned int)bytes);
  wb_async::expect_tx(b.wb_native(), (unsigned int)bytes);
  return wb_async::arrive(b.wb_native(), (unsigned int)count);
}
template <class C>
__forceinline__ __device__ void barrier_expect_tx(barrier<thread_scope_block, C>& b, ::std::ptrdiff_t bytes) {
  wb_async::expect_tx(b.wb_native(), (unsigned int)bytes);
}
template <class T, ::std::size_t alignment, class C>
__forceinline__ __device__ void memcpy_async_tx(T* to, const T* from, aligned_size_t<alignment> bytes,
                                                barrier<thread_scope_block, C>& b) {
  WB_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
             wb_async::shared_address(to)),
         "l"(from), "r"((unsigned int)bytes.value), "r"(wb_async::shared_address(b.wb_native()))
         : "memory");
}
#endif
}  // namespace device

namespace std {
template <class Completion = cuda::wb::NoCompletion>
using barrier = cuda::barrier<thread_scope_system, Completion>;
}

}  // namespace cuda

#endif
