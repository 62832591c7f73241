// Hopper's warpgroup matrix instructions and what surrounds them: tensor copies, cluster barriers, register budgets.
#pragma once

#include "../config.cuh"
#include "bulk.cuh"

#if WB_WGMMA

#include <cuda.h>
#include <cuda_bf16.h>

namespace warpbeam::wgmma {

// Describes a tile in shared memory whose rows are 128 bytes, swizzled by the copy engine in groups of 8 rows.
__device__ inline uint64_t descriptor(const void* shared) {
  uint64_t address = bulk::shared_address(shared);
  constexpr uint64_t kStride = 1024 >> 4;  // from one group of 8 rows to the next
  return (address & 0x3ffff) >> 4 | uint64_t{1} << 16 | kStride << 32 | uint64_t{1} << 62;
}

__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int kPending>
__device__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define WB_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WB_D16(i) WB_D4(i), WB_D4(i + 4), WB_D4(i + 8), WB_D4(i + 12)
#define WB_D64(i) WB_D16(i), WB_D16(i + 16), WB_D16(i + 32), WB_D16(i + 48)
#define WB_LIST_128                                                                                                  \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
  "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57," \
  "%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85," \
  "%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,"  \
  "%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127}"

// d += A B over 32 bytes of both operands' rows: 64 rows of A, 256 rows of B.
template <class T>
__device__ void multiply(float (&d)[128], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " WB_LIST_128 ", %128, %129, p, 1, 1, 0, 0;\n\t}"
                 : WB_D64(0), WB_D64(64)
                 : "l"(a), "l"(b), "r"(accumulate));
  } else {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %130, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 " WB_LIST_128 ", %128, %129, p, 1, 1;\n\t}"
                 : WB_D64(0), WB_D64(64)
                 : "l"(a), "l"(b), "r"(accumulate));
  }
}

#define WB_LIST_64                                                                                                    \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
  "%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57," \
  "%58,%59,%60,%61,%62,%63}"
#define WB_LIST_32                                                                                                    \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29," \
  "%30,%31}"

// The same for 128 rows of B.
template <class T>
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " WB_LIST_64 ", %64, %65, p, 1, 1, 0, 0;\n\t}"
                 : WB_D64(0)
                 : "l"(a), "l"(b), "r"(accumulate));
  } else {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %66, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " WB_LIST_64 ", %64, %65, p, 1, 1;\n\t}"
                 : WB_D64(0)
                 : "l"(a), "l"(b), "r"(accumulate));
  }
}

// And for 64.
template <class T>
__device__ void multiply(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " WB_LIST_32 ", %32, %33, p, 1, 1, 0, 0;\n\t}"
                 : WB_D16(0), WB_D16(16)
                 : "l"(a), "l"(b), "r"(accumulate));
  } else {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %34, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 " WB_LIST_32 ", %32, %33, p, 1, 1;\n\t}"
                 : WB_D16(0), WB_D16(16)
                 : "l"(a), "l"(b), "r"(accumulate));
  }
}

#undef WB_LIST_64
#undef WB_LIST_32
#undef WB_D4
#undef WB_D16
#undef WB_D64
#undef WB_LIST_128

template <int kRegisters>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// A box of a tensor to every block of the cluster named in `blocks`, at the same place, completing on each one's own barrier.
__device__ inline void load_box_to(void* shared, const CUtensorMap* map, int x, int y, uint64_t* barrier, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(bulk::shared_address(shared)),
      "l"(map), "r"(bulk::shared_address(barrier)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}

// Arrives on the barrier at the same place in another block of the cluster. The matrix instructions that read the stage
// are complete, so nothing has to be made visible: asking for release at cluster scope would cost a fence per slice.
__device__ inline void arrive_at(uint64_t* barrier, unsigned block) {
  asm volatile(
      "{\n\t.reg .b32 remote;\n\t"
      "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t}" ::"r"(bulk::shared_address(barrier)),
      "r"(block)
      : "memory");
}

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// The two halves of a barrier among all threads of the cluster; every thread takes both.
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// Stores four 8 x 8 matrices of two-byte items; a lane gives the start of a row, and holds two items of a row of each.
__device__ inline void store_parts(void* shared, const unsigned (&word)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(bulk::shared_address(shared)),
               "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
               : "memory");
}

}  // namespace warpbeam::wgmma

#endif
