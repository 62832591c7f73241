// cuda::ptx: the tags that choose an instruction's form, barriers, fences, copies and what is special to a thread.
#ifndef WARPBEAM_CXX_PTX_BARRIERS_H
#define WARPBEAM_CXX_PTX_BARRIERS_H

#include <cstdint>

#include "mbarrier.h"
#include "std.h"

namespace cuda {
namespace ptx {

#define WB_TAG(type, name, number)       \
  struct type {                          \
    static constexpr int value = number; \
  };                                     \
  static constexpr type name{};
WB_TAG(space_global_t, space_global, 0)
WB_TAG(space_shared_t, space_shared, 1)
WB_TAG(space_cluster_t, space_cluster, 2)
WB_TAG(sem_relaxed_t, sem_relaxed, 0)
WB_TAG(sem_acquire_t, sem_acquire, 1)
WB_TAG(sem_release_t, sem_release, 2)
WB_TAG(sem_acq_rel_t, sem_acq_rel, 3)
WB_TAG(sem_sc_t, sem_sc, 4)
WB_TAG(scope_cta_t, scope_cta, 0)
WB_TAG(scope_cluster_t, scope_cluster, 1)
WB_TAG(scope_gpu_t, scope_gpu, 2)
WB_TAG(scope_sys_t, scope_sys, 3)
WB_TAG(op_add_t, op_add, 0)
WB_TAG(op_min_t, op_min, 1)
WB_TAG(op_max_t, op_max, 2)
WB_TAG(op_inc_t, op_inc, 3)
WB_TAG(op_dec_t, op_dec, 4)
WB_TAG(op_and_op_t, op_and_op, 5)
WB_TAG(op_or_op_t, op_or_op, 6)
WB_TAG(op_xor_op_t, op_xor_op, 7)
#undef WB_TAG
template <int n>
struct n32_t {
  static constexpr int value = n;
};
template <int n>
static constexpr n32_t<n> n32{};

// --- special registers -------------------------------------------------------------------------------------------
#define WB_REGISTER(T, name, constraint, instruction) \
  WB_ASYNC T get_sreg_##name() {                      \
    T v = 0;                                          \
    WB_ASM(instruction : "=" constraint(v));          \
    return v;                                         \
  }
#define WB_REGISTERS(name)                                                  \
  WB_REGISTER(::std::uint32_t, name##_x, "r", "mov.u32 %0, %%" #name ".x;") \
  WB_REGISTER(::std::uint32_t, name##_y, "r", "mov.u32 %0, %%" #name ".y;") \
  WB_REGISTER(::std::uint32_t, name##_z, "r", "mov.u32 %0, %%" #name ".z;")
WB_REGISTERS(tid)
WB_REGISTERS(ntid)
WB_REGISTERS(ctaid)
WB_REGISTERS(nctaid)
WB_REGISTER(::std::uint32_t, laneid, "r", "mov.u32 %0, %%laneid;")
WB_REGISTER(::std::uint32_t, warpid, "r", "mov.u32 %0, %%warpid;")
WB_REGISTER(::std::uint32_t, smid, "r", "mov.u32 %0, %%smid;")
WB_REGISTER(::std::uint32_t, nsmid, "r", "mov.u32 %0, %%nsmid;")
WB_REGISTER(::std::uint32_t, lanemask_eq, "r", "mov.u32 %0, %%lanemask_eq;")
WB_REGISTER(::std::uint32_t, lanemask_lt, "r", "mov.u32 %0, %%lanemask_lt;")
WB_REGISTER(::std::uint32_t, lanemask_le, "r", "mov.u32 %0, %%lanemask_le;")
WB_REGISTER(::std::uint32_t, lanemask_gt, "r", "mov.u32 %0, %%lanemask_gt;")
WB_REGISTER(::std::uint32_t, lanemask_ge, "r", "mov.u32 %0, %%lanemask_ge;")
WB_REGISTER(::std::uint32_t, clock, "r", "mov.u32 %0, %%clock;")
WB_REGISTER(::std::uint64_t, clock64, "l", "mov.u64 %0, %%clock64;")
WB_REGISTER(::std::uint64_t, globaltimer, "l", "mov.u64 %0, %%globaltimer;")
#if WB_HAS_ARCH(900)
WB_REGISTERS(clusterid)
WB_REGISTERS(nclusterid)
WB_REGISTERS(cluster_ctaid)
WB_REGISTERS(cluster_nctaid)
WB_REGISTER(::std::uint32_t, cluster_ctarank, "r", "mov.u32 %0, %%cluster_ctarank;")
WB_REGISTER(::std::uint32_t, cluster_nctarank, "r", "mov.u32 %0, %%cluster_nctarank;")
#endif
#undef WB_REGISTER
#undef WB_REGISTERS

// --- mbarrier ----------------------------------------------------------------------------------------------------
#if WB_HAS_ARCH(800)
WB_ASYNC void mbarrier_init(::std::uint64_t* b, const ::std::uint32_t& count) {
  wb_async::init((wb_async::Word*)b, count);
}
WB_ASYNC ::std::uint64_t mbarrier_arrive(::std::uint64_t* b) { return wb_async::arrive((wb_async::Word*)b); }
WB_ASYNC bool mbarrier_test_wait(::std::uint64_t* b, const ::std::uint64_t& state) {
  return wb_async::test_wait((wb_async::Word*)b, state);
}
WB_ASYNC bool mbarrier_test_wait_parity(::std::uint64_t* b, const ::std::uint32_t& parity) {
  return wb_async::test_wait_parity((wb_async::Word*)b, parity);
}
WB_ASYNC bool mbarrier_try_wait(::std::uint64_t* b, const ::std::uint64_t& state) {
  return wb_async::try_wait((wb_async::Word*)b, state);
}
WB_ASYNC bool mbarrier_try_wait_parity(::std::uint64_t* b, const ::std::uint32_t& parity) {
  return wb_async::try_wait_parity((wb_async::Word*)b, parity);
}
#endif
#if WB_HAS_ARCH(900)
template <class Sem, class Scope>
WB_ASYNC ::std::uint64_t mbarrier_arrive(Sem, Scope, space_shared_t, ::std::uint64_t* b) {
  return wb_async::arrive((wb_async::Word*)b);
}
template <class Sem, class Scope>
WB_ASYNC ::std::uint64_t mbarrier_arrive(Sem, Scope, space_shared_t, ::std::uint64_t* b, const ::std::uint32_t& count) {
  return wb_async::arrive((wb_async::Word*)b, count);
}
template <class Sem, class Scope>
WB_ASYNC void mbarrier_arrive(Sem, Scope, space_cluster_t, ::std::uint64_t* b) {
  WB_ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(wb_async::shared_address(b)) : "memory");
}
template <class Sem, class Scope>
WB_ASYNC void mbarrier_arrive(Sem, Scope, space_cluster_t, ::std::uint64_t* b, const ::std::uint32_t& count) {
  WB_ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(wb_async::shared_address(b)),
         "r"(count)
         : "memory");
}
template <class Sem, class Scope>
WB_ASYNC ::std::uint64_t mbarrier_arrive_expect_tx(Sem, Scope, space_shared_t, ::std::uint64_t* b,
                                                   const ::std::uint32_t& bytes) {
  return wb_async::arrive_expect_tx((wb_async::Word*)b, bytes);
}
template <class Sem, class Scope>
WB_ASYNC void mbarrier_arrive_expect_tx(Sem, Scope, space_cluster_t, ::std::uint64_t* b, const ::std::uint32_t& bytes) {
  WB_ASM(
      "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(wb_async::shared_address(b)),
      "r"(bytes)
      : "memory");
}
template <class Sem, class Scope>
WB_ASYNC void mbarrier_expect_tx(Sem, Scope, space_shared_t, ::std::uint64_t* b, const ::std::uint32_t& bytes) {
  wb_async::expect_tx((wb_async::Word*)b, bytes);
}
template <class Sem, class Scope>
WB_ASYNC bool mbarrier_try_wait(Sem, Scope, ::std::uint64_t* b, const ::std::uint64_t& state) {
  return wb_async::try_wait((wb_async::Word*)b, state);
}
template <class Sem, class Scope>
WB_ASYNC bool mbarrier_try_wait_parity(Sem, Scope, ::std::uint64_t* b, const ::std::uint32_t& parity) {
  return wb_async::try_wait_parity((wb_async::Word*)b, parity);
}

// --- copies ------------------------------------------------------------------------------------------------------
#define WB_AT(p) "r"(wb_async::shared_address(p))
template <class Space>
WB_ASYNC void cp_async_bulk(Space, space_global_t, void* to, const void* from, const ::std::uint32_t& bytes,
                            ::std::uint64_t* b) {
  WB_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::WB_AT(to),
         "l"(from), "r"(bytes), WB_AT(b)
         : "memory");
}
WB_ASYNC void cp_async_bulk(space_cluster_t, space_global_t, void* to, const void* from, const ::std::uint32_t& bytes,
                            ::std::uint64_t* b, const ::std::uint16_t& blocks) {
  WB_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::WB_AT(to),
      "l"(from), "r"(bytes), WB_AT(b), "h"(blocks)
      : "memory");
}
WB_ASYNC void cp_async_bulk(space_cluster_t, space_shared_t, void* to, const void* from, const ::std::uint32_t& bytes,
                            ::std::uint64_t* b) {
  WB_ASM("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::WB_AT(to),
         WB_AT(from), "r"(bytes), WB_AT(b)
         : "memory");
}
WB_ASYNC void cp_async_bulk(space_global_t, space_shared_t, void* to, const void* from, const ::std::uint32_t& bytes) {
  WB_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), WB_AT(from), "r"(bytes) : "memory");
}
WB_ASYNC void cp_async_bulk_commit_group() { WB_ASM("cp.async.bulk.commit_group;" ::: "memory"); }
template <int n>
WB_ASYNC void cp_async_bulk_wait_group(n32_t<n>) {
  WB_ASM("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}
template <int n>
WB_ASYNC void cp_async_bulk_wait_group_read(n32_t<n>) {
  WB_ASM("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}
#define WB_TENSOR(n, slots, ...)                                                                                      \
  template <class Space>                                                                                              \
  WB_ASYNC void cp_async_bulk_tensor(Space, space_global_t, void* to, const void* map, const ::std::int32_t(&at)[n],  \
                                     ::std::uint64_t* b) {                                                            \
    WB_ASM("cp.async.bulk.tensor." #n "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" slots \
           "}], [%2];" ::WB_AT(to),                                                                                   \
           "l"(map), WB_AT(b), __VA_ARGS__                                                                            \
           : "memory");                                                                                               \
  }                                                                                                                   \
  WB_ASYNC void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map, const ::std::int32_t(&at)[n],   \
                                     const void* from) {                                                              \
    WB_ASM("cp.async.bulk.tensor." #n "d.global.shared::cta.tile.bulk_group [%0, {" slots "}], [%1];" ::"l"(map),     \
           WB_AT(from), "n"(0), __VA_ARGS__                                                                           \
           : "memory");                                                                                               \
  }
WB_TENSOR(1, "%3", "r"(at[0]))
WB_TENSOR(2, "%3, %4", "r"(at[0]), "r"(at[1]))
WB_TENSOR(3, "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]))
WB_TENSOR(4, "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]))
WB_TENSOR(5, "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]))
#undef WB_TENSOR

// --- fences, clusters, the rest ----------------------------------------------------------------------------------
WB_ASYNC void fence_proxy_async() { WB_ASM("fence.proxy.async;" ::: "memory"); }
WB_ASYNC void fence_proxy_async(space_global_t) { WB_ASM("fence.proxy.async.global;" ::: "memory"); }
WB_ASYNC void fence_proxy_async(space_shared_t) { WB_ASM("fence.proxy.async.shared::cta;" ::: "memory"); }
WB_ASYNC void fence_proxy_async(space_cluster_t) { WB_ASM("fence.proxy.async.shared::cluster;" ::: "memory"); }
WB_ASYNC void fence_mbarrier_init(sem_release_t, scope_cluster_t) {
  WB_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
}
WB_ASYNC void barrier_cluster_arrive() { WB_ASM("barrier.cluster.arrive;" ::: "memory"); }
WB_ASYNC void barrier_cluster_arrive(sem_release_t) { WB_ASM("barrier.cluster.arrive.release;" ::: "memory"); }
WB_ASYNC void barrier_cluster_arrive(sem_relaxed_t) { WB_ASM("barrier.cluster.arrive.relaxed;" ::: "memory"); }
WB_ASYNC void barrier_cluster_wait() { WB_ASM("barrier.cluster.wait;" ::: "memory"); }
WB_ASYNC void barrier_cluster_wait(sem_acquire_t) { WB_ASM("barrier.cluster.wait.acquire;" ::: "memory"); }
template <class T>
WB_ASYNC T* mapa(space_cluster_t, const T* p, ::std::uint32_t rank) {
  ::std::uint64_t q = 0;
  WB_ASM("mapa.u64 %0, %1, %2;" : "=l"(q) : "l"(p), "r"(rank));
  return (T*)q;
}
WB_ASYNC ::std::uint32_t getctarank(space_cluster_t, const void* p) {
  ::std::uint32_t rank = 0;
  WB_ASM("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(p));
  return rank;
}
WB_ASYNC bool elect_sync(const ::std::uint32_t& members) {
  int mine = 0;
  WB_ASM("{ .reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p; }" : "=r"(mine) : "r"(members));
  return mine != 0;
}
WB_ASYNC void st_async(::std::uint32_t* to, const ::std::uint32_t& value, ::std::uint64_t* b) {
  WB_ASM("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::WB_AT(to), "r"(value),
         WB_AT(b)
         : "memory");
}
WB_ASYNC void st_async(::std::uint64_t* to, const ::std::uint64_t& value, ::std::uint64_t* b) {
  WB_ASM("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::WB_AT(to), "l"(value),
         WB_AT(b)
         : "memory");
}
#undef WB_AT
#endif

}  // namespace ptx
}  // namespace cuda

#endif
