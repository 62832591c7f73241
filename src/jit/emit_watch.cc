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
  const size_t table = as_.team ? offsetof(Context, watched.coarsened_counters) : offsetof(Context, watched.counters);
  return b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(table, b_.getPtrTy(), true), first);
}

void Emitter::count(uint32_t counter, V by, V index) {
  V at = counters_from(counter, index ? vm::BlockObserver::kPlaces : 1);
  if (index) at = b_.CreateInBoundsGEP(b_.getInt64Ty(), at, index);
  if (as_.watch_times > 1) by = b_.CreateMul(by, b_.getInt64(as_.watch_times));
  machine_store(b_.CreateAdd(machine_load(b_.getInt64Ty(), at), by), at);
}

// A team counts apart, for it may begin again. `through`: what it has counted stays.
void Emitter::settle_coarsened(CoarsenedWarps& team, bool through) {
  if (watch_)
    team.settles.push_back(llvm::cast<llvm::CallInst>(
        call("wb_settle_coarsened", b_.getVoidTy(), {w_.context, b_.getInt32(0), b_.getInt32(0), b_.getInt1(through)})));
}

// Now it is known which counters these are.
void Emitter::name_counters(const CoarsenedWarps& team) {
  for (llvm::CallInst* settle : team.settles) {
    const uint32_t end = std::min(team.counters.last + 1, watch_->counters);
    settle->setArgOperand(1, b_.getInt32(std::min(team.counters.first, end)));
    settle->setArgOperand(2, b_.getInt32(end));
  }
}

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
    const V all = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, watched.executed));
    const V at = b_.CreateInBoundsGEP(b_.getInt64Ty(), all, b_.CreateZExt(at_.warp, b_.getInt64Ty()));
    const V executed = machine_load(b_.getInt64Ty(), at);
    bool loops = false;
    for (size_t b = at_.node; b < flow_.nodes.size(); ++b)
      for (uint32_t s : flow_.nodes[b].next) loops = loops || s == at_.node;
    if (loops)
      hand_over(insns[node.begin], b_.CreateICmpUGE(executed, context_field(offsetof(Context, watched.patience), b_.getInt64Ty(), true)),
                Why::Patience);
    machine_store(b_.CreateAdd(executed, b_.getInt64(instructions)), at);
  }
  if (!instructions) return;
  const auto [it, fresh] = watching_.stretch_of.try_emplace(at_.node, 0);
  if (fresh) it->second = add_stretch(*watch_, node.begin, end, control_.full[at_.node], instructions);
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
  for (size_t k = 0; k < 4; ++k)
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), watching_.staged[k]), by[k]), watching_.staged[k]);
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
  if (control_.full[at_.node]) return b_.getInt32(~0u);
  V all = b_.CreateOr(at_.active, b_.CreateLoad(b_.getInt32Ty(), control_.masks[at_.node]));
  flow_.nodes[at_.node].waits.each([&](size_t w) {
    if (inside(static_cast<uint32_t>(w))) all = b_.CreateOr(all, b_.CreateLoad(b_.getInt32Ty(), control_.masks[w]));
  });
  return b_.CreateOr(all, b_.CreateLoad(b_.getInt32Ty(), control_.exit_mask));
}

// The lanes of at_.active have met at a `.sync` instruction.
void Emitter::watch_meeting(const vm::Insn& i) {
  if (!watch_ || !watch_->wanted.events) return;
  call_detour(i, at_.active, nullptr, Detour::What::Meeting);
  watching_.meeting_wants_more =
      b_.CreateICmpNE(context_field(offsetof(Context, running.wants_more), b_.getInt32Ty(), false), b_.getInt32(0));
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
