#include "jit/rows.h"

#include <algorithm>
#include <bit>

namespace warpbeam::jit {
namespace {

using isa::Kind;
using isa::Special;

constexpr uint32_t kLeast = 8;  // lanes of a row: shapes have at most four runs
constexpr uint32_t kMostWarps = 32;

// Does somebody ask which threads are a warp?
bool tells_warps(const vm::Insn& i, const Flow& flow) {
  if (i.call) return !flow.is_library_call(i);
  const isa::Row* row = known_row(i);
  if (i.step == vm::Step::ReadSpecial || (i.row() && !row && !i.effects().pure())) return true;
  if (!row) return false;
  const isa::Mods& m = i.mods();
  const bool barrier = row->kind == Kind::Barrier && row->cls == isa::Class::Barrier;
  return row->kind == Kind::Warp || row->kind == Kind::Async || row->kind == Kind::Tensor || i.watched == vm::Watched::WarpSync ||
         (barrier && (m.red || waits_for_some(i))) || m.sem == isa::Sem::Volatile;
}

}  // namespace

std::array<uint32_t, 3> filled(std::array<uint32_t, 3> block, uint32_t row) {
  if (row) block[0] = std::max(kLeast, row < kLanes ? std::bit_ceil(row) : (row + kLanes - 1) / kLanes * kLanes);
  return block;
}

uint32_t whole_warp(const KernelPlan& plan) {
  if (!plan.row || plan.row >= kLanes) return ~0u;
  uint32_t mask = 0;
  for (uint32_t first = 0; first < kLanes; first += plan.block[0]) mask |= ((1u << plan.row) - 1) << first;
  return mask;
}

uint32_t row_to_fill(const Flow& flow, const PlanRequest& r) {
  const auto& [x, y, z] = r.block;
  const bool uneven = x > 2 && (x < kLeast || (!std::has_single_bit(x) && x % kLanes != 0));
  if (!uneven || y * z == 1 || r.wanted.compiled || r.in_turns || left_out("rows_filled")) return 0;
  const auto wide = filled(r.block, x);
  const uint32_t warps = (x * y * z + kLanes - 1) / kLanes, wanted = (wide[0] * y * z + kLanes - 1) / kLanes;
  if (wanted > kMostWarps || wanted > 2 * warps) return 0;
  bool along = false, across = false;  // is there anything to gain?
  for (const auto& [at, special] : flow.special_at) {
    if (special->kind != vm::SlotKind::Special) continue;
    switch (special->special) {
      case Special::Tid: (special->component == 0 ? along : across) = true; break;
      case Special::Laneid:
      case Special::Warpid:
      case Special::Nwarpid:
      case Special::LanemaskEq:
      case Special::LanemaskLe:
      case Special::LanemaskLt:
      case Special::LanemaskGe:
      case Special::LanemaskGt: return 0;
      default: break;
    }
  }
  const bool tells = std::ranges::any_of(flow.code->insns, [&](const vm::Insn& i) { return tells_warps(i, flow); });
  return along && across && !tells ? x : 0;
}

}  // namespace warpbeam::jit
