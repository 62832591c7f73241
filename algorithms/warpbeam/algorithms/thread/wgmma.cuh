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

// d += A B over 32 bytes of both operands' rows: 64 rows of A, and of B twice as many as there are sums in a thread.
#define WB_MULTIPLY(sums, columns, list, outputs, a_place, b_place, accumulate_place)                                  \
  template <class T>                                                                                                   \
  __device__ void multiply(float (&d)[sums], uint64_t a, uint64_t b, int accumulate) {                                 \
    if constexpr (std::is_same_v<T, __nv_bfloat16>) {                                                                  \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " accumulate_place ", 0;\n\t"                                 \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" list "}, " a_place ", " b_place  \
                   ", p, 1, 1, 0, 0;\n\t}"                                                                             \
                   : outputs                                                                                           \
                   : "l"(a), "l"(b), "r"(accumulate));                                                                 \
    } else {                                                                                                           \
      asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " accumulate_place ", 0;\n\t"                                 \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" list "}, " a_place ", " b_place   \
                   ", p, 1, 1;\n\t}"                                                                                   \
                   : outputs                                                                                           \
                   : "l"(a), "l"(b), "r"(accumulate));                                                                 \
    }                                                                                                                  \
  }

#define WB_NAMES_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define WB_NAMES_1 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WB_NAMES_2 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define WB_NAMES_3 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WB_NAMES_4 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define WB_NAMES_5 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define WB_NAMES_6 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define WB_NAMES_7 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define WB_LIST_16 WB_NAMES_0
#define WB_LIST_32 WB_LIST_16 "," WB_NAMES_1
#define WB_LIST_48 WB_LIST_32 "," WB_NAMES_2
#define WB_LIST_64 WB_LIST_48 "," WB_NAMES_3
#define WB_LIST_80 WB_LIST_64 "," WB_NAMES_4
#define WB_LIST_96 WB_LIST_80 "," WB_NAMES_5
#define WB_LIST_112 WB_LIST_96 "," WB_NAMES_6
#define WB_LIST_128 WB_LIST_112 "," WB_NAMES_7
#define WB_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WB_D16 WB_D4(0), WB_D4(4), WB_D4(8), WB_D4(12)
#define WB_D32 WB_D16, WB_D4(16), WB_D4(20), WB_D4(24), WB_D4(28)
#define WB_D48 WB_D32, WB_D4(32), WB_D4(36), WB_D4(40), WB_D4(44)
#define WB_D64 WB_D48, WB_D4(48), WB_D4(52), WB_D4(56), WB_D4(60)
#define WB_D80 WB_D64, WB_D4(64), WB_D4(68), WB_D4(72), WB_D4(76)
#define WB_D96 WB_D80, WB_D4(80), WB_D4(84), WB_D4(88), WB_D4(92)
#define WB_D112 WB_D96, WB_D4(96), WB_D4(100), WB_D4(104), WB_D4(108)
#define WB_D128 WB_D112, WB_D4(112), WB_D4(116), WB_D4(120), WB_D4(124)

WB_MULTIPLY(16, 32, WB_LIST_16, WB_D16, "%16", "%17", "%18")
WB_MULTIPLY(32, 64, WB_LIST_32, WB_D32, "%32", "%33", "%34")
WB_MULTIPLY(48, 96, WB_LIST_48, WB_D48, "%48", "%49", "%50")
WB_MULTIPLY(64, 128, WB_LIST_64, WB_D64, "%64", "%65", "%66")
WB_MULTIPLY(80, 160, WB_LIST_80, WB_D80, "%80", "%81", "%82")
WB_MULTIPLY(96, 192, WB_LIST_96, WB_D96, "%96", "%97", "%98")
WB_MULTIPLY(112, 224, WB_LIST_112, WB_D112, "%112", "%113", "%114")
WB_MULTIPLY(128, 256, WB_LIST_128, WB_D128, "%128", "%129", "%130")

#undef WB_MULTIPLY
#undef WB_D4
#undef WB_NAMES_0
#undef WB_NAMES_1
#undef WB_NAMES_2
#undef WB_NAMES_3
#undef WB_NAMES_4
#undef WB_NAMES_5
#undef WB_NAMES_6
#undef WB_NAMES_7
#undef WB_LIST_16
#undef WB_D16
#undef WB_LIST_32
#undef WB_D32
#undef WB_LIST_48
#undef WB_D48
#undef WB_LIST_64
#undef WB_D64
#undef WB_LIST_80
#undef WB_D80
#undef WB_LIST_96
#undef WB_D96
#undef WB_LIST_112
#undef WB_D112
#undef WB_LIST_128
#undef WB_D128

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
