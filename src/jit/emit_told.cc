// What watchers are told of a kernel that is unrolled: counted when it is compiled, but for accesses to global memory.
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

// A warp executes the instruction in the part that is being unrolled.
void Emitter::note_executed(const vm::Insn& i, uint32_t active, uint32_t on) {
  if (!watch_ || !watch_->wanted.executions || i.watched == vm::Watched::Extra) return;
  vm::Executions& e = unrolled_.now->now.counts.executions[number_of(i)];
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
  ++unrolled_.now->now.counts.made[made];
}

// Where a block goes that is none of those that were unrolled. What it has done so far comes before what it does now.
BasicBlock* Emitter::elsewhere() {
  UnrolledBlock& r = *unrolled_.now;
  if (!r.told) return r.otherwise;
  auto* const here = b_.GetInsertBlock();
  auto* const out = new_block("elsewhere");
  b_.SetInsertPoint(out);
  watch_barrier(*some_barrier());
  b_.CreateBr(r.otherwise);
  b_.SetInsertPoint(here);
  return out;
}

// An access to global memory is told while the unrolled code runs, and the barrier before it. Where the observer wants to
// know more, the block is looked at in full.
void Emitter::tell_unrolled(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  UnrolledBlock& r = *unrolled_.now;
  if (const vm::Insn* barrier = std::exchange(r.now.untold, nullptr); barrier && r.told) watch_barrier(*barrier);
  r.told = true;
  auto* on = new_block("told");
  if (const auto words = words_of(i, address, bytes); !words.empty()) look_at_words(i, words, mask, on);
  go_on_if(ask_about(i, address, mask, bytes), on, elsewhere(), llvm::MDBuilder(c_).createBranchWeights(1000, 1));
}

// The end of an unrolled kernel. Until a block like this one has been looked at in full, it is; then only its accesses to
// global memory are told.
void Emitter::tell_stores() {
  UnrolledBlock& r = *unrolled_.now;
  auto [on, other] = new_blocks("known_good", "not_known");
  const V place = context_field(offsetof(Context, unrolled.known_good), b_.getPtrTy(), true);
  auto* look = new_block("remembers");
  b_.CreateCondBr(b_.CreateIsNull(place), other, look);
  b_.SetInsertPoint(look);
  b_.CreateCondBr(b_.CreateICmpNE(machine_load(b_.getInt8Ty(), place), b_.getInt8(0)), on, other);
  b_.SetInsertPoint(other);
  machine_store(b_.getInt32(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, unrolled.as_unrolled)));
  b_.CreateBr(elsewhere());
  b_.SetInsertPoint(on);
  for (const UnrolledStore& s : r.now.stores) {
    at_.warp = b_.getInt32(s.warp);
    tell_unrolled(*s.access.insn, s.address, b_.getInt32(s.mask), s.access.total());
  }
  r.over = true;
}

// A block has come to the end of what was unrolled.
void Emitter::count_unrolled() {
  if (!watch_ || !watch_->wanted.traffic) return;
  UnrolledCounts& counts = unrolled_.now->now.counts;
  uint64_t instructions = 0;
  for (const auto& [k, e] : counts.executions) instructions += e.warps;
  watch_->unrolled.push_back({watch_->counters++, instructions, std::move(counts.executions), std::move(counts.made)});
  count(watch_->unrolled.back().at, b_.getInt64(1));
  unrolled_.now->over = true;
  for (const UnrolledCounts::Touch& t : counts.touches) watch_access(*t.insn, t.address, b_.getInt32(t.mask), t.bytes);
}

}  // namespace warpbeam::jit
