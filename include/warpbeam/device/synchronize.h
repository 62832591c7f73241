// Barriers, fences, clocks, traps, and the registers that say where a thread is.
#ifndef WARPBEAM_DEVICE_SYNCHRONIZE_H
#define WARPBEAM_DEVICE_SYNCHRONIZE_H

#include "vector_types.h"

// Barriers. What they wait for, others do: they must not be duplicated or moved into branches.
WB_DEVICE __attribute__((convergent)) int __syncthreads_count(int predicate) { return __nvvm_bar0_popc(predicate); }
WB_DEVICE __attribute__((convergent)) int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
WB_DEVICE __attribute__((convergent)) int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
// Older names of theirs.
WB_DEVICE __attribute__((convergent)) int syncthreads_count(bool predicate) { return __syncthreads_count(predicate); }
WB_DEVICE __attribute__((convergent)) bool syncthreads_and(bool predicate) { return __syncthreads_and(predicate); }
WB_DEVICE __attribute__((convergent)) bool syncthreads_or(bool predicate) { return __syncthreads_or(predicate); }
WB_DEVICE __attribute__((convergent)) void __syncwarp(unsigned int mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
WB_DEVICE __attribute__((convergent)) void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
WB_DEVICE __attribute__((convergent)) void __barrier_sync_count(unsigned int id, unsigned int count) {
  __nvvm_barrier_sync_cnt(id, count);
}

// Fences.
WB_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
WB_DEVICE void __threadfence() { __nvvm_membar_gl(); }
WB_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

// Time.
WB_DEVICE int clock() { return __nvvm_read_ptx_sreg_clock(); }
WB_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
#if WB_HAS_ARCH(700)
WB_DEVICE void __nanosleep(unsigned int nanoseconds) { asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds) : "memory"); }
#endif
WB_DEVICE unsigned int __pm0() { return __nvvm_read_ptx_sreg_pm0(); }
WB_DEVICE unsigned int __pm1() { return __nvvm_read_ptx_sreg_pm1(); }
WB_DEVICE unsigned int __pm2() { return __nvvm_read_ptx_sreg_pm2(); }
WB_DEVICE unsigned int __pm3() { return __nvvm_read_ptx_sreg_pm3(); }

// Ends.
WB_DEVICE void __trap() { asm volatile("trap;"); }
WB_DEVICE void __brkpt() { asm volatile("brkpt;"); }
WB_DEVICE void __brkpt(int) { asm volatile("brkpt;"); }
// The event number is part of the instruction, so it must be a constant.
#define __prof_trigger(event) asm volatile("pmevent %0;" ::"i"(event))

// What kind of memory a generic address points to, and its place there.
#define WB_PURE static __inline__ __attribute__((always_inline, nodebug, unused, const)) __device__
WB_PURE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
WB_PURE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
WB_PURE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
WB_PURE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
#define WB_DEFINE_ADDRESS(space, number)                                                              \
  WB_PURE __SIZE_TYPE__ __cvta_generic_to_##space(const void* p) {                                    \
    return (__SIZE_TYPE__)(const __attribute__((address_space(number))) char*)p;                      \
  }                                                                                                   \
  WB_PURE void* __cvta_##space##_to_generic(__SIZE_TYPE__ address) {                                  \
    return (void*)(__attribute__((address_space(number))) char*)address;                              \
  }
WB_DEFINE_ADDRESS(global, 1)
WB_DEFINE_ADDRESS(shared, 3)
WB_DEFINE_ADDRESS(constant, 4)
WB_DEFINE_ADDRESS(local, 5)
#undef WB_DEFINE_ADDRESS
// The name the compiler's own expansions use.
WB_PURE unsigned int __nvvm_get_smem_pointer(void* p) { return (unsigned int)__cvta_generic_to_shared(p); }

#if WB_HAS_ARCH(700)
WB_PURE unsigned int __isGridConstant(const void* p) {
  unsigned int result;
  asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(result) : "l"(p));
  return result;
}
WB_PURE __SIZE_TYPE__ __cvta_generic_to_grid_constant(const void* p) {
  __SIZE_TYPE__ result;
  asm("cvta.to.param.u64 %0, %1;" : "=l"(result) : "l"(p));
  return result;
}
WB_PURE void* __cvta_grid_constant_to_generic(__SIZE_TYPE__ address) {
  void* result;
  asm("cvta.param.u64 %0, %1;" : "=l"(result) : "l"(address));
  return result;
}
#endif

// Clusters
#if WB_HAS_ARCH(900)
WB_DEVICE void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
WB_DEVICE void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" :::); }
WB_DEVICE void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
WB_DEVICE void __threadfence_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }
WB_DEVICE unsigned int __clusterDimIsSpecified() { return __nvvm_is_explicit_cluster(); }
WB_DEVICE unsigned int __clusterRelativeBlockRank() { return __nvvm_read_ptx_sreg_cluster_ctarank(); }
WB_DEVICE unsigned int __clusterSizeInBlocks() { return __nvvm_read_ptx_sreg_cluster_nctarank(); }
#define WB_DEFINE_CLUSTER_TRIPLE(name, reg)                                                                      \
  WB_DEVICE dim3 name() {                                                                                        \
    return dim3(__nvvm_read_ptx_sreg_##reg##_x(), __nvvm_read_ptx_sreg_##reg##_y(), __nvvm_read_ptx_sreg_##reg##_z()); \
  }
WB_DEFINE_CLUSTER_TRIPLE(__clusterDim, cluster_nctaid)
WB_DEFINE_CLUSTER_TRIPLE(__clusterRelativeBlockIdx, cluster_ctaid)
WB_DEFINE_CLUSTER_TRIPLE(__clusterGridDimInClusters, nclusterid)
WB_DEFINE_CLUSTER_TRIPLE(__clusterIdx, clusterid)
#undef WB_DEFINE_CLUSTER_TRIPLE
WB_PURE unsigned int __isCtaShared(const void* p) { return __nvvm_isspacep_shared(p); }
WB_PURE unsigned int __isClusterShared(const void* p) { return __nvvm_isspacep_shared_cluster(p); }
WB_PURE void* __cluster_map_shared_rank(const void* p, unsigned int rank) { return __nvvm_mapa((void*)p, (int)rank); }
WB_PURE unsigned int __cluster_query_shared_rank(const void* p) { return __nvvm_getctarank((void*)p); }
#endif
#undef WB_PURE

#endif
