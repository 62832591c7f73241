// cuda::pipeline: stages of copies between those who fill them and those who use them.
#ifndef WARPBEAM_CXX_PIPELINE_H
#define WARPBEAM_CXX_PIPELINE_H

#include <cstdint>

#include "barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

// Of each stage: who filled it, and who is through with it.
template <thread_scope S, ::std::uint8_t stages>
class pipeline_shared_state {
 public:
  __forceinline__ __device__ pipeline_shared_state() {}
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  barrier<S> filled[stages], free[stages];
};

template <thread_scope S>
class pipeline {
  barrier<S>*filled_ = nullptr, *free_ = nullptr;
  unsigned int stages_ = 1, head_ = 0, tail_ = 0;
  bool head_parity_ = true, tail_parity_ = false;  // a fresh stage counts as free
  bool alone_ = true;                              // the pipeline of a single thread

 public:
  __forceinline__ __device__ pipeline() {}
  __forceinline__ __device__ pipeline(barrier<S>* filled, barrier<S>* free, unsigned int stages)
      : filled_(filled), free_(free), stages_(stages), alone_(false) {}
  pipeline(pipeline&&) = default;
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  __forceinline__ __device__ void producer_acquire() {
    if (!alone_) free_[head_].wait_parity(head_parity_);
  }
  __forceinline__ __device__ void producer_commit() {
    if (alone_) {
#if WB_HAS_ARCH(800)
      wb_async::commit_group();
#endif
      return;
    }
#if WB_HAS_ARCH(800)
    wb_async::wait_all();
#endif
    (void)filled_[head_].arrive();
    if (++head_ == stages_) head_ = 0, head_parity_ = !head_parity_;
  }
  __forceinline__ __device__ void consumer_wait() {
    if (!alone_) return filled_[tail_].wait_parity(tail_parity_);
#if WB_HAS_ARCH(800)
    wb_async::wait_all();
#endif
  }
  template <class Duration>
  __forceinline__ __device__ bool consumer_wait_for(const Duration&) {
    consumer_wait();
    return true;
  }
  __forceinline__ __device__ void consumer_release() {
    if (alone_) return;
    (void)free_[tail_].arrive();
    if (++tail_ == stages_) tail_ = 0, tail_parity_ = !tail_parity_;
  }
  __forceinline__ __device__ bool quit() { return true; }
};

__forceinline__ __device__ pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }

namespace wb {
template <class Group, thread_scope S, ::std::uint8_t stages>
__forceinline__ __device__ pipeline<S> shared_pipeline(const Group& group, pipeline_shared_state<S, stages>* state,
                                                       unsigned int producers, unsigned int consumers) {
  if (group.thread_rank() == 0)
    for (int k = 0; k < stages; k++) {
      state->filled[k].set(producers);
      state->free[k].set(consumers);
    }
  group.sync();
  return pipeline<S>(state->filled, state->free, stages);
}
}  // namespace wb

// All threads of the group produce and consume; or so many produce and the others consume; or each says which it does.
template <class Group, thread_scope S, ::std::uint8_t stages>
__forceinline__ __device__ pipeline<S> make_pipeline(const Group& group, pipeline_shared_state<S, stages>* state) {
  return wb::shared_pipeline(group, state, (unsigned int)group.size(), (unsigned int)group.size());
}
template <class Group, thread_scope S, ::std::uint8_t stages>
__forceinline__ __device__ pipeline<S> make_pipeline(const Group& group, pipeline_shared_state<S, stages>* state,
                                                     ::std::size_t producers) {
  return wb::shared_pipeline(group, state, (unsigned int)producers, (unsigned int)(group.size() - producers));
}
template <class Group, thread_scope S, ::std::uint8_t stages>
__forceinline__ __device__ pipeline<S> make_pipeline(const Group& group, pipeline_shared_state<S, stages>* state,
                                                     pipeline_role role) {
  __shared__ unsigned int producers;
  if (group.thread_rank() == 0) producers = 0;
  group.sync();
  if (role == pipeline_role::producer) atomicAdd(&producers, 1u);
  group.sync();
  const unsigned int count = producers;
  return wb::shared_pipeline(group, state, count, (unsigned int)group.size() - count);
}

template < ::std::uint8_t open>
__forceinline__ __device__ void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
#if WB_HAS_ARCH(800)
  wb_async::wait_group<open>();
#endif
}
template <thread_scope S>
__forceinline__ __device__ void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<S>& b) {
#if WB_HAS_ARCH(800)
  wb_async::wait_all();
#endif
  (void)b;
}

template <class Size, thread_scope S>
__forceinline__ __device__ void memcpy_async(void* to, const void* from, Size bytes, pipeline<S>&) {
  wb_async::copy_any(to, from, (::std::size_t)bytes, 0, 1);
}
template <class Group, class Size, thread_scope S>
__forceinline__ __device__ auto memcpy_async(const Group& group, void* to, const void* from, Size bytes, pipeline<S>&)
    -> decltype((void)group.thread_rank()) {
  wb_async::copy_any(to, from, (::std::size_t)bytes, group.thread_rank(), group.size());
}

}  // namespace cuda

#endif
