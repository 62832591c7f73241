// Stores that are put down until they fill lines (columns.h).
#include "jit/deferred_transpose.h"
#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

void Emitter::find_late() {
  static const bool without = left_out("deferred_transposes");
  if (without || watch_ || control_.many_regions || !wide_host() || !plan_.lane_loops.empty()) return;
  late_.store = find_late_store(flow_, shapes_, plan_.slopes);
  if (!late_.store) return;
  auto* type = llvm::ArrayType::get(b_.getInt64Ty(), sizeof(Rows) / 8);
  auto* rows = b_.CreateAlloca(type);
  rows->setAlignment(llvm::Align(alignof(Rows)));
  late_.rows = rows;
  b_.CreateStore(b_.getInt64(0), late_.rows);
}

V Emitter::of_rows(size_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), late_.rows, offset); }

// A full warp's store: behind what the warps before have put down, or in place.
void Emitter::store_late(const Access& a, V data, const Line& line) {
  constexpr uint64_t kLeast = 64;  // bytes from lane to lane
  uses(Technique::DeferredTransposes);
  // Loads do not see what has been put down, so they are to be from other allocations.
  V good = b_.CreateICmpUGE(line.slope, b_.getInt64(kLeast));
  const V mine = lo_of(range_of(a));
  for (const vm::Insn& i : flow_.code->insns)
    if (const auto other = access_of(i); other && other->load && !other->shared)
      good = b_.CreateAnd(good, b_.CreateICmpNE(lo_of(range_of(*other)), mine));
  auto [later, in_place, join] = new_blocks("later", "in_place", "join");
  b_.CreateCondBr(good, later, in_place);
  b_.SetInsertPoint(in_place);
  lane_memory_.store_apart(data, line, nullptr, b_.getInt32(~0u), a.memory);
  b_.CreateBr(join);

  b_.SetInsertPoint(later);
  const V first = of_rows(offsetof(Rows, first)), slope = of_rows(offsetof(Rows, slope));
  const V before = b_.CreateLoad(b_.getInt64Ty(), late_.rows);
  const V next = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), first), b_.CreateMul(before, b_.getInt64(a.memory)));
  const V goes_on = b_.CreateAnd(b_.CreateICmpEQ(next, line.base), b_.CreateICmpEQ(b_.CreateLoad(b_.getInt64Ty(), slope), line.slope));
  auto [anew, put] = new_blocks("anew", "put_down");
  b_.CreateCondBr(b_.CreateAnd(goes_on, b_.CreateICmpNE(before, b_.getInt64(0))), put, anew);
  b_.SetInsertPoint(anew);
  write_rows();
  b_.CreateStore(line.base, first);
  b_.CreateStore(line.slope, slope);
  b_.CreateStore(b_.getInt64(a.memory), of_rows(offsetof(Rows, bytes)));
  go_on(put);
  const V count = b_.CreateLoad(b_.getInt64Ty(), late_.rows);
  b_.CreateAlignedStore(data,
                        b_.CreateGEP(b_.getInt8Ty(), of_rows(offsetof(Rows, data)), b_.CreateMul(count, b_.getInt64(kLanes * a.memory))),
                        llvm::Align(64));
  const V more = b_.CreateAdd(count, b_.getInt64(1));
  b_.CreateStore(more, late_.rows);
  auto* filled = new_block("filled");
  go_on_if(b_.CreateICmpEQ(more, b_.getInt64(kMostRows * 4 / a.memory)), filled, join);
  write_rows();
  go_on(join);
}

// Whatever has been put down goes to its places.
void Emitter::write_rows() {
  if (!late_.store) return;
  auto [some, none] = new_blocks("rows", "no_rows");
  go_on_if(b_.CreateICmpNE(b_.CreateLoad(b_.getInt64Ty(), late_.rows), b_.getInt64(0)), some, none);
  call_aside(function("wb_write_rows"), {late_.rows});
  go_on(none);
}

}  // namespace warpbeam::jit
