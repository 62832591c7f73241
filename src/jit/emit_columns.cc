// Stores that are put down until they fill lines (columns.h).
#include "jit/columns.h"
#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

void Emitter::find_late() {
  static const bool without = left_out("columns");
  if (without || watch_ || many_regions_ || !wide_host() || !plan_.lane_loops.empty()) return;
  late_store_ = find_late_store(flow_, shapes_, plan_.slopes);
  if (!late_store_) return;
  auto* type = llvm::ArrayType::get(b_.getInt64Ty(), sizeof(Rows) / 8);
  auto* rows = b_.CreateAlloca(type);
  rows->setAlignment(llvm::Align(alignof(Rows)));
  rows_ = rows;
  b_.CreateStore(b_.getInt64(0), rows_);
}

Emitter::V Emitter::of_rows(size_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), rows_, offset); }

// A full warp's store: behind what the warps before have put down, or in place.
void Emitter::store_late(const Access& a, V data, const Line& line) {
  constexpr uint64_t kLeast = 64;  // bytes from lane to lane
  uses(Technique::Columns);
  // Loads do not see what has been put down, so they are to be from other allocations.
  V good = b_.CreateICmpUGE(line.slope, b_.getInt64(kLeast));
  const V mine = lo_of(range_of(a));
  for (const vm::Insn& i : flow_.code->insns)
    if (const auto other = access_of(i); other && other->load && !other->shared)
      good = b_.CreateAnd(good, b_.CreateICmpNE(lo_of(range_of(*other)), mine));
  auto* later = BasicBlock::Create(c_, "later", f_);
  auto* in_place = BasicBlock::Create(c_, "in_place", f_);
  auto* join = BasicBlock::Create(c_, "join", f_);
  b_.CreateCondBr(good, later, in_place);
  b_.SetInsertPoint(in_place);
  store_apart(data, line, nullptr, b_.getInt32(~0u), a.memory);
  b_.CreateBr(join);

  b_.SetInsertPoint(later);
  const V first = of_rows(offsetof(Rows, first)), slope = of_rows(offsetof(Rows, slope));
  const V before = b_.CreateLoad(b_.getInt64Ty(), rows_);
  const V next = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), first), b_.CreateMul(before, b_.getInt64(a.memory)));
  const V goes_on = b_.CreateAnd(b_.CreateICmpEQ(next, line.base),
                                 b_.CreateICmpEQ(b_.CreateLoad(b_.getInt64Ty(), slope), line.slope));
  auto* anew = BasicBlock::Create(c_, "anew", f_);
  auto* put = BasicBlock::Create(c_, "put_down", f_);
  b_.CreateCondBr(b_.CreateAnd(goes_on, b_.CreateICmpNE(before, b_.getInt64(0))), put, anew);
  b_.SetInsertPoint(anew);
  write_rows();
  b_.CreateStore(line.base, first);
  b_.CreateStore(line.slope, slope);
  b_.CreateStore(b_.getInt64(a.memory), of_rows(offsetof(Rows, bytes)));
  b_.CreateBr(put);
  b_.SetInsertPoint(put);
  const V count = b_.CreateLoad(b_.getInt64Ty(), rows_);
  b_.CreateAlignedStore(data, b_.CreateGEP(b_.getInt8Ty(), of_rows(offsetof(Rows, data)), b_.CreateMul(count, b_.getInt64(kLanes * a.memory))),
                        llvm::Align(64));
  const V more = b_.CreateAdd(count, b_.getInt64(1));
  b_.CreateStore(more, rows_);
  auto* filled = BasicBlock::Create(c_, "filled", f_);
  b_.CreateCondBr(b_.CreateICmpEQ(more, b_.getInt64(kMostRows * 4 / a.memory)), filled, join);
  b_.SetInsertPoint(filled);
  write_rows();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

// Whatever has been put down goes to its places.
void Emitter::write_rows() {
  if (!late_store_) return;
  auto* some = BasicBlock::Create(c_, "rows", f_);
  auto* none = BasicBlock::Create(c_, "no_rows", f_);
  b_.CreateCondBr(b_.CreateICmpNE(b_.CreateLoad(b_.getInt64Ty(), rows_), b_.getInt64(0)), some, none);
  b_.SetInsertPoint(some);
  call_aside(function("wb_write_rows"), {rows_});
  b_.CreateBr(none);
  b_.SetInsertPoint(none);
}

}  // namespace warpbeam::jit
