// Idea: arriving at a barrier in memory and looking at its phase is arithmetic on its word. Precondition: all lanes mean one barrier of
// their block. Postcondition: the word is as the interpreter has it (vm/exec_mbarrier.cc). Fallback: its handler, for faults above all.
#include "vm/mbarrier.h"

#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

// Where in the block's shared memory the barrier is that all lanes mean; `slow` is where the code goes if it is elsewhere.
V Emitter::barrier_place(const vm::WideOperand& o, BasicBlock* slow) {
  V at = o.slot >= 0 ? b_.CreateZExt(read(o.slot, o.width).run[0], b_.getInt64Ty()) : static_cast<V>(b_.getInt64(0));
  at = b_.CreateAdd(at, b_.getInt64(static_cast<uint64_t>(o.offset)));
  const V size = context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true);
  const V fits = b_.CreateAnd(b_.CreateICmpULT(at, b_.CreateBinaryIntrinsic(In::usub_sat, size, b_.getInt64(7))),
                              b_.CreateICmpEQ(b_.CreateAnd(at, b_.getInt64(7)), b_.getInt64(0)));
  auto* there = new_block("barrier");
  go_on_if(fits, there, slow);
  return b_.CreateGEP(b_.getInt8Ty(), context_field(offsetof(Context, shared), b_.getPtrTy(), true), at);
}

// What it holds, if it is one.
V Emitter::barrier_word(const vm::WideOperand& o, BasicBlock* slow, V* pointer) {
  *pointer = barrier_place(o, slow);
  const V word = user(b_.CreateAlignedLoad(b_.getInt64Ty(), *pointer, llvm::Align(8)));
  auto* valid = new_block("valid");
  const V bit = b_.CreateAnd(word, b_.getInt64(uint64_t{1} << vm::kValidAt));
  go_on_if(b_.CreateICmpNE(bit, b_.getInt64(0)), valid, slow);
  return word;
}

static bool in_shared(const vm::Insn& i) { return i.mods().space == isa::Space::Shared || i.mods().space == isa::Space::SharedCluster; }

bool Emitter::emit_barrier_made(const vm::Insn& i) {
  if (!in_shared(i)) return false;
  const Value count = read(i.wide[1].slot, i.wide[1].width);
  if (!count.uniform()) return false;
  const vm::WideOperand& where = i.wide[0];
  if (where.slot >= 0 && !read(where.slot, where.width).uniform()) return false;
  uses(Technique::MemoryBarriers);
  auto [slow, quick, join] = new_blocks("slow", "make", "join");
  const V pointer = barrier_place(where, slow);
  const V n = b_.CreateZExtOrTrunc(count.run[0], b_.getInt64Ty());
  b_.CreateCondBr(b_.CreateICmpULT(b_.CreateSub(n, b_.getInt64(1)), b_.getInt64(vm::kMostCount)), quick, slow);
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active);
  b_.CreateBr(join);
  b_.SetInsertPoint(quick);
  const uint64_t rest = static_cast<uint64_t>(vm::kZeroTransactions) << vm::kTransactionsAt | uint64_t{1} << vm::kValidAt;
  const V word = b_.CreateOr(b_.CreateMul(n, b_.getInt64(1 | uint64_t{1} << vm::kExpectedAt)), b_.getInt64(rest));
  user(b_.CreateAlignedStore(word, pointer, llvm::Align(8)));
  note_event(b_.getTrue());
  go_on(join);
  return true;
}

bool Emitter::emit_arrival(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  if (row.op == isa::Opcode::Mbarrier && says(row, ".init")) return emit_barrier_made(i);
  const bool copies = row.op == isa::Opcode::Cp && says(row, ".mbarrier") && m.noinc;
  const bool drops = row.op == isa::Opcode::Mbarrier && says(row, ".arrive_drop");
  const bool plain = arrives_in_shared(i);
  if (!plain && !(copies && in_shared(i))) return false;
  V each = b_.getInt64(1);
  if (plain && i.count > 2) {
    const Value count = read(i.wide[2].slot, i.wide[2].width);
    if (!count.uniform()) return false;
    each = b_.CreateZExtOrTrunc(count.run[0], b_.getInt64Ty());
  }
  const vm::WideOperand& where = i.wide[copies ? 0 : 1];
  if (where.slot >= 0 && !read(where.slot, where.width).uniform()) return false;
  uses(Technique::MemoryBarriers);
  auto [slow, quick, join] = new_blocks("slow", "arrive", "join");
  V pointer = nullptr;
  const V word = barrier_word(where, slow, &pointer);
  const auto k = [&](uint64_t v) { return b_.getInt64(v); };
  const V all = b_.CreateMul(each, b_.CreateZExt(intrinsic(In::ctpop, at_.active), b_.getInt64Ty()));
  // Nobody arrives beyond the phase.
  V good = b_.CreateICmpUGE(b_.CreateAnd(word, k(vm::kMostCount)), all);
  good = b_.CreateAnd(good, b_.CreateAnd(b_.CreateICmpNE(each, k(0)), b_.CreateICmpULE(each, k(vm::kMostCount))));
  // What drops out is awaited no more in later phases.
  const V step = drops ? k(1 | uint64_t{1} << vm::kExpectedAt) : k(1);
  if (drops) good = b_.CreateAnd(good, b_.CreateICmpUGE(b_.CreateAnd(b_.CreateLShr(word, k(vm::kExpectedAt)), k(vm::kMostCount)), all));
  b_.CreateCondBr(good, quick, slow);
  const auto state_of = plain ? flow_.variable(i.wide[0].slot) : std::nullopt;
  const bool same_state = state_of && shapes_.variables[*state_of].uniform();
  b_.SetInsertPoint(slow);
  if (same_state && !shapes_.lone()) hand_over(i, b_.getTrue(), Why::Phases);
  else call_handler(i, at_.active);
  b_.CreateBr(join);

  b_.SetInsertPoint(quick);
  const V left = b_.CreateSub(word, b_.CreateMul(all, step));
  const V none = b_.CreateICmpEQ(b_.CreateAnd(left, k(vm::kMostCount | vm::kTransactionsMask << vm::kTransactionsAt)),
                                 k(static_cast<uint64_t>(vm::kZeroTransactions) << vm::kTransactionsAt));
  const V expected = b_.CreateAnd(b_.CreateLShr(left, k(vm::kExpectedAt)), k(vm::kMostCount));
  const V next = b_.CreateXor(b_.CreateOr(left, expected), k(uint64_t{1} << vm::kPhaseAt));
  user(b_.CreateAlignedStore(b_.CreateSelect(none, next, left), pointer, llvm::Align(8)));
  note_event(none);
  if (same_state) {
    Value state;
    state.runs = 1;
    state.run[0] = word;
    write(i.wide[0].slot, i.wide[0].width, state);
  } else if (plain) {  // each lane is told what it found
    std::vector<llvm::Constant*> before;
    for (uint32_t l = 0; l < kLanes; ++l) before.push_back(b_.getInt32((1u << l) - 1));
    const V ranks = intrinsic(In::ctpop, b_.CreateAnd(splat(at_.active), llvm::ConstantVector::get(before)));
    Value state;
    state.lanes = b_.CreateSub(splat(word), b_.CreateMul(b_.CreateZExt(ranks, type_of(8, true)), splat(b_.CreateMul(each, step))));
    write(i.wide[0].slot, i.wide[0].width, state);
  }
  go_on(join);
  return true;
}

// Is the phase over that lanes wait for?
bool Emitter::emit_test(const vm::Insn& i) {
  const vm::WideOperand& where = i.wide[1];
  if (!in_shared(i) || (where.slot >= 0 && !read(where.slot, where.width).uniform())) return false;
  uses(Technique::MemoryBarriers);
  auto [slow, join] = new_blocks("slow", "join");
  V pointer = nullptr;
  const V word = barrier_word(where, slow, &pointer);
  const V phase = b_.CreateICmpSLT(word, b_.getInt64(0));
  const Value given = read(i.wide[2].slot, i.wide[2].width);
  const Width bytes = i.wide[2].width;
  const auto awaited = [&](V v) -> V {
    const V zero = llvm::Constant::getNullValue(v->getType());
    return i.mods().parity ? b_.CreateICmpNE(b_.CreateAnd(v, llvm::ConstantInt::get(v->getType(), 1)), zero) : b_.CreateICmpSLT(v, zero);
  };
  Value done;
  if (given.uniform()) {
    done.runs = 1;
    done.run[0] = b_.CreateXor(awaited(given.run[0]), phase);
  } else {
    done.lanes = b_.CreateXor(awaited(lanes_of(given, bytes)), splat(phase));
  }
  write(i.wide[0].slot, 0, done);
  b_.CreateBr(join);
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active);
  go_on(join);
  return true;
}

}  // namespace warpbeam::jit
