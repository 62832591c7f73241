// Idea: where `tid` grows evenly from warp to warp and `s` is the same for the block, `if (tid < s)` is one comparison for all of at most
// 32 warps, and only those with a lane that goes in are run. Precondition: on the other way nothing happens that is seen later.
// Postcondition: idle warps are where they would have come to. Fallback: all warps are run.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Cmp;
namespace In = llvm::Intrinsic;

namespace {

Cmp opposite(Cmp c) {
  switch (c) {
    case Cmp::Lt: return Cmp::Ge;
    case Cmp::Lo: return Cmp::Hs;
    case Cmp::Le: return Cmp::Gt;
    case Cmp::Ls: return Cmp::Hi;
    case Cmp::Gt: return Cmp::Le;
    case Cmp::Hi: return Cmp::Ls;
    case Cmp::Ge: return Cmp::Lt;
    case Cmp::Hs: return Cmp::Lo;
    case Cmp::Eq: return Cmp::Ne;
    default: return Cmp::Eq;
  }
}

bool below(Cmp c) { return c == Cmp::Lt || c == Cmp::Lo || c == Cmp::Le || c == Cmp::Ls; }
bool above(Cmp c) { return c == Cmp::Gt || c == Cmp::Hi || c == Cmp::Ge || c == Cmp::Hs; }
bool or_equal(Cmp c) { return c == Cmp::Le || c == Cmp::Ls || c == Cmp::Ge || c == Cmp::Hs; }

}  // namespace

// From the node on, a warp only comes to the region's end. `computes`: on its way it finds values of the whole block.
bool Emitter::does_nothing(uint32_t n, const Region& region, bool& computes) const {
  const Bits live = live_at_exit(flow_, region);
  for (size_t steps = 0; steps <= region.nodes.size(); ++steps) {
    if (region.exit_to == static_cast<int32_t>(n)) return true;
    if (!inside(n) || n == region.entry) return false;
    const Node& node = flow_.nodes[n];
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (!only_computes(i)) return false;
      for (const Slot& s : flow_.slots[k]) {
        const auto v = flow_.variable(s.at);
        if (!s.written || !v || !live.has(*v)) continue;
        if (!block_level(*v)) return false;
        computes = true;
      }
    }
    if (region.exit_node == static_cast<int32_t>(n)) return node.ends == End::Branch || !node.last->mods().red;
    const bool leaves = region.exit_node < 0 && region.exit_to < 0;
    if (node.ends == End::Leave) return leaves && node.last->guard < 0;
    if (node.ends != End::Fall) return false;
    if (node.next.empty()) return leaves;
    n = node.next[0];
  }
  return false;
}

V Emitter::warps_to_run(const Region& region) {
  const uint32_t warps = plan_.warps();
  static const bool without = left_out("skip");
  if (!control_.many_regions || control_.lanes_leave || warps > 32 || without) return nullptr;
  if (region.entry == 0 && (region.exit_node >= 0 || region.exit_to >= 0)) return nullptr;
  // Straight to the first branch on which lanes or warps disagree.
  const Bits live = live_at_exit(flow_, region);
  std::vector<uint32_t> way;  // instructions
  bool computes = false;
  uint32_t n = region.entry;
  for (size_t steps = 0;; ++steps) {
    const Node& node = flow_.nodes[n];
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (!only_computes(i) || (i.guard >= 0 && !of_block(i.guard, 0))) return nullptr;
      for (const Slot& s : flow_.slots[k]) {
        const auto v = flow_.variable(s.at);
        if (!s.written || !v || !live.has(*v)) continue;
        if (!block_level(*v)) return nullptr;
        computes = true;
      }
      way.push_back(k);
    }
    if (region.exit_node == static_cast<int32_t>(n) || node.next.empty() || steps > 8) return nullptr;
    if (node.ends == End::Branch) break;
    if (node.ends != End::Fall || !inside(node.next[0]) || node.next[0] == region.entry) return nullptr;
    n = node.next[0];
  }
  const Node& fork = flow_.nodes[n];
  const Shape says = fork.last->guard < 0 ? uniform_shape(Reach::Block) : shapes_.source(fork.last->guard, 0);
  const bool by_warps = says.uniform() && says.reach == Reach::Warp && !plan_.decides[n];
  if ((!shapes_.divergent[n] && !by_warps) || fork.next[0] == fork.next[1]) return nullptr;
  int idle = -1;  // the way on which nothing happens
  for (int k = 0; k < 2 && idle < 0; ++k) {
    bool more = false;
    if (!does_nothing(fork.next[static_cast<size_t>(k)], region, more)) continue;
    idle = k;
    computes = computes || more;
  }
  if (idle < 0) return nullptr;

  // The comparison.
  bool wanted = (idle == 1) != fork.last->guard_negated;  // what the predicate says for lanes that have something to do
  int32_t guard = fork.last->guard;
  const vm::Insn* compare = nullptr;
  for (size_t k = way.size(); k-- > 0 && !compare;) {
    const vm::Insn& i = flow_.code->insns[way[k]];
    const bool writes =
        std::any_of(flow_.slots[way[k]].begin(), flow_.slots[way[k]].end(), [&](const Slot& s) { return s.written && s.at == guard; });
    if (!writes) continue;
    if (i.guard >= 0 || i.list) return nullptr;
    if (i.step == vm::Step::NotPred) {
      guard = i.op[1];
      wanted = !wanted;
      continue;
    }
    compare = &i;
  }
  if (!compare || !compare->is(isa::Opcode::Setp) || compare->op[0] != guard || compare->mods().boolop != isa::BoolOp::None) return nullptr;
  const isa::Type t = compare->type();
  const unsigned width = static_cast<unsigned>(isa::bits_of(t));
  if (isa::is_float(t) || (width != 32 && width != 64)) return nullptr;
  const Width bytes = static_cast<Width>(width / 8);
  Cmp cmp = wanted ? compare->mods().cmp : opposite(compare->mods().cmp);
  int at = 0;
  for (int k = 1; k <= 2 && !at; ++k) {
    const Shape own = shapes_.source(compare->op[k], bytes), other = shapes_.source(compare->op[3 - k], bytes);
    const bool grows = own.runs == 1 && own.stride != 0 && own.paced && own.bits <= 30 && std::abs(own.stride) < 1 << 16;
    if (grows && other.one_value()) at = k;
  }
  if (!at || cmp == Cmp::Ne) return nullptr;
  const Shape shape = shapes_.source(compare->op[at], bytes);
  const bool is_below = at == 1 ? below(cmp) : above(cmp);

  // What both sides are in warp 0.
  std::vector<uint32_t> needed;
  Bits wants(flow_.variables.size());
  const auto want = [&](int32_t slot) {
    if (const auto v = flow_.variable(slot)) wants.add(*v);
  };
  want(compare->op[1]);
  want(compare->op[2]);
  for (size_t k = way.size(); k-- > 0;) {
    const vm::Insn& i = flow_.code->insns[way[k]];
    if (&i >= compare) continue;
    bool makes = false;
    for (const Slot& s : flow_.slots[way[k]])
      if (const auto v = flow_.variable(s.at); s.written && v) makes = makes || wants.has(*v);
    if (!makes) continue;
    needed.push_back(way[k]);
    for (const Slot& s : flow_.slots[way[k]])
      if (s.read) want(s.at);
  }
  at_.warp = b_.getInt32(0);
  at_.active = b_.getInt32(~0u);
  at_.node = n;
  load_spills(region);
  std::vector<V> wraps;
  as_.wraps = &wraps;
  for (size_t k = needed.size(); k-- > 0;) emit_instruction(flow_.code->insns[needed[k]]);
  as_.wraps = nullptr;
  uses(Technique::IdleWarps);
  const V first = read(compare->op[at], bytes).run[0], limit = read(compare->op[3 - at], bytes).run[0];

  // Each warp's least and greatest value.
  const int64_t span = shape.stride * (kLanes - 1);
  auto* type = llvm::FixedVectorType::get(lane_type(bytes), warps);
  const auto all_warps = [&](int64_t from) {
    std::vector<llvm::Constant*> steps;
    for (int64_t w = 0; w < warps; ++w) steps.push_back(llvm::ConstantInt::getSigned(type->getElementType(), from + w * shape.pace));
    return b_.CreateAdd(b_.CreateVectorSplat(warps, first), llvm::ConstantVector::get(steps));
  };
  const V low = all_warps(std::min<int64_t>(span, 0)), high = all_warps(std::max<int64_t>(span, 0));
  const V x = b_.CreateVectorSplat(warps, limit);
  const bool sg = isa::is_signed(t);
  const auto less = [&](V p, V q) { return sg ? b_.CreateICmpSLT(p, q) : b_.CreateICmpULT(p, q); };
  const auto not_above = [&](V p, V q) { return sg ? b_.CreateICmpSLE(p, q) : b_.CreateICmpULE(p, q); };
  V run;
  if (cmp == Cmp::Eq) run = b_.CreateAnd(not_above(low, x), not_above(x, high));
  else if (is_below) run = or_equal(cmp) ? not_above(low, x) : less(low, x);
  else run = or_equal(cmp) ? not_above(x, high) : less(x, high);
  V bits = b_.CreateZExt(b_.CreateBitCast(run, b_.getIntNTy(warps)), b_.getInt64Ty());
  // Values of the block that this region finds are found by any warp.
  if (computes) bits = b_.CreateOr(bits, b_.getInt64(1));
  for (V w : wraps) bits = b_.CreateSelect(w, b_.getInt64((uint64_t(1) << warps) - 1), bits);
  if (warps > 1) {  // as the warps take turns
    const V turned = b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), control_.first_warp), b_.getInt64Ty());
    bits = b_.CreateOr(b_.CreateLShr(bits, turned), b_.CreateShl(bits, b_.CreateSub(b_.getInt64(warps), turned)));
    bits = b_.CreateAnd(bits, b_.getInt64((uint64_t(1) << warps) - 1));
  }
  return b_.CreateTrunc(bits, b_.getInt32Ty());
}

}  // namespace warpbeam::jit
