// Pipelines of copies, as CUDA 11.0's samples name them; cuda/pipeline has what came of them.
#ifndef WARPBEAM_CUDA_PIPELINE_H
#define WARPBEAM_CUDA_PIPELINE_H
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

#ifdef __cplusplus
namespace nvcuda {
namespace experimental {

// Batches of copies of one thread, in the order in which they were committed.
class pipeline {
 public:
  WB_ASYNC pipeline() : committed_(0) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  WB_ASYNC size_t commit() {
    __pipeline_commit();
    return committed_++;
  }
  WB_ASYNC void commit_and_wait() {
    commit();
    __pipeline_wait_prior(0);
  }
  // How many may be under way is part of the instruction.
  WB_ASYNC void wait(size_t batch) {
    const size_t later = committed_ > batch ? committed_ - batch - 1 : 0;
    if (later >= 4) __pipeline_wait_prior(4);
    else if (later == 3) __pipeline_wait_prior(3);
    else if (later == 2) __pipeline_wait_prior(2);
    else if (later == 1) __pipeline_wait_prior(1);
    else __pipeline_wait_prior(0);
  }
  template <unsigned N>
  WB_ASYNC void wait_prior() {
    __pipeline_wait_prior(N);
  }
  WB_ASYNC void arrive_on(awbarrier& barrier) { __pipeline_arrive_on(&barrier.word_); }

 private:
  size_t committed_;
};

// Pieces as wide as the hardware copies them; others are copied at once.
template <class T>
WB_ASYNC void memcpy_async(T& dst, const T& src, pipeline&) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16)
    __pipeline_memcpy_async(&dst, &src, sizeof(T));
  else
    dst = src;
}
template <class T, size_t DstN, size_t SrcN>
WB_ASYNC void memcpy_async(T (*dst)[DstN], const T (*src)[SrcN], pipeline& pipe) {
  for (size_t i = 0; i < DstN; ++i) {
    if (i < SrcN)
      memcpy_async((*dst)[i], (*src)[i], pipe);
    else
      (*dst)[i] = T();
  }
}

}  // namespace experimental
}  // namespace nvcuda
#endif

#include "warpbeam/restore_macros.h"
#endif
