// Hopper's bulk copies between global and shared memory, and the barriers that count their bytes. One thread moves a
// whole tile; the others stay free. Nothing here is compiled on the portable path.
#pragma once

#include "../config.cuh"

#if WB_BULK_COPY

#include <cuda.h>

namespace warpbeam::bulk {

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// The next multiple of `alignment`, by an offset: the compiler would lose track of the memory's kind in an address made
// from a number.
__device__ inline unsigned char* round_up_shared(unsigned char* pointer, uint32_t alignment) {
  return pointer + (-shared_address(pointer) & (alignment - 1));
}

__device__ inline void init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine and to the other blocks of a cluster.
__device__ inline void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Orders ordinary accesses to shared memory before later accesses of the copy engine or the tensor cores.
__device__ inline void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ inline void expect(uint64_t* barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

__device__ inline void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ inline void wait(uint64_t* barrier, uint32_t phase) {
  asm volatile(
      "{\n\t"
      ".reg .pred done;\n\t"
      "again:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
      "@!done bra again;\n\t"
      "}" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}

// Both addresses and the size are multiples of 16.
__device__ inline void load(void* shared, const void* global, uint32_t bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(global), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

__device__ inline void store(void* global, const void* shared, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(shared_address(shared)), "r"(bytes)
               : "memory");
}

__device__ inline void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Waits until at most kPending of this thread's groups still have to read their shared memory.
template <int kPending>
__device__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

// Fetches a tensor map, a kernel parameter, before its first use.
__device__ inline void prefetch_map(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// A box of the tensor to this block; `map` is a kernel parameter.
__device__ inline void load_box(void* shared, const CUtensorMap* map, int x, int y, uint64_t* barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared_address(shared)),
               "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
               : "memory");
}

__device__ inline void store_box(const CUtensorMap* map, int x, int y, const void* shared) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(shared_address(shared))
               : "memory");
}

// A barrier among the threads of one squad; number 0 belongs to __syncthreads.
template <int kThreads>
__device__ void squad_sync(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
}

}  // namespace warpbeam::bulk

#endif
