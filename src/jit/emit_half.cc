#include "jit/emit_half.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>

namespace warpbeam::jit {

namespace {

using isa::Opcode;
using V = llvm::Value*;
namespace In = llvm::Intrinsic;

// The same shape with other elements.
llvm::Type* like(V v, llvm::Type* element) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType()))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}
V bits(V like, uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }
V number(V like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
V as_float(llvm::IRBuilder<>& b, V v) { return b.CreateBitCast(v, like(v, b.getFloatTy())); }
V as_bits(llvm::IRBuilder<>& b, V v) { return b.CreateBitCast(v, like(v, b.getInt32Ty())); }

// What an instruction of whole registers gives for each 16 lanes.
template <class F>
V by_registers(llvm::IRBuilder<>& b, const std::vector<V>& operands, F&& of) {
  constexpr unsigned kRegister = 16;
  std::vector<V> parts;
  for (unsigned first = 0; first < llvm::cast<llvm::FixedVectorType>(operands[0]->getType())->getNumElements(); first += kRegister) {
    std::vector<int> pick;
    for (unsigned k = 0; k < kRegister; ++k) pick.push_back(static_cast<int>(first + k));
    std::vector<V> here;
    for (const V v : operands) here.push_back(b.CreateShuffleVector(v, pick));
    parts.push_back(of(here));
  }
  return llvm::concatenateVectors(b, parts);
}
bool has_registers(const Processor& has, V v) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return has.wide && vector && vector->getNumElements() % 16 == 0;
}

constexpr uint32_t kSilent = 8;  // no exceptions, and the rounding that the instruction names: to nearest even, down, up

// To floats, NaNs among them with any bits. Not as LLVM's half, whose comparisons it would make of each lane.
V widened(llvm::IRBuilder<>& b, V half) {
  return by_registers(b, {half}, [&](const std::vector<V>& o) {
    auto* floats = llvm::FixedVectorType::get(b.getFloatTy(), 16);
    return b.CreateIntrinsic(In::x86_avx512_mask_vcvtph2ps_512, {},
                             {o[0], llvm::Constant::getNullValue(floats), b.getInt16(0xffff), b.getInt32(kSilent)});
  });
}

// x * y + z, rounded to the neighbour with an odd last bit unless it is exact: of the sum rounded down and up the odd one.
V fma_either_way(llvm::IRBuilder<>& b, V x, V y, V z) {
  return by_registers(b, {x, y, z}, [&](const std::vector<V>& o) {
    const auto rounded = [&](uint32_t way) {
      return as_bits(b, b.CreateIntrinsic(In::x86_avx512_vfmadd_ps_512, {}, {o[0], o[1], o[2], b.getInt32(kSilent | way)}));
    };
    const V down = rounded(1), up = rounded(2);
    return b.CreateSelect(b.CreateICmpNE(b.CreateAnd(down, bits(down, 1)), bits(down, 0)), down, up);
  });
}

// The sum is rounded to one of the two neighbours with an odd last bit unless it is exact: it may then be rounded
// again. The product of two halves is exact in a float.
V fma_to_odd(llvm::IRBuilder<>& b, V x, V y, V z, const Processor& has) {
  if (has_registers(has, x)) return fma_either_way(b, x, y, z);
  const V product = b.CreateFMul(x, y), sum = b.CreateFAdd(product, z), back = b.CreateFSub(sum, product);
  const V error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, back)), b.CreateFSub(z, back));
  const V raw = as_bits(b, sum);
  const V beyond = b.CreateICmpSLT(b.CreateXor(as_bits(b, error), raw), bits(raw, 0));  // the exact sum is nearer to zero
  const V odd = b.CreateOr(b.CreateSelect(beyond, b.CreateSub(raw, bits(raw, 1)), raw), bits(raw, 1));
  return b.CreateSelect(b.CreateFCmpONE(error, number(error, 0)), odd, raw);
}

// The same for bf16, whose products may leave the range of a float.
V wide_fma_to_odd(llvm::IRBuilder<>& b, V x, V y, V z) {
  const auto wide = [&](V v) { return b.CreateFPExt(v, like(v, b.getDoubleTy())); };
  const auto raw_of = [&](V v) { return b.CreateBitCast(v, like(v, b.getInt64Ty())); };
  const V product = b.CreateFMul(wide(x), wide(y)), c = wide(z), sum = b.CreateFAdd(product, c), back = b.CreateFSub(sum, product);
  const V error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, back)), b.CreateFSub(c, back));
  const V raw = raw_of(sum), beyond = b.CreateICmpSLT(b.CreateXor(raw_of(error), raw), bits(raw, 0));
  const V odd = b.CreateOr(b.CreateSelect(beyond, b.CreateSub(raw, bits(raw, 1)), raw), bits(raw, 1));
  return double_to_odd(b, b.CreateBitCast(b.CreateSelect(b.CreateFCmpONE(error, number(error, 0)), odd, raw), sum->getType()));
}

// In the order of numbers, -0 below +0; a NaN loses, or with .NaN wins.
V extreme(llvm::IRBuilder<>& b, bool largest, bool nan, V x, V y, uint64_t infinity) {
  const auto ordered = [&](V v) { return b.CreateXor(v, b.CreateAnd(b.CreateAShr(v, bits(v, 15)), bits(v, 0x7fff))); };
  const auto is_nan = [&](V v) { return b.CreateICmpUGT(b.CreateAnd(v, bits(v, 0x7fff)), bits(v, infinity)); };
  const V first = largest ? b.CreateICmpSGE(ordered(x), ordered(y)) : b.CreateICmpSLE(ordered(x), ordered(y));
  V r = b.CreateSelect(first, x, y);
  r = b.CreateSelect(is_nan(y), x, r);
  r = b.CreateSelect(is_nan(x), y, r);
  const V lost = nan ? b.CreateOr(is_nan(x), is_nan(y)) : b.CreateAnd(is_nan(x), is_nan(y));
  return b.CreateSelect(lost, bits(r, 0x7fff), r);
}

V of_one(llvm::IRBuilder<>& b, Opcode op, const isa::Mods& m, const std::vector<V>& o, bool brain, const Processor& has) {
  const uint64_t infinity = brain ? 0x7f80 : 0x7c00;
  if (op == Opcode::Neg || op == Opcode::Abs) {
    const V magnitude = b.CreateAnd(o[0], bits(o[0], 0x7fff));
    const V r = op == Opcode::Abs ? magnitude : b.CreateXor(o[0], bits(o[0], 0x8000));
    return b.CreateSelect(b.CreateICmpUGT(magnitude, bits(magnitude, infinity)), bits(r, 0x7fff), r);
  }
  if (op == Opcode::Min || op == Opcode::Max) return extreme(b, op == Opcode::Max, m.nan, o[0], o[1], infinity);
  std::vector<V> x;
  for (const V half : o)
    x.push_back(!brain && has_registers(has, half) ? widened(b, half)
                                                   : as_float(b, brain ? brain_to_float(b, half) : half_to_float(b, half, has)));
  const auto narrow = [&](V raw) { return brain ? float_to_brain(b, raw) : float_to_half(b, raw, has); };
  if (op == Opcode::Fma) return narrow(brain ? wide_fma_to_odd(b, x[0], x[1], x[2]) : fma_to_odd(b, x[0], x[1], x[2], has));
  // A float has more than twice a half's digits: rounding again changes nothing.
  return narrow(as_bits(b, op == Opcode::Mul   ? b.CreateFMul(x[0], x[1])
                           : op == Opcode::Add ? b.CreateFAdd(x[0], x[1])
                                               : b.CreateFSub(x[0], x[1])));
}

}  // namespace

V double_to_odd(llvm::IRBuilder<>& b, V x) {
  const V single = b.CreateFPTrunc(x, like(x, b.getFloatTy())), back = b.CreateFPExt(single, x->getType()), raw = as_bits(b, single);
  const auto size = [&](V v) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  const V odd = b.CreateOr(b.CreateSelect(b.CreateFCmpOGT(size(back), size(x)), b.CreateSub(raw, bits(raw, 1)), raw), bits(raw, 1));
  return b.CreateSelect(b.CreateFCmpONE(back, x), odd, raw);
}

V brain_to_float(llvm::IRBuilder<>& b, V brain) {
  const V raw = b.CreateZExt(brain, like(brain, b.getInt32Ty()));
  return b.CreateShl(raw, bits(raw, 16));
}

V double_directed(llvm::IRBuilder<>& b, V x, isa::Rnd rounding) {
  using isa::Rnd;
  const V single = b.CreateFPTrunc(x, like(x, b.getFloatTy())), back = b.CreateFPExt(single, x->getType()), raw = as_bits(b, single);
  const V one = bits(raw, 1), nearer = b.CreateSub(raw, one), further = b.CreateAdd(raw, one);  // neighbours, seen from zero
  if (rounding == Rnd::Rz) {
    const auto size = [&](V v) { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
    return b.CreateSelect(b.CreateFCmpOGT(size(back), size(x)), nearer, raw);
  }
  const V negative = b.CreateICmpSLT(raw, bits(raw, 0));
  const V other = rounding == Rnd::Rm ? b.CreateSelect(negative, further, nearer) : b.CreateSelect(negative, nearer, further);
  return b.CreateSelect(rounding == Rnd::Rm ? b.CreateFCmpOGT(back, x) : b.CreateFCmpOLT(back, x), other, raw);
}

V float_to_brain(llvm::IRBuilder<>& b, V raw, isa::Rnd rounding) {
  using isa::Rnd;
  const auto k = [&](uint64_t value) { return bits(raw, value); };
  V add = k(0);
  if (rounding == Rnd::None || rounding == Rnd::Rn) add = b.CreateAdd(b.CreateAnd(b.CreateLShr(raw, k(16)), k(1)), k(0x7fff));
  if (rounding == Rnd::Rna) add = k(0x8000);
  const V negative = b.CreateICmpSLT(raw, k(0));
  if (rounding == Rnd::Rm) add = b.CreateSelect(negative, k(0xffff), k(0));
  if (rounding == Rnd::Rp) add = b.CreateSelect(negative, k(0), k(0xffff));
  V r = b.CreateAdd(raw, add);
  r = b.CreateSelect(b.CreateICmpUGT(b.CreateAnd(raw, k(0x7fffffff)), k(0x7f800000)), k(0x7fff0000), r);
  return b.CreateTrunc(b.CreateLShr(r, k(16)), like(r, b.getInt16Ty()));
}

V half_to_float(llvm::IRBuilder<>& b, V half, const Processor& has) {
  if (has_registers(has, half)) {
    const V value = widened(b, half), raw = as_bits(b, value);
    return b.CreateSelect(b.CreateFCmpUNO(value, value), bits(raw, 0x7fffffff), raw);
  }
  const V raw = b.CreateZExt(half, like(half, b.getInt32Ty()));
  const V magnitude = b.CreateAnd(raw, bits(raw, 0x7fff));
  // A factor puts the exponent right, for subnormal numbers too.
  const V small = as_float(b, b.CreateShl(magnitude, bits(raw, 13)));
  const V finite = as_bits(b, b.CreateFMul(small, number(small, 0x1p112)));
  const V value = b.CreateSelect(b.CreateICmpUGE(magnitude, bits(raw, 0x7c00)), bits(raw, 0x7f800000), finite);
  const V with_sign = b.CreateOr(value, b.CreateShl(b.CreateAnd(raw, bits(raw, 0x8000)), bits(raw, 16)));
  return b.CreateSelect(b.CreateICmpUGT(magnitude, bits(raw, 0x7c00)), bits(raw, 0x7fffffff), with_sign);
}

V float_to_half(llvm::IRBuilder<>& b, V raw, const Processor& has) {
  if (has_registers(has, raw)) {
    const V single = as_float(b, raw);
    const V half = by_registers(b, {single}, [&](const std::vector<V>& o) {
      auto* shorts = llvm::FixedVectorType::get(b.getInt16Ty(), 16);
      return b.CreateIntrinsic(In::x86_avx512_mask_vcvtps2ph_512, {},
                               {o[0], b.getInt32(kSilent), llvm::Constant::getNullValue(shorts), b.getInt16(0xffff)});
    });
    return b.CreateSelect(b.CreateFCmpUNO(single, single), bits(half, 0x7fff), half);
  }
  const auto k = [&](uint64_t value) { return bits(raw, value); };
  const V magnitude = b.CreateAnd(raw, k(0x7fffffff));
  const V last = b.CreateAnd(b.CreateLShr(magnitude, k(13)), k(1));
  const V normal = b.CreateLShr(b.CreateSub(b.CreateAdd(magnitude, b.CreateAdd(last, k(0xfff))), k(0x38000000)), k(13));
  // Below the normal numbers the last place is 2^-24, which is that of 0.5 in a float.
  const V single = as_float(b, magnitude);
  const V subnormal = b.CreateSub(as_bits(b, b.CreateFAdd(single, number(single, 0.5))), k(0x3f000000));
  V r = b.CreateSelect(b.CreateICmpULT(magnitude, k(0x38800000)), subnormal, normal);
  r = b.CreateSelect(b.CreateICmpUGE(magnitude, k(0x477ff000)), k(0x7c00), r);
  r = b.CreateOr(r, b.CreateAnd(b.CreateLShr(raw, k(16)), k(0x8000)));
  r = b.CreateSelect(b.CreateICmpUGT(magnitude, k(0x7f800000)), k(0x7fff), r);
  return b.CreateTrunc(r, like(r, b.getInt16Ty()));
}

bool has_half(Opcode op, const isa::Mods& m) {
  constexpr std::array kAll = {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Fma, Opcode::Neg, Opcode::Abs, Opcode::Min, Opcode::Max};
  return std::ranges::find(kAll, op) != kAll.end() && !m.ftz && !m.sat && !m.relu && !m.xorsign && !m.abs;
}

V half_arithmetic(llvm::IRBuilder<>& b, Opcode op, const isa::Mods& m, const std::vector<V>& operands, isa::Type type,
                  const Processor& has) {
  const bool brain = type == isa::Type::BF16 || type == isa::Type::BF16x2;
  if (type == isa::Type::F16 || type == isa::Type::BF16) return of_one(b, op, m, operands, brain, has);
  llvm::Type* words = operands[0]->getType();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(words);
  auto* pairs = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * (vector ? vector->getNumElements() : 1));
  std::vector<V> halves;
  for (const V word : operands) halves.push_back(b.CreateBitCast(word, pairs));
  return b.CreateBitCast(of_one(b, op, m, halves, brain, has), words);
}

}  // namespace warpbeam::jit
