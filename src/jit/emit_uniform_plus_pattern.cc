// Idea: where the pattern of an address (uniform_plus_pattern.h) lies within 64 elements of shared memory, these are loaded and permuted, or permuted
// and stored; LLVM moves what depends on the pattern alone out of the loop over warps.
// Precondition: elements of 4 bytes, AVX-512. Postcondition: other elements are as before. Fallback: the access by addresses.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "jit/emitter.h"
#include "jit/runtime_stride.h"
#include "jit/uniform_plus_pattern.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr uint32_t kWindow = 64;

llvm::Constant* steps(llvm::IRBuilder<>& b, int64_t stride) {
  std::vector<llvm::Constant*> all;
  for (int64_t l = 0; l < kLanes; ++l) all.push_back(llvm::ConstantInt::getSigned(b.getInt32Ty(), l * stride));
  return llvm::ConstantVector::get(all);
}

}  // namespace

UniformPlusPattern Emitter::spread_of_result(const vm::Insn& i, const std::vector<std::pair<Value, Width>>& in) {
  if (const int at = spreading_mask(flow_, shapes_, i)) {
    const V mask = in[static_cast<size_t>(at - 1)].first.run[0], first = in[static_cast<size_t>(2 - at)].first.run[0];
    if (i.is(isa::Opcode::And)) return {b_.CreateAnd(first, mask), b_.CreateAnd(steps(b_, 1), splat(mask))};
    const auto op = i.is(isa::Opcode::Or) ? llvm::Instruction::Or : llvm::Instruction::Xor;
    return {b_.CreateBinOp(op, first, b_.CreateAnd(mask, b_.getInt32(~31u))),
            b_.CreateBinOp(op, steps(b_, 1), splat(b_.CreateAnd(mask, b_.getInt32(31))))};
  }
  std::vector<UniformPlusPattern> s;
  for (const auto& [v, bytes] : in) s.push_back(v.runs == 0 ? v.spread : UniformPlusPattern{v.run[0], steps(b_, v.stride)});
  const isa::Row& row = *i.source->form.row;
  const auto factor = [&](V value, llvm::Type* type) {  // a constant
    return llvm::ConstantInt::getSigned(type, llvm::cast<llvm::ConstantInt>(value)->getSExtValue());
  };
  if (widens(i)) {
    const bool sg = isa::is_signed(row.kind == isa::Kind::Convert ? i.source->form.atype : i.type());
    const V base = sg ? b_.CreateSExt(s[0].base, b_.getInt64Ty()) : b_.CreateZExt(s[0].base, b_.getInt64Ty());
    V wraps = b_.getFalse();
    for (const V end : {b_.CreateIntMinReduce(s[0].pattern, true), b_.CreateIntMaxReduce(s[0].pattern, true)}) {
      const V there = b_.CreateAdd(base, b_.CreateSExt(end, b_.getInt64Ty()));
      const V low = b_.CreateTrunc(there, b_.getInt32Ty());
      wraps = b_.CreateOr(wraps, b_.CreateICmpNE(sg ? b_.CreateSExt(low, b_.getInt64Ty()) : b_.CreateZExt(low, b_.getInt64Ty()), there));
    }
    wraps = b_.CreateAnd(wraps, b_.CreateICmpNE(at_.active, b_.getInt32(0)));
    as_.wraps ? as_.wraps->push_back(wraps) : hand_over(i, wraps);
    s[0].base = base;
    if (row.kind == isa::Kind::Convert) return s[0];
  }
  if (row.op == isa::Opcode::Mul || row.op == isa::Opcode::Mad) {
    const V by = s[1].base;
    UniformPlusPattern product{b_.CreateMul(s[0].base, factor(by, s[0].base->getType())),
                               b_.CreateMul(s[0].pattern, splat(factor(by, b_.getInt32Ty())))};
    if (row.op == isa::Opcode::Mul) return product;
    return {b_.CreateAdd(product.base, s[2].base), b_.CreateAdd(product.pattern, s[2].pattern)};
  }
  if (row.op == isa::Opcode::Shl) {
    const V by = s[1].base;
    return {b_.CreateShl(s[0].base, b_.CreateZExtOrTrunc(by, s[0].base->getType())),
            b_.CreateShl(s[0].pattern, splat(b_.CreateZExtOrTrunc(by, b_.getInt32Ty())))};
  }
  for (size_t k = 0; k < s.size(); ++k)
    if (in[k].first.runs && lends_low_bits(shapes_.source(i.op[k + 1], in[k].second), in[k].second))
      s[k] = {b_.CreateAnd(s[k].base, b_.getInt32(~31u)), splat(b_.CreateAnd(s[k].base, b_.getInt32(31)))};
  if (row.op == isa::Opcode::Add) return {b_.CreateAdd(s[0].base, s[1].base), b_.CreateAdd(s[0].pattern, s[1].pattern)};
  if (row.op == isa::Opcode::Sub) return {b_.CreateSub(s[0].base, s[1].base), b_.CreateSub(s[0].pattern, s[1].pattern)};
  return s[0];  // a move
}

// The access by a window, and on to `join`; to `other` where the pattern does not allow it or places do not exist.
void Emitter::touch_window(const Access& a, const Value& address, V mask, BasicBlock* other, BasicBlock* join) {
  uses(Technique::Patterns);
  // The window begins where a line of memory does, as far as the pattern tells, if it reaches far enough then.
  const V pattern = address.spread.pattern, high = b_.CreateIntMaxReduce(pattern, true), least = b_.CreateIntMinReduce(pattern, true);
  const V line = b_.CreateAnd(least, b_.getInt32(~63u));
  const V low = b_.CreateSelect(b_.CreateICmpULT(b_.CreateSub(high, line), b_.getInt32(kWindow * 4)), line, least);
  const V offset = b_.CreateSub(pattern, splat(low));
  const auto all = [&](V lanes) { return b_.CreateICmpEQ(mask_bits(lanes), b_.getInt32(~0u)); };
  const V narrow = b_.CreateICmpULT(b_.CreateSub(high, low), b_.getInt32(kWindow * 4));
  const V even = all(b_.CreateICmpEQ(b_.CreateAnd(offset, splat(b_.getInt32(3))), llvm::Constant::getNullValue(offset->getType())));
  V good = b_.CreateAnd(narrow, even);
  if (!a.load) {  // each at a place of its own, and rising
    const V rises = mask_bits(b_.CreateICmpSLT(pattern, lanes_behind(pattern)));
    good = b_.CreateAnd(good, b_.CreateICmpEQ(b_.CreateOr(rises, b_.getInt32(1u << 31)), b_.getInt32(~0u)));
  }
  const V which = b_.CreateLShr(offset, splat(b_.getInt32(2)));
  llvm::Type* wide = type_of(8, true);
  const V places = b_.CreateOrReduce(b_.CreateShl(llvm::ConstantInt::get(wide, 1), b_.CreateZExt(which, wide)));
  const V first = b_.CreateAdd(address.spread.base, b_.CreateSExt(low, b_.getInt64Ty()));
  const auto there = [&](V end) { return fits(a, b_.CreateAdd(address.spread.base, b_.CreateSExt(end, b_.getInt64Ty())), a.total()); };
  good = b_.CreateAnd(good, b_.CreateAnd(there(least), there(high)));
  auto* window = new_block("window");
  go_on_if(good, window, other);
  const V pointer = b_.CreateGEP(b_.getInt8Ty(), context_field(offsetof(Context, shared), b_.getPtrTy(), true), first);
  if (a.load) {
    Value v;
    v.lanes = lane_memory_.load_places(pointer, which, places);
    write(a.slots[0], a.reg, v);
  } else {
    const Source s = flow_.source(a.slots[0], a.reg);
    V data = lanes_of(read(a.slots[0], a.reg), a.reg);
    if (s.kind == SourceKind::Variable && shapes_.loose[s.variable]) data = bits_of(canonical(float_of(data, 4)));
    lane_memory_.store_places(data, pointer, places, mask);
  }
  b_.CreateBr(join);
}

}  // namespace warpbeam::jit
