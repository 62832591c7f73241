// Code that is watched: counters of executions and places, and calls of what watch.h has for the rest. The instruction at
// which a region ends is counted apart and only when the block goes on from there: a warp that is handed over before that
// executes it once more.
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

// Where so many counters begin that are about to change.
V Emitter::counters_from(uint32_t first, uint32_t many) {
  if (as_.team) {
    as_.team->counters.first = std::min(as_.team->counters.first, first);
    as_.team->counters.last = std::max<uint32_t>(as_.team->counters.last, first + many - 1);
  }
  const size_t table = as_.team ? offsetof(Context, team_counters) : offsetof(Context, counters);
  return b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(table, b_.getPtrTy(), true), first);
}

void Emitter::count(uint32_t counter, V by, V index) {
  V at = counters_from(counter, index ? vm::BlockObserver::kPlaces : 1);
  if (index) at = b_.CreateInBoundsGEP(b_.getInt64Ty(), at, index);
  if (as_.watch_times > 1) by = b_.CreateMul(by, b_.getInt64(as_.watch_times));
  machine_store(b_.CreateAdd(machine_load(b_.getInt64Ty(), at), by), at);
}

// A team counts apart, for it may begin again. `through`: what it has counted stays.
void Emitter::settle_team(Team& team, bool through) {
  if (watch_) team.settles.push_back(llvm::cast<llvm::CallInst>(call("wb_settle_team", b_.getVoidTy(), {w_.context, b_.getInt32(0), b_.getInt32(0), b_.getInt1(through)})));
}

// Now it is known which counters these are.
void Emitter::name_counters(const Team& team) {
  for (llvm::CallInst* settle : team.settles) {
    const uint32_t end = std::min(team.counters.last + 1, watch_->counters);
    settle->setArgOperand(1, b_.getInt32(std::min(team.counters.first, end)));
    settle->setArgOperand(2, b_.getInt32(end));
  }
}

// Is an access by a team counted at places, and by nothing else? Then it can be forgotten.
bool Emitter::counts_places(const vm::Insn& i) const {
  if (!watch_) return true;
  if (i.guard >= 0) return false;
  if (i.op[1] < 0) return true;
  const Shape s = shapes_.source(i.op[1], i.base_width);
  return s.runs == 1 || (s.runs && s.even);
}

V Emitter::lanes_in(V mask) { return b_.CreateZExt(intrinsic(In::ctpop, mask), b_.getInt64Ty()); }

// The counter of an instruction in one of the tables.
static uint32_t counter_of(WatchTables& t, std::map<uint32_t, uint32_t>& table, uint32_t insn) {
  const auto [it, fresh] = table.try_emplace(insn, t.counters);
  if (fresh) ++t.counters;
  return it->second;
}

static uint32_t add_stretch(WatchTables& t, uint32_t begin, uint32_t end, bool full, uint64_t instructions) {
  t.stretches.push_back({begin, end, t.counters, full, instructions});
  t.counters += 2;
  return static_cast<uint32_t>(t.stretches.size() - 1);
}

// The lanes of at_.active are about to execute a node.
void Emitter::watch_node() {
  at_.stretch = -1;
  if (!watch_) return;
  const Node& node = flow_.nodes[at_.node];
  const auto& insns = flow_.code->insns;
  const bool exits = plan_.regions[at_.region].exit_node == static_cast<int32_t>(at_.node);
  const uint32_t end = exits ? node.end - 1 : node.end;
  uint64_t instructions = 0;
  for (uint32_t k = node.begin; k < end; ++k) instructions += insns[k].watched != vm::Watched::Extra;
  if (watch_->wanted.events) {
    const V all = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, executed));
    const V at = b_.CreateInBoundsGEP(b_.getInt64Ty(), all, b_.CreateZExt(at_.warp, b_.getInt64Ty()));
    const V executed = machine_load(b_.getInt64Ty(), at);
    bool loops = false;
    for (size_t b = at_.node; b < flow_.nodes.size(); ++b)
      for (uint32_t s : flow_.nodes[b].next) loops = loops || s == at_.node;
    if (loops) hand_over(insns[node.begin], b_.CreateICmpUGE(executed, context_field(offsetof(Context, patience), b_.getInt64Ty(), true)), Why::Patience);
    machine_store(b_.CreateAdd(executed, b_.getInt64(instructions)), at);
  }
  if (!instructions) return;
  const auto [it, fresh] = watching_.stretch_of.try_emplace(at_.node, 0);
  if (fresh) it->second = add_stretch(*watch_, node.begin, end, ways_.full[at_.node], instructions);
  at_.stretch = static_cast<int32_t>(it->second);
  const WatchTables::Stretch& s = watch_->stretches[it->second];
  if (!watch_->wanted.executions) return;
  count(s.at, b_.getInt64(1));
  if (!s.full) count(s.at + 1, lanes_in(at_.active));
}

// The instruction at the node's end, unless it is guarded by nothing or ends a region: what `mask` of at_.active do.
void Emitter::watch_end(const vm::Insn& i, V mask) {
  if (!watch_ || !watch_->wanted.executions) return;
  const uint32_t k = number_of(i);
  if (i.guard >= 0) watch_guarded(i, mask);
  if (i.target == vm::kNoTarget || i.guard < 0) return;
  const V parts = b_.CreateAnd(b_.CreateICmpNE(mask, at_.active), b_.CreateICmpNE(mask, b_.getInt32(0)));
  count(counter_of(*watch_, watch_->parted, k), b_.CreateZExt(parts, b_.getInt64Ty()));
}

void Emitter::watch_guarded(const vm::Insn& i, V mask) {
  if (!watch_ || !watch_->wanted.executions || i.watched == vm::Watched::Extra) return;
  count(counter_of(*watch_, watch_->on, number_of(i)), lanes_in(mask));
}

void Emitter::watch_table(const vm::Insn& i, V lanes) {
  if (!watch_ || !watch_->wanted.executions) return;
  const V first = b_.CreateExtractElement(lanes, b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {at_.active, b_.getTrue()}));
  const V others = b_.CreateAnd(at_.active, mask_bits(b_.CreateICmpNE(lanes, splat(first))));
  count(counter_of(*watch_, watch_->parted, number_of(i)), b_.CreateZExt(b_.CreateICmpNE(others, b_.getInt32(0)), b_.getInt64Ty()));
}

// The instruction at which the region ends, for the lanes of at_.active: warps, threads, threads that take part, partings.
void Emitter::watch_exit(const vm::Insn& i) {
  if (!watch_ || !watch_->wanted.executions) return;
  const V mask = i.guard < 0 ? at_.active : guard_mask(i);
  const V parts = b_.CreateAnd(b_.CreateICmpNE(mask, at_.active), b_.CreateICmpNE(mask, b_.getInt32(0)));
  const V by[4] = {b_.getInt64(1), lanes_in(at_.active), lanes_in(mask), b_.CreateZExt(parts, b_.getInt64Ty())};
  for (size_t k = 0; k < 4; ++k) b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), watching_.staged[k]), by[k]), watching_.staged[k]);
}

void Emitter::begin_staged() {
  if (!watch_) return;
  for (auto& cell : watching_.staged) {
    if (!cell) {
      llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
      cell = top.CreateAlloca(b_.getInt64Ty());
    }
    b_.CreateStore(b_.getInt64(0), cell);
  }
}

// The block goes on from the end of the region - or, `back`, does not.
void Emitter::settle_staged(const vm::Insn& i, bool back) {
  if (!watch_ || !watch_->wanted.executions) return;
  const uint32_t k = number_of(i);
  const auto [it, fresh] = watching_.exit_stretch.try_emplace(k, 0);
  if (fresh) it->second = add_stretch(*watch_, k, k + 1, false, 1);
  const uint32_t at = watch_->stretches[it->second].at;
  const auto amount = [&](size_t n) {
    const V v = b_.CreateLoad(b_.getInt64Ty(), watching_.staged[n]);
    return back ? b_.CreateNeg(v) : v;
  };
  count(at, amount(0));
  count(at + 1, amount(1));
  if (i.guard < 0) return;
  count(counter_of(*watch_, watch_->on, k), amount(2));
  count(counter_of(*watch_, watch_->parted, k), amount(3));
}

// Lanes of the warp that have not left.
V Emitter::lanes_alive() {
  if (ways_.full[at_.node]) return b_.getInt32(~0u);
  V all = b_.CreateOr(at_.active, b_.CreateLoad(b_.getInt32Ty(), ways_.masks[at_.node]));
  flow_.nodes[at_.node].waits.each([&](size_t w) {
    if (inside(static_cast<uint32_t>(w))) all = b_.CreateOr(all, b_.CreateLoad(b_.getInt32Ty(), ways_.masks[w]));
  });
  return b_.CreateOr(all, b_.CreateLoad(b_.getInt32Ty(), ways_.exit_mask));
}

// Do all that its lanes are on lines of their own cost the same, wherever these are? The kernel's parameters are no lines.
bool Emitter::may_lie_apart(const vm::Insn& i) const {
  const isa::Class cls = i.source->form.row->cls;
  return (cls == isa::Class::Load || cls == isa::Class::Store) && i.mods().space == isa::Space::Global && !flow_.code->takes_param_address;
}

// Whether no two lanes are on one line. False may also be said of some that are on lines of their own, which are far apart.
V Emitter::lie_apart(V lanes) {
  const V lines = b_.CreateTrunc(b_.CreateLShr(lanes, splat(b_.getInt64(std::countr_zero(WatchTables::kLine)))), type_of(2, true));
  V same = nullptr;
  for (int by = 1; by <= kLanes / 2; ++by) {
    std::vector<int> turned;
    for (int l = 0; l < kLanes; ++l) turned.push_back((l + by) % kLanes);
    const V meets = b_.CreateICmpEQ(lines, b_.CreateShuffleVector(lines, turned));
    same = same ? b_.CreateOr(same, meets) : meets;
  }
  return b_.CreateICmpEQ(mask_bits(same), b_.getInt32(0));
}

// The place of an instruction: of addresses of a known shape, or, `lanes`, of others.
uint32_t Emitter::watch_site(const vm::Insn& i, const Value& address, uint64_t bytes, bool lanes) {
  WatchTables::Site site;
  site.insn = &i;
  if (!lanes) {
    site.pattern.runs = address.runs;
    site.pattern.stride = address.stride;
    site.pattern.gap = address.runs > 1 && address.even ? address.gap : 0;
  }
  site.pattern.settled = loads_settled(i);
  const int64_t gap = site.pattern.runs < 2 || address.even ? site.pattern.gap : INT64_MIN;  // known at run time only
  const auto [it, fresh] = watch_->site_of.try_emplace({&i - flow_.code->insns.data(), site.pattern.runs, site.pattern.stride, gap}, static_cast<uint32_t>(watch_->sites.size()));
  if (!fresh) return it->second;
  const int length = kLanes / static_cast<int>(lanes ? 1 : address.runs);
  for (int l = 0; l < kLanes; ++l) site.distance[static_cast<size_t>(l)] = static_cast<uint64_t>(site.pattern.stride * (l % length) + site.pattern.gap * (l / length));
  if (watch_->wanted.traffic) {
    site.step = static_cast<uint32_t>(bytes);
    site.at = watch_->counters;
    watch_->counters += static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes);
    if (!lanes && address.runs == 2 && !address.even) site.gap_at = watch_->counters++;
    if (lanes) site.lanes_at = watch_->counters, watch_->counters += kLanes + 1;
    if (lanes && processor_.wide && may_lie_apart(i)) site.apart_at = watch_->counters++;
    if (!lanes && address.uniform() && bytes <= 4 && !flow_.code->takes_param_address) site.word_at = watch_->counters, watch_->counters += kLanes;
    if (lanes && bytes == 4 && i.source->form.row->cls == isa::Class::Store) site.rows_at = watch_->counters, watch_->counters += static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes * kLanes);
  }
  watch_->sites.push_back(site);
  return it->second;
}

// From one stretch of an address to the next, as far as that is one distance.
V Emitter::gap_of(const Value& address) {
  if (address.runs == 1) return b_.getInt64(0);
  if (address.runs && address.even) return b_.getInt64(static_cast<uint64_t>(address.gap));
  return address.runs == 2 ? b_.CreateSub(address.run[1], address.run[0]) : nullptr;
}

// Has the observer seen all there is to see of an access?
V Emitter::ask_about(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  if (const V gap = gap_of(address))
    return call("wb_watched_shaped", b_.getInt1Ty(), {w_.context, b_.getInt32(watch_site(i, address, bytes)), at_.warp, mask, at_.active, address.run[0], gap});
  const V place = scratch(type_of(8, true));
  b_.CreateStore(lanes_of(address, 8), place);
  return call("wb_watched_lanes", b_.getInt1Ty(), {w_.context, outside(&i), at_.warp, mask, at_.active, place});
}

// The observer is asked about an access, and told of it where that is not enough; the code goes on at `on`.
void Emitter::tell_access(const vm::Insn& i, const Value& address, V mask, uint64_t bytes, BasicBlock* on) {
  const V seen = ask_about(i, address, mask, bytes);
  auto* look = new_block("look");
  b_.CreateCondBr(seen, on, look, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(look);
  call_detour(i, mask, nullptr, Detour::What::Access);
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// An access of whose lanes nothing is known before: they may be as far apart as the last time. `on_one_line`, if there is one:
// whether each lane's loads that are made together are.
void Emitter::count_lanes(uint32_t number, V lanes, V mask, uint64_t bytes, V on_one_line) {
  const WatchTables::Site& site = watch_->sites[number];
  const V first = b_.CreateExtractElement(lanes, uint64_t{0});
  const V last = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(offsetof(Context, counters), b_.getPtrTy(), true), site.lanes_at);
  auto* distances = llvm::cast<llvm::LoadInst>(machine_load(type_of(8, true), last));
  distances->setAlignment(llvm::Align(8));
  const V same = b_.CreateICmpEQ(mask_bits(b_.CreateICmpEQ(b_.CreateSub(lanes, splat(first)), distances)), b_.getInt32(~0u));
  auto* known = new_block("same_distances");
  auto* other = new_block("other_distances");
  auto* counted = new_block("counted");
  b_.CreateCondBr(b_.CreateAnd(same, b_.CreateICmpEQ(mask, b_.getInt32(~0u))), known, other);
  b_.SetInsertPoint(known);
  count(site.at, b_.getInt64(1), place_of(first, bytes));
  b_.CreateBr(counted);
  b_.SetInsertPoint(other);
  auto* whole = new_block("whole_warp");
  auto* part = new_block("part_of_warp");
  auto* anywhere = new_block("anywhere");
  b_.CreateCondBr(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), whole, part);
  b_.SetInsertPoint(whole);
  if (site.apart_at) {
    auto* apart = new_block("apart");
    const V alone = lie_apart(lanes);
    b_.CreateCondBr(on_one_line ? b_.CreateAnd(alone, on_one_line) : alone, apart, anywhere);
    b_.SetInsertPoint(apart);
    count(site.apart_at, b_.getInt64(1));
    b_.CreateBr(counted);
  } else {
    b_.CreateBr(anywhere);
  }
  const V place = scratch(type_of(8, true));
  b_.SetInsertPoint(part);
  b_.CreateStore(lanes, place);
  if (site.rows_at && ranks_lanes() && !as_.team) {
    auto* row = new_block("row_of_lanes");
    const V head = b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), place, b_.CreateAnd(ends_of(mask).first, kLanes - 1)));
    b_.CreateCondBr(is_ranked(lanes, head, static_cast<uint32_t>(bytes), mask), row, anywhere);
    b_.SetInsertPoint(row);
    const V many = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), b_.getInt64Ty());
    count(site.rows_at, b_.getInt64(1), b_.CreateAdd(b_.CreateShl(place_of(head, bytes), std::countr_zero(unsigned{kLanes})), many));
    b_.CreateBr(counted);
  } else {
    b_.CreateBr(anywhere);
  }
  b_.SetInsertPoint(anywhere);
  b_.CreateStore(lanes, place);
  call("wb_other_lanes", b_.getVoidTy(), {w_.context, b_.getInt32(number), mask, place});
  b_.CreateBr(counted);
  b_.SetInsertPoint(counted);
}

// Whole warps' loads of a piece of memory for each lane, the first of which are at `lanes`.
void Emitter::count_piece(const Piece& piece, V lanes, uint64_t bytes) {
  const auto number = static_cast<uint32_t>(watch_->sites.size());
  WatchTables::Site site;
  site.insn = piece.loads.front();
  for (size_t k = 1; k < piece.loads.size(); ++k) site.together.emplace_back(piece.loads[k], static_cast<uint64_t>(piece.loads[k]->imm - site.insn->imm));
  site.step = static_cast<uint32_t>(bytes);
  site.at = watch_->counters;
  site.lanes_at = site.at + static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes);
  watch_->counters = site.lanes_at + kLanes + 1;
  V on_one_line = nullptr;
  if (processor_.wide && std::ranges::all_of(piece.loads, [&](const vm::Insn* load) { return may_lie_apart(*load); })) {
    site.apart_at = watch_->counters++;
    const V begins = b_.CreateAdd(lanes, splat(b_.getInt64(static_cast<uint64_t>(piece.from - site.insn->imm))));
    on_one_line = b_.CreateICmpEQ(mask_bits(b_.CreateICmpEQ(b_.CreateAnd(begins, splat(b_.getInt64(kPiece - 1))), splat(b_.getInt64(0)))), b_.getInt32(~0u));
  }
  watch_->sites.push_back(std::move(site));
  count_lanes(number, lanes, b_.getInt32(~0u), bytes, on_one_line);
}

// Are the banks counted that its lanes meet in?
bool Emitter::counts_banks(const vm::Insn& i) const { return watch_ && watch_->wanted.banks && i.adds_one && i.mods().space == isa::Space::Shared; }

// Of a whole warp.
void Emitter::count_banks(const vm::Insn& i, V lanes) {
  const auto [it, fresh] = watch_->banks.try_emplace(number_of(i), watch_->counters);
  if (fresh) watch_->counters += WatchTables::kOfBanks;
  const V places = scratch(type_of(4, true));
  b_.CreateStore(b_.CreateTrunc(lanes, type_of(4, true)), places);
  call("wb_count_banks", b_.getVoidTy(), {counters_from(it->second, WatchTables::kOfBanks), places});
}

// Which of the places modulo kPlaces an address is.
V Emitter::place_of(V address, uint64_t bytes) {
  return b_.CreateAnd(b_.CreateLShr(address, b_.getInt64(static_cast<uint64_t>(std::countr_zero(bytes)))), b_.getInt64(vm::BlockObserver::kPlaces / bytes - 1));
}

// Where an access to global memory goes, for an observer that follows lines through the caches.
void Emitter::tell_places(const vm::Insn& i, const Value& address, V mask) {
  const isa::Space space = i.mods().space;
  if (!watch_ || !watch_->wanted.places || (space != isa::Space::Global && space != isa::Space::Generic)) return;
  if (address.runs == 1) {
    call("wb_passed_shaped", b_.getVoidTy(), {w_.context, outside(&i), mask, address.run[0], b_.getInt64(static_cast<uint64_t>(address.stride))});
    return;
  }
  const V place = scratch(type_of(8, true));
  b_.CreateStore(lanes_of(address, 8), place);
  call("wb_passed_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
}

// An access whose lanes are all in bounds is about to be made.
void Emitter::watch_access(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  if (!watch_ || (!watch_->wanted.events && !watch_->wanted.traffic)) return;
  if (rehearsals_.now && watch_->wanted.events) {
    if (!rehearsals_.now->over) tell_rehearsed(i, address, mask, bytes);
    return;
  }
  if (rehearsals_.now && !rehearsals_.now->over) {  // it may yet turn out otherwise
    rehearsals_.now->now.counts.touches.push_back({&i, address, static_cast<uint32_t>(llvm::cast<llvm::ConstantInt>(mask)->getZExtValue()), bytes});
    return;
  }
  if (watch_->wanted.events && watch_batched(i, address, mask, bytes)) return;
  tell_places(i, address, mask);
  auto* on = new_block("seen");
  if (watch_->wanted.events) {
    if (loads_settled(i)) {
      skip_settled(i, false, address, mask, on);
    } else if (const auto words = words_of(i, address, bytes); !words.empty()) {
      look_at_words(i, words, mask, on);
    }
    return tell_access(i, address, mask, bytes, on);
  }
  // Of two stretches the distance may be known at run time only; then a place tells all for as long as it stays.
  const bool fixed = address.runs == 1 || (address.runs && address.even), shaped = fixed || address.runs == 2;
  V place = nullptr;
  if (!shaped) {
    if (vm::loads_or_stores(i) && std::has_single_bit(bytes) && bytes <= vm::BlockObserver::kPlaces && !flow_.code->takes_param_address) {
      count_lanes(watch_site(i, address, bytes, true), lanes_of(address, 8), mask, bytes);
    } else {
      if (counts_banks(i)) {
        auto* all = new_block("whole_warp");
        auto* part = new_block("part_of_warp");
        b_.CreateCondBr(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), all, part);
        b_.SetInsertPoint(all);
        count_banks(i, lanes_of(address, 8));
        b_.CreateBr(on);
        b_.SetInsertPoint(part);
      }
      place = scratch(type_of(8, true));
      b_.CreateStore(lanes_of(address, 8), place);
      call("wb_count_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
    }
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
    return;
  }
  const uint32_t number = watch_site(i, address, bytes);
  const uint32_t at = watch_->sites[number].at;
  const auto whole = [&] {
    if (!fixed) {
      const V gap = b_.CreateSub(address.run[1], address.run[0]);
      auto* other = new_block("other_gap");
      auto* same = new_block("same_gap");
      V at_gap = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(offsetof(Context, counters), b_.getPtrTy(), true), watch_->sites[number].gap_at);
      b_.CreateCondBr(b_.CreateICmpEQ(machine_load(b_.getInt64Ty(), at_gap), gap), same, other, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
      b_.SetInsertPoint(other);
      call("wb_other_gap", b_.getVoidTy(), {w_.context, b_.getInt32(number), gap});
      b_.CreateBr(same);
      b_.SetInsertPoint(same);
    }
    count(at, b_.getInt64(1), place_of(address.run[0], bytes));
  };
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(mask); constant && constant->isMinusOne()) {
    whole();
    b_.CreateBr(on);
    b_.SetInsertPoint(on);
    return;
  }
  auto* all = new_block("whole_warp");
  auto* part = new_block("part_of_warp");
  b_.CreateCondBr(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), all, part);
  b_.SetInsertPoint(all);
  whole();
  b_.CreateBr(on);
  b_.SetInsertPoint(part);
  if (const uint32_t word = watch_->sites[number].word_at) {
    count(word, b_.getInt64(1), b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), b_.getInt64Ty()));
  } else if (fixed) {
    call("wb_count_shaped", b_.getVoidTy(), {w_.context, b_.getInt32(number), mask, address.run[0]});
  } else {
    place = scratch(type_of(8, true));
    b_.CreateStore(lanes_of(address, 8), place);
    call("wb_count_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
  }
  b_.CreateBr(on);
  b_.SetInsertPoint(on);
}

// A warp executes the instruction in the part that is being rehearsed.
void Emitter::note_executed(const vm::Insn& i, uint32_t active, uint32_t on) {
  if (!watch_ || !watch_->wanted.executions || i.watched == vm::Watched::Extra) return;
  vm::Executions& e = rehearsals_.now->now.counts.executions[number_of(i)];
  ++e.warps;
  e.threads += static_cast<uint64_t>(std::popcount(active));
  e.threads_on += static_cast<uint64_t>(std::popcount(on));
  e.parted += i.target != vm::kNoTarget && i.guard >= 0 && on && on != active;
}

// The lanes' first elements of shared memory.
void Emitter::note_made(const Access& a, uint32_t mask, const std::vector<int64_t>& words) {
  if (!watch_ || !watch_->wanted.traffic) return;
  WatchTables::Made made{a.insn, mask, {}};
  const auto any = static_cast<size_t>(std::countr_zero(mask));
  for (size_t l = 0; l < kLanes; ++l) made.address[l] = static_cast<uint64_t>(words[mask >> l & 1 ? l : any]) * a.memory;
  ++rehearsals_.now->now.counts.made[made];
}

// Where a block goes that is none of those that were rehearsed. What it has done so far comes before what it does now.
BasicBlock* Emitter::elsewhere() {
  Rehearsal& r = *rehearsals_.now;
  if (!r.told) return r.otherwise;
  auto* const here = b_.GetInsertBlock();
  auto* const out = new_block("elsewhere");
  b_.SetInsertPoint(out);
  watch_barrier(*some_barrier());
  b_.CreateBr(r.otherwise);
  b_.SetInsertPoint(here);
  return out;
}

const vm::Insn* Emitter::some_barrier() const {
  return std::ranges::find(flow_.nodes, End::Barrier, &Node::ends)->last;
}

// An access to global memory is told while the rehearsed code runs, and the barrier before it. Where the observer wants to
// know more, the block is looked at in full.
void Emitter::tell_rehearsed(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  Rehearsal& r = *rehearsals_.now;
  if (const vm::Insn* barrier = std::exchange(r.now.untold, nullptr); barrier && r.told) watch_barrier(*barrier);
  r.told = true;
  auto* on = new_block("told");
  if (const auto words = words_of(i, address, bytes); !words.empty()) look_at_words(i, words, mask, on);
  b_.CreateCondBr(ask_about(i, address, mask, bytes), on, elsewhere(), llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(on);
}

// The end of a rehearsed kernel. Until a block like this one has been looked at in full, it is; then only its accesses to
// global memory are told.
void Emitter::tell_stores() {
  Rehearsal& r = *rehearsals_.now;
  auto* on = new_block("known_good");
  auto* other = new_block("not_known");
  const V place = context_field(offsetof(Context, known_good), b_.getPtrTy(), true);
  auto* look = new_block("remembers");
  b_.CreateCondBr(b_.CreateIsNull(place), other, look);
  b_.SetInsertPoint(look);
  b_.CreateCondBr(b_.CreateICmpNE(machine_load(b_.getInt8Ty(), place), b_.getInt8(0)), on, other);
  b_.SetInsertPoint(other);
  machine_store(b_.getInt32(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, as_rehearsed)));
  b_.CreateBr(elsewhere());
  b_.SetInsertPoint(on);
  for (const RehearsedStore& s : r.now.stores) {
    at_.warp = b_.getInt32(s.warp);
    tell_rehearsed(*s.access.insn, s.address, b_.getInt32(s.mask), s.access.total());
  }
  r.over = true;
}

// A block has come to the end of what was rehearsed.
void Emitter::count_rehearsed() {
  if (!watch_ || !watch_->wanted.traffic) return;
  RehearsedCounts& counts = rehearsals_.now->now.counts;
  uint64_t instructions = 0;
  for (const auto& [k, e] : counts.executions) instructions += e.warps;
  watch_->rehearsed.push_back({watch_->counters++, instructions, std::move(counts.executions), std::move(counts.made)});
  count(watch_->rehearsed.back().at, b_.getInt64(1));
  rehearsals_.now->over = true;
  for (const RehearsedCounts::Touch& t : counts.touches) watch_access(*t.insn, t.address, b_.getInt32(t.mask), t.bytes);
}

// The lanes of at_.active have met at a `.sync` instruction.
void Emitter::watch_meeting(const vm::Insn& i) {
  if (!watch_ || !watch_->wanted.events) return;
  call_detour(i, at_.active, nullptr, Detour::What::Meeting);
  watching_.meeting_wants_more = b_.CreateICmpNE(context_field(offsetof(Context, wants_more), b_.getInt32Ty(), false), b_.getInt32(0));
}

void Emitter::watch_fence(const vm::Insn& i) {
  if (!watch_ || !watch_->wanted.events) return;
  call("wb_prepare", b_.getPtrTy(), {w_.context, at_.warp});
  call("wb_watched_instruction", b_.getVoidTy(), {w_.context, outside(&i), at_.warp, at_.active});
}

void Emitter::watch_barrier(const vm::Insn& i) {
  if (!watch_ || !watch_->wanted.events) return;
  call("wb_watched_barrier", b_.getVoidTy(), {w_.context, outside(&i)});
}

}  // namespace warpbeam::jit
