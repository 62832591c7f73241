// Bulk copies by the copy engine, as the programming guide's examples name them: cuda::device::experimental.
#ifndef WARPBEAM_CXX_BULK_H
#define WARPBEAM_CXX_BULK_H

#include "barrier.h"

#if WB_HAS_ARCH(900)
struct CUtensorMap_st;

namespace cuda {
namespace device {
namespace experimental {

#define WB_SHARED(p) "r"(wb_async::shared_address(p))
#define WB_BAR WB_SHARED(b.wb_native())

typedef cuda::barrier<thread_scope_block> WbBarrier;

WB_ASYNC void cp_async_bulk_global_to_shared(void* to, const void* from, unsigned int bytes, WbBarrier& b) {
  WB_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::WB_SHARED(to),
         "l"(from), "r"(bytes), WB_BAR
         : "memory");
}
WB_ASYNC void cp_async_bulk_shared_to_global(void* to, const void* from, unsigned int bytes) {
  WB_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), WB_SHARED(from), "r"(bytes)
         : "memory");
}
WB_ASYNC void cp_async_bulk_commit_group() { WB_ASM("cp.async.bulk.commit_group;" ::: "memory"); }
template <int open>
WB_ASYNC void cp_async_bulk_wait_group() {
  WB_ASM("cp.async.bulk.wait_group %0;" ::"n"(open) : "memory");
}
template <int open>
WB_ASYNC void cp_async_bulk_wait_group_read() {
  WB_ASM("cp.async.bulk.wait_group.read %0;" ::"n"(open) : "memory");
}
WB_ASYNC void fence_proxy_async_shared_cta() { WB_ASM("fence.proxy.async.shared::cta;" ::: "memory"); }

#define WB_TENSOR(n, parameters, slots, ...)                                                                          \
  WB_ASYNC void cp_async_bulk_tensor_##n##d_global_to_shared(void* to, const CUtensorMap_st* map,                     \
                                                             WB_UNPACK parameters, WbBarrier& b) {                    \
    WB_ASM("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" slots \
           "}], [%2];" ::WB_SHARED(to),                                                                               \
           "l"(map), WB_BAR, __VA_ARGS__                                                                              \
           : "memory");                                                                                               \
  }                                                                                                                   \
  WB_ASYNC void cp_async_bulk_tensor_##n##d_shared_to_global(const CUtensorMap_st* map, WB_UNPACK parameters,         \
                                                             const void* from) {                                      \
    WB_ASM("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%1, {" slots                             \
           "}], [%0];" ::WB_SHARED(from),                                                                             \
           "l"(map), "n"(0), __VA_ARGS__                                                                              \
           : "memory");                                                                                               \
  }
#define WB_UNPACK(...) __VA_ARGS__
WB_TENSOR(1, (int c0), "%3", "r"(c0))
WB_TENSOR(2, (int c0, int c1), "%3, %4", "r"(c0), "r"(c1))
WB_TENSOR(3, (int c0, int c1, int c2), "%3, %4, %5", "r"(c0), "r"(c1), "r"(c2))
WB_TENSOR(4, (int c0, int c1, int c2, int c3), "%3, %4, %5, %6", "r"(c0), "r"(c1), "r"(c2), "r"(c3))
WB_TENSOR(5, (int c0, int c1, int c2, int c3, int c4), "%3, %4, %5, %6, %7", "r"(c0), "r"(c1), "r"(c2), "r"(c3),
          "r"(c4))
#undef WB_TENSOR
#undef WB_UNPACK
#undef WB_SHARED
#undef WB_BAR

}  // namespace experimental
}  // namespace device
}  // namespace cuda
#endif

#endif
