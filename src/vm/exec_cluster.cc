// Clusters: their barrier, and addresses of other blocks' shared memory.
#include <fmt/format.h>

#include "vm/exec_lane.h"
#include "vm/spans.h"
#include "vm/tensor.h"

namespace warpbeam::vm {
namespace {

void arrive(Warp& w, const Insn& i, uint32_t mask) {
  if (const uint32_t again = mask & (w.cluster_arrived | w.cluster_passed))
    w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(again), "a thread arrives at the cluster's barrier twice without waiting");
  w.cluster_arrived |= mask;
  ++w.block->progress;
  w.block->leader->check_cluster_barrier();
}

void wait(Warp& w, const Insn& i, uint32_t mask) {
  if (const uint32_t strangers = mask & ~(w.cluster_arrived | w.cluster_passed))
    w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(strangers), "a thread waits at the cluster's barrier without having arrived");
  if (mask & w.cluster_arrived) {
    if (mask != w.active) w.split(w.active & ~mask, w.ip);
    w.wait_for_cluster(i);
  } else {
    w.cluster_passed &= ~mask;
  }
}

// The same place in the shared memory of the cluster's block `rank`.
template <class T>
void map_address(Warp& w, const Insn& i, uint32_t mask) {
  const bool generic = i.mods().space == isa::Space::Generic;
  const uint64_t blocks = w.block->leader->members.size();
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const uint64_t address = value_of(w, i.wide[1], l), rank = static_cast<uint32_t>(value_of(w, i.wide[2], l));
    if (rank >= blocks)
      w.trap(TrapKind::IllegalInstruction, i, l,
             fmt::format("block {} of the cluster does not exist: it has {} block{}", rank, blocks, blocks == 1 ? "" : "s"));
    const uint64_t offset = shared_offset(w, i, l, address) % kClusterStride;
    const uint64_t other = rank == w.block->cluster_rank ? 0 : (rank + 1) * kClusterStride;  // a block's own memory has one address
    w.lanes<T>(i.wide[0].slot)[l] = static_cast<T>((generic ? kSharedWindow : 0) + other + offset);
  }
}

void rank_of(Warp& w, const Insn& i, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const uint64_t offset = shared_offset(w, i, l, value_of(w, i.wide[1], l));
    w.lanes<uint32_t>(i.wide[0].slot)[l] =
        static_cast<uint32_t>(offset < kClusterStride ? w.block->cluster_rank : offset / kClusterStride - 1);
  }
}

}  // namespace

Handler select_cluster(const ptx::Instruction& i) {
  const std::string_view s = i.form.row->syntax;
  if (s.starts_with("barrier.cluster.arrive")) return arrive;
  if (s.starts_with("barrier.cluster.wait")) return wait;
  if (s.starts_with("mapa")) return i.form.type == isa::Type::U32 ? map_address<uint32_t> : map_address<uint64_t>;
  if (s.starts_with("getctarank")) return rank_of;
  return nullptr;
}

}  // namespace warpbeam::vm
