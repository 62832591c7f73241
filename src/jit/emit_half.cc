#include "jit/emit_half.h"

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

namespace warpbeam::jit {

namespace {

using V = llvm::Value*;

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

// The sum is rounded to one of the two neighbours with an odd last bit unless it is exact: it may then be rounded
// again. The product of two halves is exact in a float.
V fma_to_odd(llvm::IRBuilder<>& b, V x, V y, V z) {
  const V product = b.CreateFMul(x, y), sum = b.CreateFAdd(product, z), back = b.CreateFSub(sum, product);
  const V error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, back)), b.CreateFSub(z, back));
  const V raw = as_bits(b, sum);
  const V beyond =
      b.CreateICmpSLT(b.CreateXor(as_bits(b, error), raw), bits(raw, 0));  // the exact sum is nearer to zero
  const V odd = b.CreateOr(b.CreateSelect(beyond, b.CreateSub(raw, bits(raw, 1)), raw), bits(raw, 1));
  return b.CreateSelect(b.CreateFCmpONE(error, number(error, 0)), odd, raw);
}

V of_one(llvm::IRBuilder<>& b, std::string_view op, const std::vector<V>& o) {
  if (op == "neg" || op == "abs") {
    const V magnitude = b.CreateAnd(o[0], bits(o[0], 0x7fff));
    const V r = op == "abs" ? magnitude : b.CreateXor(o[0], bits(o[0], 0x8000));
    return b.CreateSelect(b.CreateICmpUGT(magnitude, bits(magnitude, 0x7c00)), bits(r, 0x7fff), r);
  }
  std::vector<V> x;
  for (const V half : o) x.push_back(as_float(b, half_to_float(b, half)));
  if (op == "fma") return float_to_half(b, fma_to_odd(b, x[0], x[1], x[2]));
  // A float has more than twice a half's digits: rounding again changes nothing.
  return float_to_half(b, as_bits(b, op == "mul"   ? b.CreateFMul(x[0], x[1])
                                     : op == "add" ? b.CreateFAdd(x[0], x[1])
                                                   : b.CreateFSub(x[0], x[1])));
}

}  // namespace

V half_to_float(llvm::IRBuilder<>& b, V half) {
  const V raw = b.CreateZExt(half, like(half, b.getInt32Ty()));
  const V magnitude = b.CreateAnd(raw, bits(raw, 0x7fff));
  // A factor puts the exponent right, for subnormal numbers too.
  const V small = as_float(b, b.CreateShl(magnitude, bits(raw, 13)));
  const V finite = as_bits(b, b.CreateFMul(small, number(small, 0x1p112)));
  const V value = b.CreateSelect(b.CreateICmpUGE(magnitude, bits(raw, 0x7c00)), bits(raw, 0x7f800000), finite);
  const V with_sign = b.CreateOr(value, b.CreateShl(b.CreateAnd(raw, bits(raw, 0x8000)), bits(raw, 16)));
  return b.CreateSelect(b.CreateICmpUGT(magnitude, bits(raw, 0x7c00)), bits(raw, 0x7fffffff), with_sign);
}

V float_to_half(llvm::IRBuilder<>& b, V raw) {
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

bool has_half(std::string_view op) {
  constexpr std::array<std::string_view, 6> kAll = {"add", "sub", "mul", "fma", "neg", "abs"};
  return std::ranges::find(kAll, op) != kAll.end();
}

V half_arithmetic(llvm::IRBuilder<>& b, std::string_view op, const std::vector<V>& operands, bool packed) {
  if (!packed) return of_one(b, op, operands);
  V both = nullptr;
  for (const unsigned shift : {0u, 16u}) {
    std::vector<V> halves;
    for (const V word : operands)
      halves.push_back(b.CreateTrunc(b.CreateLShr(word, bits(word, shift)), like(word, b.getInt16Ty())));
    const V half = of_one(b, op, halves);
    const V placed = b.CreateShl(b.CreateZExt(half, operands[0]->getType()), bits(operands[0], shift));
    both = both ? b.CreateOr(both, placed) : placed;
  }
  return both;
}

}  // namespace warpbeam::jit
