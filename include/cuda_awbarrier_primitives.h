// Barriers in shared memory that split arriving from waiting, as C functions.
#ifndef WARPBEAM_CUDA_AWBARRIER_PRIMITIVES_H
#define WARPBEAM_CUDA_AWBARRIER_PRIMITIVES_H
#include "warpbeam/hide_macros.h"

#include "warpbeam/cxx/mbarrier.h"

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#if WB_HAS_ARCH(800)
WB_ASYNC unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
WB_ASYNC void __mbarrier_init(__mbarrier_t* barrier, unsigned int count) { wb_async::init(barrier, count); }
WB_ASYNC void __mbarrier_inval(__mbarrier_t* barrier) { wb_async::inval(barrier); }
WB_ASYNC __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) { return wb_async::arrive(barrier); }
WB_ASYNC __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) { return wb_async::arrive_drop(barrier); }
WB_ASYNC bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return wb_async::test_wait(barrier, token);
}
WB_ASYNC bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  return wb_async::test_wait_parity(barrier, parity);
}
WB_ASYNC bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned int = 0) {
  return wb_async::try_wait(barrier, token);
}
WB_ASYNC bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned int = 0) {
  return wb_async::try_wait_parity(barrier, parity);
}
WB_ASYNC unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return wb_async::pending_count(token);
}
#endif

#include "warpbeam/restore_macros.h"
#endif
