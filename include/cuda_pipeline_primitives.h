// Copies from global to shared memory that run beside the thread, in groups.
#ifndef WARPBEAM_CUDA_PIPELINE_PRIMITIVES_H
#define WARPBEAM_CUDA_PIPELINE_PRIMITIVES_H
#include "warpbeam/hide_macros.h"

#ifndef __CUDACC_RTC__
#include <stdint.h>  // programs name their addresses uint32_t
#endif

#include "cuda_awbarrier_primitives.h"

// `zfill` bytes at the end are zeros instead of the source's. Both sides must be aligned to the size: 4, 8 or 16 bytes.
WB_ASYNC void __pipeline_memcpy_async(void* __restrict__ to, const void* __restrict__ from, __SIZE_TYPE__ size,
                                      __SIZE_TYPE__ zfill = 0) {
#if WB_HAS_ARCH(800)
  const unsigned int read = (unsigned int)(size - zfill);
  if (size == 16)
    wb_async::copy<16>(to, from, read);
  else if (size == 8)
    wb_async::copy<8>(to, from, read);
  else
    wb_async::copy<4>(to, from, read);
#else
  for (__SIZE_TYPE__ i = 0; i < size; i++) ((char*)to)[i] = i < size - zfill ? ((const char*)from)[i] : 0;
#endif
}
WB_ASYNC void __pipeline_commit() {
#if WB_HAS_ARCH(800)
  wb_async::commit_group();
#endif
}
// Waits until at most `open` of the latest groups are under way.
WB_ASYNC void __pipeline_wait_prior(__SIZE_TYPE__ open) {
#if WB_HAS_ARCH(800)
  if (open == 0)
    wb_async::wait_group<0>();
  else if (open == 1)
    wb_async::wait_group<1>();
  else if (open == 2)
    wb_async::wait_group<2>();
  else if (open == 3)
    wb_async::wait_group<3>();
  else if (open == 4)
    wb_async::wait_group<4>();
  else if (open == 5)
    wb_async::wait_group<5>();
  else if (open == 6)
    wb_async::wait_group<6>();
  else
    wb_async::wait_group<7>();
#endif
}
WB_ASYNC void __pipeline_arrive_on(__mbarrier_t* barrier) {
#if WB_HAS_ARCH(800)
  wb_async::copies_arrive((wb_async::Word*)barrier);
#endif
}

#include "warpbeam/restore_macros.h"
#endif
