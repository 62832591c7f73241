// Idea: cp.async of 4, 8 or 16 bytes is made at once, as the interpreter makes it; lanes whose places lie side by side are copied together.
// Precondition: good places on both sides. Postcondition: the bytes are there before any wait. Fallback: the interpreter's handler.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

// An address as 64 bits.
Value Emitter::moved_by(int32_t slot, Width bytes, int64_t offset) {
  Value v;
  if (slot < 0) {
    v.runs = 1;
    v.run[0] = b_.getInt64(static_cast<uint64_t>(offset));
    return v;
  }
  v = read(slot, bytes);
  v.line = {};
  v.spread = {};
  const auto whole = [&](V x, bool vector) {
    x = b_.CreateAdd(x, llvm::ConstantInt::get(x->getType(), static_cast<uint64_t>(offset)));
    return bytes == 8 ? x : b_.CreateZExt(x, type_of(8, vector));
  };
  if (v.runs == 0) v.lanes = whole(v.lanes, true);
  for (size_t r = 0; r < v.runs; ++r) v.run[r] = whole(v.run[r], false);
  return v;
}

void Emitter::emit_copy(const vm::Insn& i) {
  const Source size = flow_.source(i.op[2], 4);
  const uint64_t bytes = size.kind == SourceKind::Constant ? size.bits : 0;
  const bool apart = watch_ || as_.alone || as_.slice || as_.few || as_.apart || unrolled_.now;
  if (apart || (bytes != 4 && bytes != 8 && bytes != 16) || (i.op[3] >= 0 && !read(i.op[3], 4).uniform())) return by_handler(i);
  Access from, to;
  from.insn = to.insn = &i;
  from.memory = to.memory = static_cast<Width>(std::min<uint64_t>(bytes, 8));
  from.count = to.count = bytes == 16 ? 2 : 1;
  from.root = plan_.roots.access(flow_, i);
  to.load = false;
  to.shared = true;
  const Value source = moved_by(i.op[1], i.width, i.imm2), target = moved_by(i.op[0], i.base_width, i.imm);
  const V mask = at_.active;
  V good = b_.getTrue();
  if (i.op[3] >= 0) good = b_.CreateICmpUGE(read(i.op[3], 4).run[0], b_.getInt32(static_cast<uint32_t>(bytes)));
  if (i.op[4] >= 0) {
    const Value ignored = read(i.op[4], 0);
    good = ignored.uniform() ? b_.CreateNot(ignored.run[0]) : b_.CreateICmpEQ(b_.CreateAnd(mask_bits(ignored.lanes), mask), b_.getInt32(0));
  }
  const auto fit = [&](const Access& a, const Value& address) {
    return address.runs ? fits_whole(a, address) : fits_lanes(a, address.lanes, mask);
  };
  good = b_.CreateAnd(good, b_.CreateAnd(fit(from, source), fit(to, target)));
  uses(Technique::Copies);
  auto [quick, slow, join] = new_blocks("copy", "slow", "join");
  b_.CreateCondBr(good, quick, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, mask, &range_of(from));
  b_.CreateBr(join);

  b_.SetInsertPoint(quick);
  const V shared = context_field(offsetof(Context, shared), b_.getPtrTy(), true);
  const auto copy = [&](V s, V d, uint64_t lanes) {
    auto* type = FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(lanes * bytes / 4));
    const V data = user(b_.CreateAlignedLoad(type, b_.CreateIntToPtr(s, b_.getPtrTy()), llvm::Align(bytes)));
    user(b_.CreateAlignedStore(data, b_.CreateGEP(b_.getInt8Ty(), shared, d), llvm::Align(bytes)));
  };
  const int64_t step = static_cast<int64_t>(bytes);
  if (source.runs && target.runs && source.stride == step && target.stride == step) {
    auto [all, some] = new_blocks("together", "lane_by_lane");
    go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), all, some);
    const int runs = std::max<int>(source.runs, target.runs);
    for (int r = 0; r < runs; ++r) copy(in_run(source, 8, r, runs), in_run(target, 8, r, runs), static_cast<uint64_t>(kLanes / runs));
    b_.CreateBr(join);
    b_.SetInsertPoint(some);
  }
  const V places[2] = {scratch(type_of(8, true)), scratch(type_of(8, true))};
  b_.CreateStore(lanes_of(source, 8), places[0]);
  b_.CreateStore(lanes_of(target, 8), places[1]);
  auto* before = b_.GetInsertBlock();
  auto* loop = new_block("lane");
  go_on(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  left->addIncoming(mask, before);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  const auto of_lane = [&](V all) { return b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), all, lane)); };
  copy(of_lane(places[0]), of_lane(places[1]), 1);
  const V rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, loop);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, join);
  b_.SetInsertPoint(join);
}

}  // namespace warpbeam::jit
