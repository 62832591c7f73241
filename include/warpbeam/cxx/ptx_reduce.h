// cuda::ptx: fences of a scope, and the reductions that go on while the thread does.
#ifndef WARPBEAM_CXX_PTX_REDUCE_H
#define WARPBEAM_CXX_PTX_REDUCE_H

#include "ptx_barriers.h"

namespace cuda {
namespace ptx {

#define WB_FENCE(scope)                                                                                          \
  WB_ASYNC void fence(sem_sc_t, scope_##scope##_t) { WB_ASM("fence.sc." #scope ";" ::: "memory"); }             \
  WB_ASYNC void fence(sem_acq_rel_t, scope_##scope##_t) { WB_ASM("fence.acq_rel." #scope ";" ::: "memory"); }
#if WB_HAS_ARCH(700)
WB_FENCE(cta)
WB_FENCE(gpu)
WB_FENCE(sys)
WB_ASYNC void fence_proxy_alias() { WB_ASM("fence.proxy.alias;" ::: "memory"); }
#endif
#if WB_HAS_ARCH(900)
WB_FENCE(cluster)

#define WB_MAP_FENCE(scope)                                                                        \
  WB_ASYNC void fence_proxy_tensormap_generic(sem_release_t, scope_##scope##_t) {                  \
    WB_ASM("fence.proxy.tensormap::generic.release." #scope ";" ::: "memory");                     \
  }                                                                                                \
  template <int n>                                                                                 \
  WB_ASYNC void fence_proxy_tensormap_generic(sem_acquire_t, scope_##scope##_t, const void* map, n32_t<n>) { \
    WB_ASM("fence.proxy.tensormap::generic.acquire." #scope " [%0], %1;" ::"l"(map), "n"(n) : "memory");     \
  }
WB_MAP_FENCE(cta)
WB_MAP_FENCE(cluster)
WB_MAP_FENCE(gpu)
WB_MAP_FENCE(sys)
#undef WB_MAP_FENCE

// One value into shared memory of any block of the cluster; the barrier there counts its bytes.
#define WB_RED(op, T, type, constraint)                                                                             \
  WB_ASYNC void red_async(op_##op##_t, T* to, const T& value, ::std::uint64_t* b) {                                 \
    WB_ASM("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes" type " [%0], %1, [%2];" ::"r"(  \
               wb_async::shared_address(to)),                                                                       \
           constraint(value), "r"(wb_async::shared_address(b))                                                      \
           : "memory");                                                                                             \
  }
// Bytes of this block's shared memory into those of another block of the cluster.
#define WB_EXCHANGE(op, T, type)                                                                                        \
  WB_ASYNC void cp_reduce_async_bulk(space_cluster_t, space_shared_t, op_##op##_t, T* to, const T* from,                \
                                     ::std::uint32_t bytes, ::std::uint64_t* b) {                                       \
    WB_ASM("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" type " [%0], [%1], %2, [%3];" \
           ::"r"(wb_async::shared_address(to)),                                                                         \
           "r"(wb_async::shared_address(from)), "r"(bytes), "r"(wb_async::shared_address(b))                            \
           : "memory");                                                                                                 \
  }
// Into global memory.
#define WB_BULK(op, T, type)                                                                                          \
  WB_ASYNC void cp_reduce_async_bulk(space_global_t, space_shared_t, op_##op##_t, T* to, const T* from,               \
                                     ::std::uint32_t bytes) {                                                         \
    WB_ASM("cp.reduce.async.bulk.global.shared::cta.bulk_group" type " [%0], [%1], %2;" ::"l"(to),                    \
           "r"(wb_async::shared_address(from)), "r"(bytes)                                                            \
           : "memory");                                                                                               \
  }
#define WB_BOTH_SHARED(op, T, type, constraint) WB_RED(op, T, type, constraint) WB_EXCHANGE(op, T, type)
#define WB_EVERYWHERE(op, T, type, constraint) WB_BOTH_SHARED(op, T, type, constraint) WB_BULK(op, T, type)
WB_EVERYWHERE(add, ::std::uint32_t, ".add.u32", "r")
WB_EVERYWHERE(min, ::std::uint32_t, ".min.u32", "r")
WB_EVERYWHERE(max, ::std::uint32_t, ".max.u32", "r")
WB_EVERYWHERE(inc, ::std::uint32_t, ".inc.u32", "r")
WB_EVERYWHERE(dec, ::std::uint32_t, ".dec.u32", "r")
WB_EVERYWHERE(and_op, ::std::uint32_t, ".and.b32", "r")
WB_EVERYWHERE(or_op, ::std::uint32_t, ".or.b32", "r")
WB_EVERYWHERE(xor_op, ::std::uint32_t, ".xor.b32", "r")
WB_EVERYWHERE(add, ::std::int32_t, ".add.s32", "r")
WB_EVERYWHERE(min, ::std::int32_t, ".min.s32", "r")
WB_EVERYWHERE(max, ::std::int32_t, ".max.s32", "r")
WB_EVERYWHERE(and_op, ::std::int32_t, ".and.b32", "r")
WB_EVERYWHERE(or_op, ::std::int32_t, ".or.b32", "r")
WB_EVERYWHERE(xor_op, ::std::int32_t, ".xor.b32", "r")
WB_EVERYWHERE(add, ::std::uint64_t, ".add.u64", "l")
WB_EVERYWHERE(add, ::std::int64_t, ".add.u64", "l")
WB_BULK(min, ::std::uint64_t, ".min.u64")
WB_BULK(max, ::std::uint64_t, ".max.u64")
WB_BULK(min, ::std::int64_t, ".min.s64")
WB_BULK(max, ::std::int64_t, ".max.s64")
WB_BULK(and_op, ::std::uint64_t, ".and.b64")
WB_BULK(or_op, ::std::uint64_t, ".or.b64")
WB_BULK(xor_op, ::std::uint64_t, ".xor.b64")
WB_BULK(add, float, ".add.f32")
WB_BULK(add, double, ".add.f64")
#undef WB_EVERYWHERE
#undef WB_BOTH_SHARED
#undef WB_BULK
#undef WB_EXCHANGE
#undef WB_RED
#endif
#undef WB_FENCE

}  // namespace ptx
}  // namespace cuda

#endif
