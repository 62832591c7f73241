// Idea: where a block has little to do, the code goes on by itself with those that follow in the grid's row. Precondition: one region,
// short, that neither waits nor prints. Postcondition: the machine's numbers of the block follow. Fallback: blocks one by one.
#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr size_t kShort = 300;  // instructions

}  // namespace

void Emitter::begin_blocks() {
  static const bool without = left_out("blocks");
  const auto& insns = flow_.code->insns;
  const auto calls = [&](const vm::Insn& i) { return i.call && !flow_.is_library_call(i); };  // printf, which blocks do in their order
  if (without || watch_ || flow_.in_turns || plan_.polls || plan_.regions.size() > 1 || insns.size() > kShort ||
      std::ranges::any_of(insns, calls))
    return;
  row_.next = new_block("next_block");
  row_.x = b_.CreateAlloca(b_.getInt32Ty());
  tables_.goes_on = true;
}

// The block has ended.
void Emitter::end_block() {
  if (row_.next) b_.CreateBr(row_.next);
  else b_.CreateRet(b_.getInt32(1));
}

// So many blocks further in the row.
void Emitter::go_on_by(uint32_t blocks) {
  const auto field = [&](size_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offset); };
  const auto place = [&](size_t offset) { return context_field(offset, b_.getPtrTy(), true); };
  const V left = context_field(offsetof(Context, next.more), b_.getInt64Ty(), false);
  machine_store(b_.CreateSub(left, b_.getInt64(blocks)), field(offsetof(Context, next.more)));
  const V linear = place(offsetof(Context, next.block_linear));
  machine_store(b_.CreateAdd(machine_load(b_.getInt64Ty(), linear), b_.getInt64(blocks)), linear);
  const V x = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), row_.x), b_.getInt32(blocks));
  b_.CreateStore(x, row_.x);
  machine_store(x, place(offsetof(Context, next.block_x)));
  const V beside = b_.CreateAdd(context_field(offsetof(Context, numbers.smid), b_.getInt32Ty(), false), b_.getInt32(blocks));
  const V many = context_field(offsetof(Context, numbers.nsmid), b_.getInt32Ty(), true);
  const V smid = blocks > 1 ? b_.CreateURem(beside, many) : b_.CreateSelect(b_.CreateICmpULT(beside, many), beside, b_.getInt32(0));
  machine_store(smid, field(offsetof(Context, numbers.smid)));
  machine_store(smid, place(offsetof(Context, next.block_smid)));
}

// All that is written for a block stands in a loop; what is to be done once moves before it.
void Emitter::emit_next_block() {
  if (!row_.next) return;
  auto* first = BasicBlock::Create(c_, "first_block", w_.function, w_.entry);
  for (llvm::Instruction& i : llvm::make_early_inc_range(*w_.entry))
    if (llvm::isa<llvm::AllocaInst>(i)) i.moveBefore(*first, first->end());
  b_.SetInsertPoint(first);
  b_.CreateStore(context_field(offsetof(Context, numbers.ctaid), b_.getInt32Ty(), true), row_.x);
  if (row_.failures) b_.CreateStore(b_.getInt32(0), row_.failures);
  b_.CreateBr(w_.entry);

  auto [on, last] = new_blocks("go_on", "last_block");
  b_.SetInsertPoint(row_.next);
  const V left = context_field(offsetof(Context, next.more), b_.getInt64Ty(), false);
  go_on_if(b_.CreateICmpEQ(left, b_.getInt64(0)), last, on);
  b_.CreateRet(b_.getInt32(1));
  b_.SetInsertPoint(on);
  go_on_by(1);
  b_.CreateBr(w_.entry);
}

}  // namespace warpbeam::jit
