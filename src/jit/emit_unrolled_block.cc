// Idea: all warps of a region (unrolled_block.h) are gone through in one straight piece of code, in which elements of shared memory are lanes
// of registers: a load is a permutation of what was stored, a store only notes where things are.
// Precondition: no warp sees what another does in the same region, which would depend on their order.
// Postcondition: where such regions end, what they changed is in shared memory and where regions keep variables.
//
// Fallback: what is not as unrolled leaves before anything shows, and the block begins again region by region.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <map>
#include <set>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr uint32_t kFewestBarriers = 3;  // that are worth it
constexpr size_t kMostSteps = 200;  // regions, one after the other
constexpr size_t kMostCode = 6000;  // LLVM's instructions
constexpr uint32_t kMostTurns = 3000;  // of nodes in a region
constexpr size_t kMostCopies = 4;  // of regions between two that are unrolled

bool all_lanes(uint32_t mask) { return mask == ~0u; }

}  // namespace

// Does it only compute and access shared memory, as far as can be told from its instructions? As a part of the `whole`
// kernel it may also access global memory and be the end.
bool Emitter::can_unroll(const Region& region, bool whole) const {
  if (!whole && region.exit_node < 0 && region.exit_to < 0) return false;
  for (uint32_t n : region.nodes) {
    const Node& node = flow_.nodes[n];
    const bool leaves = whole && node.ends == End::Leave && node.last->guard < 0;
    if (node.polls) return false;
    if (node.ends != End::Fall && node.ends != End::Branch && node.ends != End::Barrier && !leaves) return false;
    if (node.ends == End::Barrier && node.last->mods().red) return false;
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (only_computes(i)) continue;
      const std::optional<Access> a = access_of(i);
      if (!a || (!a->shared && !whole)) return false;
      if (a->shared && ((a->memory != 4 && a->memory != 8) || a->reg != a->memory)) return false;
    }
  }
  return true;
}

BasicBlock* Emitter::way_to(const Region& from, uint32_t node) {
  BasicBlock* region = control_.region_entry[static_cast<size_t>(control_.region_of_entry[node])];
  if (unrolled_.known.empty() || (unrolled_.done[from.entry] && unrolled_.done[node])) return region;
  std::optional<WarpsValues> known = known_between(from, node);
  if (!known) return region;
  UnrolledBlock unrolled;
  unrolled.now.values = std::move(*known);
  BasicBlock* way = unroll(unrolled, node);
  return way ? way : region;
}

// From the kernel's beginning.
BasicBlock* Emitter::way_in() {
  BasicBlock* region = control_.region_entry[static_cast<size_t>(control_.region_of_entry[0])];
  const uint32_t warps = plan_.warps();
  if (!unrolled_.any) return region;
  UnrolledBlock unrolled;
  unrolled.whole = true;
  unrolled.now.values.assign(warps, std::vector<Cells>(flow_.variables.size()));
  if (can_unroll(plan_.regions[static_cast<size_t>(control_.region_of_entry[0])], true))
    unrolled.sampled = known_from(0, unrolled.now.values, nullptr, true);
  BasicBlock* way = unroll(unrolled, 0);
  return way ? way : region;
}

// The code for what can be unrolled from the node on, where the way is one on which all that it takes is known; null:
// too little can.
BasicBlock* Emitter::unroll(UnrolledBlock& r, uint32_t to) {
  const auto region_at = [&](uint32_t node) -> const Region& { return plan_.regions[static_cast<size_t>(control_.region_of_entry[node])]; };
  if (!can_unroll(region_at(to), r.whole)) return nullptr;
  const auto at = b_.saveIP();
  const size_t region_before = at_.region;
  BasicBlock& last_before = w_.function->back();
  const unsigned before_it = w_.function->getInstructionCount();
  r.now.written.assign(r.now.values.size(), Bits(flow_.variables.size()));
  r.now.to = to;
  r.otherwise = control_.region_entry[static_cast<size_t>(control_.region_of_entry[to])];
  r.block = new_block("unrolled");
  auto* const begin = r.block;
  unrolled_.now = &r;
  b_.SetInsertPoint(r.block);
  std::vector<uint32_t> passed;
  while (r.now.to != UnrolledBlock::kEnd && passed.size() < kMostSteps && w_.function->getInstructionCount() < before_it + kMostCode) {
    const Region& region = region_at(r.now.to);
    if (!can_unroll(region, r.whole)) break;
    UnrolledBlock::State before = r.now;
    V condition = r.condition;
    if (!unroll_region(region)) {
      r.now = std::move(before);
      r.condition = condition;
      break;
    }
    passed.push_back(region.entry);
  }
  const bool all = r.now.to == UnrolledBlock::kEnd;
  bool worth = all ? r.now.barriers && !r.now.words.empty() : r.now.barriers >= kFewestBarriers;
  // Of stores, an observer of events is told at the end: none may come before a barrier.
  if (tells())
    worth = worth && all && std::ranges::all_of(r.now.stores, [&](const UnrolledStore& s) { return s.barriers == r.now.barriers; });
  if (worth) {
    for (uint32_t n : passed) unrolled_.done[n] = 1;
    unrolled_.whole = unrolled_.whole || all;
    end_unrolled();
    // Shared memory must be as large as the unrolled block takes it to be.
    r.block = new_block("unrolled_fits");
    b_.SetInsertPoint(r.block);
    const V fits = b_.CreateICmpUGE(context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), b_.getInt64(r.end));
    b_.CreateCondBr(fits, begin, r.otherwise, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  } else {
    while (&w_.function->back() != &last_before) {
      w_.function->back().dropAllReferences();
      w_.function->back().eraseFromParent();
    }
  }
  unrolled_.now = nullptr;
  at_.region = region_before;
  b_.restoreIP(at);
  return worth ? r.block : nullptr;
}

// A value and what is added to it.
std::pair<V, int64_t> Emitter::sum_of(V v) {
  int64_t added = 0;
  while (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(v)) {
    auto* by = sum->getOpcode() == llvm::Instruction::Add ? llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1)) : nullptr;
    if (!by) break;
    added += by->getSExtValue();
    v = sum->getOperand(0);
  }
  return {v, added};
}

// Two stores of all lanes, of every second element each, that leave nothing between them: they are one.
bool Emitter::fill_each_other(const UnrolledStore& a, const UnrolledStore& b) const {
  const auto suits = [&](const UnrolledStore& s) {
    return !s.access.shared && s.access.count == 1 && s.mask == ~0u && s.address.runs == 1 &&
           s.address.stride == 2 * static_cast<int64_t>(s.access.total());
  };
  if (watch_ || a.warp != b.warp || a.access.memory != b.access.memory || a.access.root != b.access.root || !suits(a) || !suits(b))
    return false;
  const auto [from, at] = sum_of(a.address.run[0]);
  const auto [other, behind] = sum_of(b.address.run[0]);
  return from == other && behind - at == static_cast<int64_t>(a.access.total());
}

// Everything that shows, and on to what comes next.
void Emitter::end_unrolled() {
  UnrolledBlock& r = *unrolled_.now;
  look_at_condition();
  const bool ends = r.now.to == UnrolledBlock::kEnd;
  if (!ends) store_unrolled();
  if (tells()) tell_stores();
  const auto in_its_place = [&](UnrolledStore& s, auto make) {  // with what variables were then
    r.warp = s.warp;
    at_.warp = b_.getInt32(s.warp);
    const auto exchange = [&] {
      for (auto& [variable, cells] : s.data) std::swap(r.now.values[s.warp][variable], cells);
    };
    exchange();
    make();
    exchange();
  };
  for (size_t k = 0; k < r.now.stores.size(); ++k) {
    UnrolledStore& s = r.now.stores[k];
    if (k + 1 < r.now.stores.size() && fill_each_other(s, r.now.stores[k + 1])) {
      V data[2] = {};
      for (size_t o = 0; o < 2; ++o) {
        UnrolledStore& one = r.now.stores[k + o];
        in_its_place(one,
                     [&] { data[o] = b_.CreateTrunc(lanes_of(data_of(one.access, 0), one.access.reg), type_of(one.access.memory, true)); });
      }
      const V first = s.address.run[0];
      store_dense(s.access, b_.CreateShuffleVector(data[0], data[1], llvm::createInterleaveMask(kLanes, 2)), first,
                  b_.CreateIntToPtr(first, b_.getPtrTy()));
      ++k;
      continue;
    }
    in_its_place(s, [&] { touch(s.access, s.address, b_.getInt32(s.mask)); });
  }
  count_unrolled();
  if (ends) {
    end_block();
    return;
  }
  keep_unrolled(r.now.to);
  const uint32_t warps = static_cast<uint32_t>(r.now.values.size()), turned = r.now.barriers % warps;
  const V first = b_.CreateLoad(b_.getInt32Ty(), control_.first_warp), less = b_.CreateSub(first, b_.getInt32(turned));
  b_.CreateStore(b_.CreateSelect(b_.CreateICmpULT(first, b_.getInt32(turned)), b_.CreateAdd(less, b_.getInt32(warps)), less),
                 control_.first_warp);

  // What comes next may know more than on other ways, and lead to more that can be unrolled.
  const Region& next = plan_.regions[static_cast<size_t>(control_.region_of_entry[r.now.to])];
  BasicBlock* on = control_.region_entry[static_cast<size_t>(control_.region_of_entry[next.entry])];
  std::vector<uint32_t> following;
  if (next.exit_to >= 0) following = {static_cast<uint32_t>(next.exit_to)};
  else if (next.exit_node >= 0) following = flow_.nodes[static_cast<size_t>(next.exit_node)].next;
  const bool leads_on = std::ranges::any_of(
      following, [&](uint32_t n) { return can_unroll(plan_.regions[static_cast<size_t>(control_.region_of_entry[n])], false); });
  if (leads_on && !can_unroll(next, false) && unrolled_.copies.size() < kMostCopies) {
    auto* here = b_.GetInsertBlock();
    on = new_block("region_again");
    unrolled_.copies.push_back(
        {on, static_cast<size_t>(control_.region_of_entry[next.entry]), known_from(next.entry, r.now.values, &next)});
    b_.SetInsertPoint(here);
  }
  b_.CreateBr(on);
}

// Blocks of which something does not hold that was taken for granted begin again.
void Emitter::look_at_condition() {
  UnrolledBlock& r = *unrolled_.now;
  if (!r.condition) return;
  auto* on = new_block("as_unrolled");
  go_on_if(r.condition, on, elsewhere(), llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  r.block = on;
  r.condition = nullptr;
}

void Emitter::take_for_granted(V condition) {
  UnrolledBlock& r = *unrolled_.now;
  r.condition = r.condition ? b_.CreateAnd(r.condition, condition) : condition;
}

// All warps, and which region comes next. False: it cannot be unrolled after all.
bool Emitter::unroll_region(const Region& region) {
  UnrolledBlock& r = *unrolled_.now;
  ++r.step;
  at_.region = static_cast<size_t>(&region - plan_.regions.data());
  const uint32_t warps = static_cast<uint32_t>(r.now.values.size()), first = warps - r.now.barriers % warps;
  for (uint32_t turn = 0; turn < warps; ++turn) {
    r.warp = (first + turn) % warps;
    if (!unroll_warp(region)) return false;
  }
  if (region.exit_to >= 0) {
    r.now.to = static_cast<uint32_t>(region.exit_to);
    return true;
  }
  if (region.exit_node < 0) {
    r.now.to = UnrolledBlock::kEnd;
    return true;
  }
  const Node& node = flow_.nodes[static_cast<size_t>(region.exit_node)];
  if (node.ends == End::Barrier) {
    if (node.next.empty()) return false;
    for (uint32_t w = 0; w < warps; ++w) note_executed(*node.last, ~0u, ~0u);
    ++r.now.barriers;
    r.now.untold = node.last;
    r.now.to = node.next[0];
    return true;
  }
  uint32_t every = ~0u, some = 0;
  for (r.warp = 0; r.warp < warps; ++r.warp) {
    at_.warp = b_.getInt32(r.warp);
    at_.active = b_.getInt32(~0u);
    const std::optional<uint32_t> taken = unrolled_mask(*node.last);
    if (!taken) return false;
    note_executed(*node.last, ~0u, *taken);
    every &= *taken;
    some |= *taken;
  }
  if (!all_lanes(every) && some) return false;
  r.now.to = node.next[some ? 0 : 1];
  return true;
}

// The lanes of at_.active for which the instruction's guard holds, where they are known.
std::optional<uint32_t> Emitter::unrolled_mask(const vm::Insn& i) {
  const V mask = folded(guard_mask(i));
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(mask)) return static_cast<uint32_t>(known->getZExtValue());
  return std::nullopt;
}

// The lanes of at_.active that branch at the end of the node. Where that depends on where the data end, as in `if (i < n)`,
// all of them are taken to go where there is something to do.
std::optional<uint32_t> Emitter::unrolled_branch(const Region& region) {
  const Node& node = flow_.nodes[at_.node];
  if (const std::optional<uint32_t> known = unrolled_mask(*node.last)) return known;
  if (!all_lanes(static_cast<uint32_t>(llvm::cast<llvm::ConstantInt>(at_.active)->getZExtValue()))) return std::nullopt;
  // Where the predicate is made: here, or at the one place where it is.
  const auto makes = [&](const Node& n) {
    return std::ranges::any_of(flow_.slots.begin() + n.begin, flow_.slots.begin() + n.end, [&](const std::vector<Slot>& slots) {
      return std::ranges::any_of(slots, [&](const Slot& s) { return s.written && s.at == node.last->guard; });
    });
  };
  const Node* made = makes(node) ? &node : nullptr;
  if (!made && std::ranges::count_if(flow_.nodes, makes) == 1) made = &*std::ranges::find_if(flow_.nodes, makes);
  bool says = true;
  const vm::Insn* compare = made ? compared(*made, node.last->guard, says) : nullptr;
  if (!compare || !compares_steps(*made, node.last->guard, made->end)) return std::nullopt;
  const auto leads = [&](uint32_t from, uint32_t to) {
    std::vector<uint32_t> work{from};
    std::set<uint32_t> seen{from};
    while (!work.empty()) {
      const uint32_t n = work.back();
      work.pop_back();
      if (n == to) return true;
      if (!inside(n) || region.exit_node == static_cast<int32_t>(n)) continue;
      for (uint32_t s : flow_.nodes[n].next)
        if (seen.insert(s).second) work.push_back(s);
    }
    return false;
  };
  const auto past_jumps = [&](uint32_t n) {
    const auto does_nothing = [&](const Node& at) {
      return at.ends == End::Fall && !at.next.empty() &&
             std::all_of(flow_.code->insns.begin() + at.begin, flow_.code->insns.begin() + at.end,
                         [&](const vm::Insn& i) { return i.silent(); });
    };
    for (size_t steps = 0; inside(n) && does_nothing(flow_.nodes[n]) && steps < region.nodes.size(); ++steps) n = flow_.nodes[n].next[0];
    return n;
  };
  const uint32_t ways[] = {past_jumps(node.next[0]), past_jumps(node.next[1])};
  const bool first = leads(ways[0], ways[1]), second = leads(ways[1], ways[0]);
  const uint32_t way = node.next[first ? 0 : 1];
  if (first == second || leads(way, at_.node)) return std::nullopt;
  const uint32_t taken = first ? ~0u : 0;
  const bool holds = first != node.last->guard_negated;  // the predicate, in all lanes
  const V all = made == &node ? goes_one_way(*compare, holds == says) : nullptr;
  take_for_granted(all ? all : b_.CreateICmpEQ(folded(guard_mask(*node.last)), b_.getInt32(taken)));
  // From here on it is known.
  if (const Source p = flow_.source(node.last->guard, 0); p.kind == SourceKind::Variable) {
    UnrolledBlock& r = *unrolled_.now;
    r.now.values[r.warp][p.variable][0] = llvm::ConstantInt::get(type_of(0, shapes_.variables[p.variable].runs == 0), holds);
    r.now.written[r.warp].add(p.variable);
  }
  return taken;
}

// Does the comparison say what is wanted for all lanes of all warps? Where one side grows evenly and the other is the same
// in the block, its least and its greatest value tell. Null: there is no such simple answer.
V Emitter::goes_one_way(const vm::Insn& i, bool wanted) {
  using isa::Cmp;
  UnrolledBlock& r = *unrolled_.now;
  const isa::Type t = i.type();
  const Cmp cmp = i.mods().cmp;
  if (isa::is_float(t) || cmp == Cmp::Eq || cmp == Cmp::Ne || isa::bits_of(t) < 32) return nullptr;
  const Width bytes = static_cast<Width>(isa::bytes_of(t));
  for (const int k : {1, 2}) {
    const Shape own = shapes_.source(i.op[k], bytes), other = shapes_.source(i.op[3 - k], bytes);
    if (own.runs != 1 || own.stride <= 0 || !other.uniform() || other.reach != Reach::Block) continue;
    const std::optional<int64_t> pace = sampled_pace(i.op[k], bytes);
    if (!pace || *pace < 0) continue;
    bool first = false;
    const V mine = as_first(i, read(i.op[k], bytes).run[0], *pace, first);
    if (!first) return b_.getTrue();
    const auto from = [&](int64_t d) { return b_.CreateAdd(mine, llvm::ConstantInt::getSigned(lane_type(bytes), d)); };
    const V least = from(-*pace * static_cast<int64_t>(r.warp)),
            most = from(*pace * static_cast<int64_t>(r.now.values.size() - 1 - r.warp) + own.stride * (kLanes - 1)),
            limit = read(i.op[3 - k], bytes).run[0];
    V good = isa::is_signed(t) ? b_.CreateICmpSLE(least, most) : b_.CreateICmpULE(least, most);
    for (const V end : {least, most}) {
      const V says = k == 1 ? arithmetic_.compare(i, end, limit) : arithmetic_.compare(i, limit, end);
      good = b_.CreateAnd(good, wanted ? says : b_.CreateNot(says));
    }
    return good;
  }
  return nullptr;
}

// Goes through the region as lanes do: the group that is furthest behind first.
bool Emitter::unroll_warp(const Region& region) {
  UnrolledBlock& r = *unrolled_.now;
  at_.warp = b_.getInt32(r.warp);
  r.visits.clear();
  std::map<uint32_t, uint32_t> waiting{{region.entry, ~0u}};
  uint32_t arrived = 0;
  const auto go_to = [&](uint32_t node, uint32_t lanes) {
    if (lanes) (inside(node) ? waiting[node] : arrived) |= lanes;
  };
  for (uint32_t turn = 0; !waiting.empty(); ++turn) {
    const auto [n, mask] = *waiting.begin();
    waiting.erase(waiting.begin());
    if (turn > kMostTurns || r.block->size() > 2 * kMostCode) return false;
    const Node& node = flow_.nodes[n];
    at_.node = n;
    ++r.visits[n];
    at_.active = b_.getInt32(mask);
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k)
      if (!unroll_instruction(flow_.code->insns[k])) return false;
    if (region.exit_node == static_cast<int32_t>(n) || node.ends == End::Leave || node.next.empty()) {
      if (node.last && region.exit_node != static_cast<int32_t>(n)) note_executed(*node.last, mask, mask);
      arrived |= mask;
    } else if (node.ends == End::Fall) {
      if (node.last) note_executed(*node.last, mask, mask);
      go_to(node.next[0], mask);
    } else {
      const std::optional<uint32_t> taken = unrolled_branch(region);
      if (!taken) return false;
      note_executed(*node.last, mask, *taken);
      go_to(node.next[0], *taken);
      go_to(node.next[1], mask & ~*taken);
    }
  }
  return all_lanes(arrived);
}

bool Emitter::unroll_instruction(const vm::Insn& i) {
  const V whole = at_.active;
  uint32_t mask = static_cast<uint32_t>(llvm::cast<llvm::ConstantInt>(whole)->getZExtValue());
  if (tells() && i.watched == vm::Watched::WarpSync) return false;
  const std::optional<uint32_t> guarded = i.guard < 0 ? mask : unrolled_mask(i);
  if (!guarded) return false;
  note_executed(i, mask, *guarded);
  if (!*guarded || i.silent()) return true;
  if (i.guard >= 0) {
    at_.forced = *guarded != mask;
    mask = *guarded;
    at_.active = b_.getInt32(mask);
  }
  std::vector<V> wraps;
  as_.wraps = &wraps;
  bool good = true;
  if (const std::optional<Access> a = access_of(i)) good = a->shared ? unroll_access(*a, mask) : unroll_global(*a, mask);
  else dispatch(i);
  as_.wraps = nullptr;
  at_.forced = false;
  at_.active = whole;
  for (V w : wraps)
    if (const V wrap = folded(w); wrap != b_.getFalse()) take_for_granted(b_.CreateNot(wrap));
  unrolled_.now->block = b_.GetInsertBlock();
  return good;
}

}  // namespace warpbeam::jit
