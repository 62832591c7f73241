// Idea: a team that counts, as in a histogram, adds to tables of its own, which count when it is through. Lanes take turns with several
// tables, as equal numbers side by side would wait for the sum that the one before has just stored.
// Precondition: integers that atomic operations add to shared memory whose results nobody reads, so that their order does not show.
// Postcondition: the sums are there before the next barrier. Fallback: the tables are forgotten when the team's warps begin again.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Kind;
using isa::Space;
using llvm::BasicBlock;

namespace {

constexpr uint64_t kRoom = 16 << 10;  // for all tables
constexpr uint64_t kLine = 64;

}  // namespace

// Where the tables are, on the stack. False at run time: they are too large.
V Emitter::begin_counts(CoarsenedWarps& team) {
  uses(Technique::Counts);
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  auto* room = top.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), kRoom));
  room->setAlignment(llvm::Align(kLine));
  team.own_counts.tables = room;
  const V bytes = context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true);
  const V whole = b_.CreateAnd(b_.CreateAdd(bytes, b_.getInt64(kLine - 1)), b_.getInt64(~(kLine - 1)));
  // One table is all where there is no room for several.
  team.own_counts.apart_by = b_.CreateSelect(b_.CreateICmpULE(whole, b_.getInt64(kRoom / kTables)), whole, b_.getInt64(0));
  return b_.CreateICmpULE(bytes, b_.getInt64(kRoom));
}

// `each` place of a table, a line at a time.
template <class F>
static void each_line(llvm::IRBuilder<>& b, llvm::Function* f, llvm::Value* bytes, F each) {
  auto* before = b.GetInsertBlock();
  auto* loop = BasicBlock::Create(b.getContext(), "line", f);
  auto* done = BasicBlock::Create(b.getContext(), "lines_done", f);
  b.CreateCondBr(b.CreateICmpEQ(bytes, b.getInt64(0)), done, loop);
  b.SetInsertPoint(loop);
  auto* at = b.CreatePHI(b.getInt64Ty(), 2);
  at->addIncoming(b.getInt64(0), before);
  each(at);
  llvm::Value* next = b.CreateAdd(at, b.getInt64(kLine));
  at->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, bytes), loop, done);
  b.SetInsertPoint(done);
}

void Emitter::clear_counts(CoarsenedWarps& team) {
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kLine / 4);
  each_line(b_, w_.function, context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), [&](V at) {
    for (uint64_t t = 0; t < kTables; ++t) {
      const V place =
          b_.CreateGEP(b_.getInt8Ty(), team.own_counts.tables, b_.CreateAdd(at, b_.CreateMul(team.own_counts.apart_by, b_.getInt64(t))));
      auto* store = b_.CreateAlignedStore(llvm::Constant::getNullValue(type), place, llvm::Align(kLine));
      store->setVolatile(true);  // not to become a call of memset
      user(store);
    }
  });
}

void Emitter::settle_counts(CoarsenedWarps& team) {
  auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kLine / 4);
  const V zero = llvm::Constant::getNullValue(type), shared = context_field(offsetof(Context, shared), b_.getPtrTy(), true);
  const V several = b_.CreateICmpNE(team.own_counts.apart_by, b_.getInt64(0));
  each_line(b_, w_.function, context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), [&](V at) {
    V sum = nullptr;
    for (uint64_t t = kTables; t-- > 0;) {
      const V place =
          b_.CreateGEP(b_.getInt8Ty(), team.own_counts.tables, b_.CreateAdd(at, b_.CreateMul(team.own_counts.apart_by, b_.getInt64(t))));
      const V counted = user(b_.CreateAlignedLoad(type, place, llvm::Align(kLine)));
      sum = !sum ? counted : t ? b_.CreateAdd(sum, counted) : b_.CreateAdd(b_.CreateSelect(several, sum, zero), counted);
    }
    // Only what has been counted: nothing is behind the end of shared memory, and nothing else there is the team's.
    const V some = b_.CreateICmpNE(sum, zero), place = b_.CreateGEP(b_.getInt8Ty(), shared, at);
    const V old = user(b_.CreateMaskedLoad(type, place, llvm::Align(4), some, zero));
    user(b_.CreateMaskedStore(b_.CreateAdd(old, sum), place, llvm::Align(4), some));
  });
}

// Adds each lane's value, which may be `known`. The members put down what is theirs, and the last one goes through all of
// it, in code that is there once. A load brings two lanes' places.
void Emitter::count_in_turn(V at, const Value& value, bool known, const std::function<void(V, V, uint32_t)>& add) {
  CoarsenedWarps& team = *as_.team;
  const size_t count = team.members.size();
  llvm::Type* lanes = type_of(4, true);
  auto* all = llvm::ArrayType::get(lanes, count);
  if (team.member == 0) {
    team.own_counts.places = scratch(all);
    team.own_counts.values = known ? nullptr : scratch(all);
  }
  const auto mine = [&](V array) { return b_.CreateConstInBoundsGEP2_32(all, array, 0, static_cast<unsigned>(team.member)); };
  b_.CreateStore(b_.CreateTrunc(at, lanes), mine(team.own_counts.places));
  if (!known) b_.CreateStore(lanes_of(value, 4), mine(team.own_counts.values));
  if (team.member + 1 < count) return;
  auto* before = b_.GetInsertBlock();
  auto [loop, done] = new_blocks("member", "members_done");
  go_on(loop);
  auto* m = b_.CreatePHI(b_.getInt64Ty(), 2);
  m->addIncoming(b_.getInt64(0), before);
  const auto pick = [&](llvm::Type* type, V array, uint32_t k) {
    auto* load = b_.CreateLoad(type, b_.CreateConstInBoundsGEP1_64(type, b_.CreateInBoundsGEP(lanes, array, m), k));
    load->setVolatile(true);  // not to be taken from a register after all
    return load;
  };
  V pair = nullptr;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (l % 2 == 0) pair = pick(b_.getInt64Ty(), team.own_counts.places, l / 2);
    add(b_.CreateTrunc(l % 2 ? b_.CreateLShr(pair, 32) : pair, b_.getInt32Ty()),
        known ? value.run[0] : pick(b_.getInt32Ty(), team.own_counts.values, l), l % kTables);
  }
  const V next = b_.CreateAdd(m, b_.getInt64(1));
  m->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(count)), loop, done);
  b_.SetInsertPoint(done);
}

}  // namespace warpbeam::jit
