// Idea: a warp runs through a region before the next one begins; where a part of it only reads and computes, several warps can go
// through that together, a step of each in turn. They share what they load, as a row of a tile, and what they read one after the
// other lies together, where a warp by itself would jump, as in a grid-stride loop.
// Precondition: all lanes of a team go the same way.
// Postcondition: nothing that a team does shows before it is through (what it counts in shared memory: emit_counts.cc).
// Fallback: when lanes part, its warps go on one by one from there; when one comes to anything unusual, they begin the region
// again.
//
// A team that goes through arrays side by side may store, too, where what it stores in one round is not what it accesses
// elsewhere in that round: each round looks whether all is well before the first store, and when it is not the warps go on one by
// one from the beginning of the round.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "jit/emitter.h"
#include "jit/rows.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

static constexpr uint32_t kMostFailures = 4;  // in a block, after which its warps stay by themselves

void Emitter::as_member(CoarsenedWarps& team, size_t m) {
  const auto change = [&](Member& member) {
    std::swap(registers_.storage, member.storage);
    std::swap(named_.windows, member.windows);
    std::swap(at_.warp, member.warp);
    std::swap(spills_.piece, member.spill_piece);
  };
  if (team.member == m) return;
  if (team.member != CoarsenedWarps::kNobody) change(team.members[team.member]);
  if (m != CoarsenedWarps::kNobody) change(team.members[m]);
  team.member = m;
}

// The region up to where the team is through or its warps part.
void Emitter::emit_coarsened(const Region& region, CoarsenedWarps& team, V turn, BasicBlock* single, BasicBlock* done) {
  uses(Technique::WarpCoarsening);
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  const auto counter = [&] {
    auto* a = top.CreateAlloca(b_.getInt32Ty());
    top.CreateStore(b_.getInt32(0), a);
    return a;
  };
  team.left = counter();
  team.resume = counter();
  team.failures = counter();
  const size_t count = static_cast<size_t>(team.warps);
  team.taken = scratch(llvm::ArrayType::get(b_.getInt32Ty(), count));
  team.parted.assign(flow_.variables.size(), {});
  team.blocks.assign(flow_.nodes.size(), nullptr);
  const uint32_t warps = plan_.warps();
  auto* ready = new_block("team");
  team.apart = new_block("apart");
  team.single = single;
  V go = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), team.left), b_.getInt32(0));
  go = b_.CreateAnd(go, b_.CreateICmpULE(turn, b_.getInt32(warps - static_cast<uint32_t>(count))));
  go = b_.CreateAnd(go, b_.CreateICmpULT(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(kMostFailures)));
  for (size_t m = 0; m < count; ++m) {
    Member member;
    member.warp = warp_at(b_.CreateAdd(turn, b_.getInt32(static_cast<uint32_t>(m))));
    if (control_.lanes_leave) {
      const V at = b_.CreateGEP(b_.getInt32Ty(), context_field(offsetof(Context, live), b_.getPtrTy(), true), member.warp);
      go = b_.CreateAnd(go, b_.CreateICmpEQ(machine_load(b_.getInt32Ty(), at), b_.getInt32(whole_warp(plan_))));
    }
    member.storage = registers_.storage;
    for (size_t v = 0; m > 0 && v < registers_.storage.size(); ++v) {
      if (shapes_.variables[v].one_value()) continue;
      for (llvm::AllocaInst*& place : member.storage[v])
        if (place) place = top.CreateAlloca(place->getAllocatedType());
    }
    team.members.push_back(std::move(member));
  }
  for (const Access& w : team.writes)
    for (const Access& r : team.reads) {
      const V where = lo_of(range_of(w));
      go = b_.CreateAnd(go, b_.CreateAnd(b_.CreateICmpNE(where, b_.getInt64(0)), b_.CreateICmpNE(where, lo_of(range_of(r)))));
    }
  if (team.counts) go = b_.CreateAnd(go, begin_counts(team));
  go_on_if(go, ready, single);
  if (team.counts) clear_counts(team);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    at_.warp = warp_at(b_.CreateAdd(turn, b_.getInt32(static_cast<uint32_t>(m))));  // again, where its turn is known to be low
    begin_warp(region);
  }
  for (uint32_t n : region.nodes)
    if (team.together[n]) team.blocks[n] = new_block("together");
  team.finish = new_block("finish");
  b_.CreateBr(team.blocks[region.entry]);
  as_.apart = team.apart;
  as_.team = &team;
  for (uint32_t n : region.nodes)
    if (team.together[n]) emit_together(region, team, n);
  as_.apart = nullptr;

  b_.SetInsertPoint(team.finish);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    at_.active = b_.getInt32(whole_warp(plan_));
    team.written.each([&](size_t v) {
      if (steps_along(static_cast<uint32_t>(v))) b_.CreateStore(one_step_on(static_cast<uint32_t>(v)), registers_.storage[v][0]);
    });
    store_spills(region);
  }
  if (team.counts) settle_counts(team);
  as_.team = nullptr;
  settle_coarsened(team, true);
  b_.CreateStore(b_.getTrue(), votes_.any_live);
  b_.CreateBr(done);

  b_.SetInsertPoint(team.apart);
  settle_coarsened(team, false);
  name_counters(team);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(1)), team.failures);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(count)), team.left);
  b_.CreateBr(single);
  as_member(team, 0);
}

// A node for all members, instruction by instruction.
void Emitter::emit_together(const Region& region, CoarsenedWarps& team, uint32_t n) {
  const Node& node = flow_.nodes[n];
  const size_t count = team.members.size();
  at_.node = n;
  b_.SetInsertPoint(team.blocks[n]);
  at_.active = b_.getInt32(whole_warp(plan_));
  as_.watch_times = count;
  watch_node();
  named_.turns_ahead.clear();
  // What the warps have before a node that stores, which some may not be able to go through with the others.
  struct Kept {
    llvm::AllocaInst* place;
    V value;
  };
  std::vector<Kept> before;
  if (team.stores) {
    as_.apart = new_block("before");
    team.written.each([&](size_t v) {
      for (size_t m = 0; m < count && node.live_in.has(v); ++m) {
        as_member(team, m);
        for (llvm::AllocaInst* place : registers_.storage[v])
          if (place) before.push_back({place, b_.CreateLoad(place->getAllocatedType(), place)});
      }
    });
    auto* begin = b_.GetInsertBlock();
    b_.SetInsertPoint(as_.apart);
    for (const Kept& k : before) b_.CreateStore(k.value, k.place);
    part_before(team, n);
    b_.SetInsertPoint(begin);
  }
  const auto for_all = [&](uint32_t k) {
    return std::ranges::any_of(flow_.slots[k], [&](const Slot& s) {
      const auto v = flow_.variable(s.at);
      return s.written && v && shapes_.variables[*v].one_value();
    });
  };
  const auto each = [&](uint32_t k) {
    as_.watch_times = for_all(k) ? count : 1;
    for (size_t m = 0; m < (for_all(k) ? 1 : count); ++m) {
      as_member(team, m);
      emit_instruction(flow_.code->insns[k]);
    }
    as_.watch_times = 1;
  };
  as_.watch_times = 1;
  const Straight s = straight(node.begin, node.last ? node.end - 1 : node.end);
  const Decision decision = region.exit_node == static_cast<int32_t>(n) ? Decision{} : decides_in_a_row(team, node);
  const auto decides = [&](uint32_t k) {
    return decision.compare && std::ranges::find(decision.instructions, k) != decision.instructions.end();
  };
  for (uint32_t k = s.begin; k < s.first; ++k)
    if (!decides(k)) each(k);
  auto* likely = llvm::MDBuilder(c_).createBranchWeights(10000, 1);
  V good = b_.getTrue();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    good = b_.CreateAnd(good, run_ahead(s));
  }
  auto* fast = new_block("all_well");
  if (const V whole = all_fit_in_a_row(team, s); whole && team.stores) {
    as_member(team, 0);
    good = b_.CreateAnd(good, b_.CreateAnd(whole, stores_meet_nothing(s, team.warps)));
  } else if (whole) {
    auto* careful = new_block("one_by_one");
    b_.CreateCondBr(b_.CreateAnd(good, whole), fast, careful, likely);
    b_.SetInsertPoint(careful);
  }
  for (size_t m = 0; m < count && !team.stores; ++m) {
    as_member(team, m);
    good = b_.CreateAnd(good, all_fit(s));
  }
  go_on_if(good, fast, as_.apart, likely);
  for (const Access& a : s.accesses) as_.checked.insert(a.insn);
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    if (!plan_.row) find_windows(s.accesses);
  }
  std::vector<uint32_t> straight_on;
  for (uint32_t k = s.first; k < s.end; ++k)
    if (!decides(k) && std::find(s.ahead.begin(), s.ahead.end(), k) == s.ahead.end()) straight_on.push_back(k);
  // Where it stores, all of a warp's and then the next one's: hosts like small steps through arrays. What others know by the
  // first warp's, and what changes for all of them, is done at once.
  Bits mentioned(flow_.variables.size());
  const auto at_once = [&](uint32_t k) {
    bool yes = false;
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at)) {
        yes = yes || (s.written && (team.in_step.steps[*v] || (shapes_.variables[*v].one_value() && mentioned.has(*v))));
      }
    for (const Slot& s : flow_.slots[k])
      if (const auto v = flow_.variable(s.at)) mentioned.add(*v);
    return yes;
  };
  for (auto from = straight_on.begin(); from != straight_on.end();) {
    mentioned = Bits(flow_.variables.size());
    const auto to = team.stores ? std::find_if(from, straight_on.end(), at_once) : from;
    for (size_t m = 0; m < count; ++m) {
      as_member(team, m);
      for (auto k = from; k != to; ++k)
        if (m == 0 || !for_all(*k)) emit_instruction(flow_.code->insns[*k]);
    }
    if (to == straight_on.end()) break;
    each(*to);
    from = to + 1;
  }
  as_.checked.clear();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    named_.windows.clear();
  }

  const auto go_to = [&](uint32_t to, bool taken) {
    if (inside(to) && team.together[to]) b_.CreateBr(team.blocks[to]);
    else if (region.exit_to == static_cast<int32_t>(to)) b_.CreateBr(team.finish);
    else part_at(team, n, std::vector<V>(count, b_.getInt32(taken ? whole_warp(plan_) : 0)));
  };
  if (region.exit_node == static_cast<int32_t>(n)) {
    for (size_t m = 0; m < count; ++m) {
      as_member(team, m);
      watch_exit(*node.last);
    }
    b_.CreateBr(team.finish);
    return;
  }
  if (leaves_at_end(region, node)) {
    b_.CreateBr(team.finish);
    return;
  }
  if (node.ends == End::Fall) return go_to(node.next[0], true);
  if (decision.compare) {
    auto* quick = new_block("all_go_on");
    const bool once = team.stores && !in_loop(n);  // the warps at the end of an array can go one by one
    auto* look = once ? as_.apart : new_block("look");
    bool holds = true;
    go_on_if(all_go_on(team, *decision.compare, holds), quick, look);
    const bool branches = (holds == decision.holds) != node.last->guard_negated;
    as_.watch_times = count;
    watch_end(*node.last, b_.getInt32(branches ? whole_warp(plan_) : 0));
    as_.watch_times = 1;
    go_to(node.next[branches ? 0 : 1], branches);
    if (once) return;
    b_.SetInsertPoint(look);
    for (uint32_t k : decision.instructions) each(k);
  }
  std::vector<V> taken;
  V all = b_.getTrue(), none = b_.getTrue();
  for (size_t m = 0; m < count; ++m) {
    as_member(team, m);
    taken.push_back(guard_mask(*node.last));
    watch_end(*node.last, taken.back());
    all = b_.CreateAnd(all, b_.CreateICmpEQ(taken.back(), b_.getInt32(whole_warp(plan_))));
    none = b_.CreateAnd(none, b_.CreateICmpEQ(taken.back(), b_.getInt32(0)));
  }
  auto [every, rest, nobody, some] = new_blocks("all_taken", "not_all_taken", "none_taken", "some_taken");
  b_.CreateCondBr(all, every, rest);
  b_.SetInsertPoint(rest);
  b_.CreateCondBr(none, nobody, some);
  b_.SetInsertPoint(every);
  go_to(node.next[0], true);
  b_.SetInsertPoint(nobody);
  go_to(node.next[1], false);
  b_.SetInsertPoint(some);
  part_at(team, n, taken);
}

// At the node's end each goes on by itself; `taken` lanes of each branch.
void Emitter::part_at(CoarsenedWarps& team, uint32_t n, const std::vector<V>& taken) {
  settle_coarsened(team, true);
  for (size_t m = 0; m < taken.size(); ++m)
    b_.CreateStore(taken[m], b_.CreateConstInBoundsGEP2_32(llvm::ArrayType::get(b_.getInt32Ty(), taken.size()), team.taken, 0,
                                                           static_cast<unsigned>(m)));
  part(team, n, false);
}

// Before the node each goes on by itself, with what it had there.
void Emitter::part_before(CoarsenedWarps& team, uint32_t n) {
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), team.failures), b_.getInt32(1)), team.failures);
  part(team, n, true);
}

void Emitter::part(CoarsenedWarps& team, uint32_t n, bool before) {
  for (const CoarsenedWarps::Point& p : team.points)
    if (p.node == n && p.before == before) {
      b_.CreateBr(p.block);
      return;
    }
  auto* part = new_block("part");
  go_on(part);
  team.points.push_back({n, before, part});
  const Bits& live = before ? flow_.nodes[n].live_in : flow_.nodes[n].live_out;
  team.written.each([&](size_t v) {
    for (size_t k = 0; live.has(v) && k < 4; ++k) {
      if (!registers_.storage[v][k]) continue;
      auto* type = llvm::ArrayType::get(registers_.storage[v][k]->getAllocatedType(), team.members.size());
      V& all = team.parted[v][k];
      if (!all) all = scratch(type);
      for (size_t m = 0; m < team.members.size(); ++m) {
        as_member(team, m);
        const V value = steps_along(static_cast<uint32_t>(v))
                            ? one_step_on(static_cast<uint32_t>(v))
                            : b_.CreateLoad(registers_.storage[v][k]->getAllocatedType(), registers_.storage[v][k]);
        b_.CreateStore(value, b_.CreateConstInBoundsGEP2_32(type, all, 0, static_cast<unsigned>(m)));
      }
    }
  });
  if (team.counts) settle_counts(team);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(team.points.size())), team.resume);
  b_.CreateStore(b_.getInt32(static_cast<uint32_t>(team.members.size())), team.left);
  b_.CreateBr(team.single);
}

// A warp of a team that has parted goes on from there.
void Emitter::emit_resumed(const Region& region, CoarsenedWarps& team) {
  auto* fresh = block_of(region.entry);
  if (team.points.empty()) {
    b_.CreateBr(fresh);
    return;
  }
  auto* resumed = new_block("resumed");
  const V point = b_.CreateLoad(b_.getInt32Ty(), team.resume);
  b_.CreateCondBr(b_.CreateICmpEQ(point, b_.getInt32(0)), fresh, resumed);
  b_.SetInsertPoint(resumed);
  b_.CreateStore(b_.getInt32(0), control_.masks[region.entry]);
  const V which = b_.CreateSub(b_.getInt32(static_cast<uint32_t>(team.members.size())), b_.CreateLoad(b_.getInt32Ty(), team.left));
  const auto mine = [&](llvm::Type* type, V all) {
    return b_.CreateLoad(type, b_.CreateInBoundsGEP(llvm::ArrayType::get(type, team.members.size()), all, {b_.getInt32(0), which}));
  };
  team.written.each([&](size_t v) {
    for (size_t k = 0; k < 4; ++k)
      if (team.parted[v][k])
        b_.CreateStore(mine(registers_.storage[v][k]->getAllocatedType(), team.parted[v][k]), registers_.storage[v][k]);
  });
  const V taken = mine(b_.getInt32Ty(), team.taken);
  auto* nowhere = new_block("nowhere");
  auto* choice = b_.CreateSwitch(point, nowhere, static_cast<unsigned>(team.points.size()));
  b_.SetInsertPoint(nowhere);
  b_.CreateUnreachable();
  for (size_t k = 0; k < team.points.size(); ++k) {
    auto* here = new_block("point");
    choice->addCase(b_.getInt32(static_cast<uint32_t>(k + 1)), here);
    b_.SetInsertPoint(here);
    at_.node = team.points[k].node;
    const Node& node = flow_.nodes[at_.node];
    if (team.points[k].before) {
      add_lanes(at_.node, b_.getInt32(whole_warp(plan_)));
      b_.CreateBr(block_of(at_.node));
      continue;
    }
    if (node.ends == End::Fall) {
      add_lanes(node.next[0], b_.getInt32(whole_warp(plan_)));
      leave_to({node.next[0]}, false);
      continue;
    }
    add_lanes(node.next[0], taken);
    add_lanes(node.next[1], b_.CreateXor(taken, whole_warp(plan_)));
    leave_to(node.next, false);
  }
}

}  // namespace warpbeam::jit
