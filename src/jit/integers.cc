// Arithmetic of whole numbers and bits (arithmetic.cc says what it is held to).
#include <llvm/IR/Intrinsics.h>

#include "jit/emit_parts.h"
#include "jit/arithmetic.h"

namespace warpbeam::jit {

using isa::Half;
using isa::Opcode;
using isa::Type;
namespace In = llvm::Intrinsic;

namespace {

// Counts past the width give zero (or all sign bits), which LLVM leaves undefined.
llvm::Value* shift(llvm::IRBuilder<>& b, llvm::Value* a, llvm::Value* count, bool left, bool is_signed) {
  llvm::Type* t = a->getType();
  const unsigned w = t->getScalarSizeInBits();
  llvm::Type* ct = count->getType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(ct, v); };
  if (!left && is_signed) {
    llvm::Value* n = b.CreateBinaryIntrinsic(In::umin, count, k(w - 1));
    return b.CreateAShr(a, b.CreateZExtOrTrunc(n, t));
  }
  llvm::Value* in = b.CreateICmpULT(count, k(w));
  llvm::Value* n = b.CreateZExtOrTrunc(b.CreateAnd(count, k(w - 1)), t);
  llvm::Value* r = left ? b.CreateShl(a, n) : b.CreateLShr(a, n);
  return b.CreateSelect(in, r, llvm::Constant::getNullValue(t));
}

// Of 64-bit numbers, from products of 32-bit halves: LLVM has no vectors of 128-bit ones.
llvm::Value* upper_half_of_product(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y, bool is_signed) {
  const auto k = [&](uint64_t n) { return llvm::ConstantInt::get(x->getType(), n); };
  const auto low = [&](llvm::Value* v) { return b.CreateAnd(v, k(0xffffffff)); };
  const auto high = [&](llvm::Value* v) { return b.CreateLShr(v, k(32)); };
  const auto first = b.CreateMul(low(x), low(y)), second = b.CreateMul(high(x), low(y)), third = b.CreateMul(low(x), high(y));
  const auto middle = b.CreateAdd(b.CreateAdd(high(first), low(second)), low(third));
  auto r = b.CreateAdd(b.CreateAdd(b.CreateMul(high(x), high(y)), high(second)), b.CreateAdd(high(third), high(middle)));
  if (!is_signed) return r;
  const auto if_negative = [&](llvm::Value* v, llvm::Value* other) { return b.CreateAnd(b.CreateAShr(v, k(63)), other); };
  return b.CreateSub(b.CreateSub(r, if_negative(x, y)), if_negative(y, x));
}

}  // namespace

V Arithmetic::compute_integer(const vm::Insn& i, const std::vector<V>& o) {
  const Opcode op = i.source->form.row->op;
  const isa::Mods& m = i.mods();
  const Type t = i.type();
  const bool sg = isa::is_signed(t);
  const Half half = half_of(i);
  llvm::Type* ty = o[0]->getType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(ty, v); };
  const auto wide_type = [&](unsigned bits) {
    llvm::Type* w = b_.getIntNTy(bits);
    return ty->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(w, w_.lanes)) : w;
  };
  const unsigned bits = ty->getScalarSizeInBits();
  const auto ext = [&](V x, unsigned to) { return sg ? b_.CreateSExt(x, wide_type(to)) : b_.CreateZExt(x, wide_type(to)); };
  switch (op) {
    case Opcode::Add: return b_.CreateAdd(o[0], o[1]);
    case Opcode::Sub: return b_.CreateSub(o[0], o[1]);
    case Opcode::And: return b_.CreateAnd(o[0], o[1]);
    case Opcode::Or: return b_.CreateOr(o[0], o[1]);
    case Opcode::Xor: return b_.CreateXor(o[0], o[1]);
    case Opcode::Not: return b_.CreateNot(o[0]);
    case Opcode::Cnot: return b_.CreateZExt(b_.CreateICmpEQ(o[0], k(0)), ty);
    case Opcode::Neg: return b_.CreateNeg(o[0]);
    case Opcode::Abs: return b_.CreateIntrinsic(In::abs, {ty}, {o[0], b_.getFalse()});
    case Opcode::Min: return intrinsic(sg ? In::smin : In::umin, o[0], o[1]);
    case Opcode::Max: return intrinsic(sg ? In::smax : In::umax, o[0], o[1]);
    case Opcode::Shl: return shift(b_, o[0], o[1], true, false);
    case Opcode::Shr: return shift(b_, o[0], o[1], false, sg);
    case Opcode::Mul:
    case Opcode::Mad: {
      V product;
      if (half == Half::Lo) product = b_.CreateMul(o[0], o[1]);
      else if (bits == 64 && ty->isVectorTy()) product = upper_half_of_product(b_, o[0], o[1], sg);
      else {
        product = b_.CreateMul(ext(o[0], 2 * bits), ext(o[1], 2 * bits));
        if (half == Half::Hi) product = b_.CreateTrunc(b_.CreateLShr(product, bits), ty);
      }
      return op == Opcode::Mad ? b_.CreateAdd(product, o[2]) : product;
    }
    case Opcode::Mul24:
    case Opcode::Mad24: {
      const auto low = [&](V x) { return sg ? b_.CreateAShr(b_.CreateShl(x, 8), 8) : b_.CreateAnd(x, k(0xffffff)); };
      V product = b_.CreateMul(low(o[0]), low(o[1]));
      return op == Opcode::Mad24 ? b_.CreateAdd(product, o[2]) : product;
    }
    case Opcode::Sad: {
      const V less = sg ? b_.CreateICmpSLT(o[0], o[1]) : b_.CreateICmpULT(o[0], o[1]);
      return b_.CreateAdd(o[2], b_.CreateSelect(less, b_.CreateSub(o[1], o[0]), b_.CreateSub(o[0], o[1])));
    }
    case Opcode::Popc: return b_.CreateZExtOrTrunc(intrinsic(In::ctpop, o[0]), wide_type(32));
    case Opcode::Clz: return b_.CreateZExtOrTrunc(b_.CreateIntrinsic(In::ctlz, {ty}, {o[0], b_.getFalse()}), wide_type(32));
    case Opcode::Brev: return intrinsic(In::bitreverse, o[0]);
    case Opcode::Bfind: {
      V x = sg ? b_.CreateXor(o[0], b_.CreateAShr(o[0], bits - 1)) : o[0];
      V zeros = b_.CreateZExtOrTrunc(b_.CreateIntrinsic(In::ctlz, {ty}, {x, b_.getFalse()}), wide_type(32));
      llvm::Type* w = wide_type(32);
      V r = m.shiftamt ? zeros : b_.CreateSub(llvm::ConstantInt::get(w, bits - 1), zeros);
      return b_.CreateSelect(b_.CreateICmpEQ(x, k(0)), llvm::ConstantInt::get(w, 0xffffffff), r);
    }
    case Opcode::Bfe: {
      V position = b_.CreateAnd(o[1], k(0xff)), length = b_.CreateAnd(o[2], k(0xff));
      V full = b_.CreateICmpUGE(length, k(32));
      V mask = b_.CreateSelect(full, k(~0u), b_.CreateSub(shift(b_, k(1), length, true, false), k(1)));
      V field = b_.CreateAnd(shift(b_, o[0], position, false, false), mask);
      if (!sg) return field;
      V sign_at = intrinsic(In::umin, b_.CreateSub(b_.CreateAdd(position, length), k(1)), k(31));
      V present = intrinsic(In::usub_sat, k(32), position);
      V kept = intrinsic(In::umin, length, present);
      V kept_mask = b_.CreateSelect(b_.CreateICmpUGE(kept, k(32)), k(~0u), b_.CreateSub(shift(b_, k(1), kept, true, false), k(1)));
      V negative = b_.CreateICmpNE(b_.CreateAnd(shift(b_, o[0], sign_at, false, false), k(1)), k(0));
      negative = b_.CreateAnd(negative, b_.CreateICmpNE(length, k(0)));
      return b_.CreateOr(field, b_.CreateSelect(negative, b_.CreateNot(kept_mask), k(0)));
    }
    case Opcode::Bfi: {
      V position = b_.CreateAnd(o[2], k(0xff)), length = b_.CreateAnd(o[3], k(0xff));
      V low = b_.CreateSelect(b_.CreateICmpUGE(length, k(32)), k(~0u), b_.CreateSub(shift(b_, k(1), length, true, false), k(1)));
      V mask = shift(b_, low, position, true, false);
      return b_.CreateOr(b_.CreateAnd(shift(b_, o[0], position, true, false), mask), b_.CreateAnd(o[1], b_.CreateNot(mask)));
    }
    case Opcode::Shf: {
      V count = m.edge == isa::Edge::Clamp ? intrinsic(In::umin, o[2], k(32)) : b_.CreateAnd(o[2], k(31));
      V both = b_.CreateOr(b_.CreateShl(b_.CreateZExt(o[1], wide_type(64)), 32), b_.CreateZExt(o[0], wide_type(64)));
      V n = b_.CreateZExt(count, wide_type(64));
      if (m.dir == isa::Direction::Left || says(*i.source->form.row, ".l"))
        return b_.CreateTrunc(b_.CreateLShr(b_.CreateShl(both, n), 32), ty);
      return b_.CreateTrunc(b_.CreateLShr(both, n), ty);
    }
    case Opcode::Dp4a: {
      const auto byte = [&](V x, uint64_t n, bool is_signed) {
        if (is_signed) return b_.CreateAShr(b_.CreateShl(x, k(24 - 8 * n)), k(24));
        return b_.CreateAnd(b_.CreateLShr(x, k(8 * n)), k(0xff));
      };
      V sum = o[2];
      for (uint64_t n = 0; n < 4; ++n) sum = b_.CreateAdd(sum, b_.CreateMul(byte(o[0], n, sg), byte(o[1], n, m.b_signed)));
      return sum;
    }
    case Opcode::Prmt: return permute_bytes(b_, o[0], o[1], o[2]);
    case Opcode::Lop3: {
      const Source table = shapes_.flow->source(i.op[4], 4);
      V d = k(0);
      for (uint64_t c = 0; c < 8; ++c) {
        if (!(table.bits >> c & 1)) continue;
        const auto side = [&](V x, bool plain) { return plain ? x : b_.CreateNot(x); };
        d = b_.CreateOr(d, b_.CreateAnd(b_.CreateAnd(side(o[0], c & 4), side(o[1], c & 2)), side(o[2], c & 1)));
      }
      return d;
    }
    default: break;
  }
  // Quotients of 32-bit numbers are exact through double: it is too precise to round across a whole number.
  const bool rem = op == Opcode::Rem;
  llvm::Type* f = ty->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(b_.getDoubleTy(), w_.lanes)) : b_.getDoubleTy();
  V zero = b_.CreateICmpEQ(o[1], k(0));
  if (!ty->isVectorTy() || llvm::isa<llvm::Constant>(o[1])) {
    V safe = b_.CreateSelect(zero, k(1), o[1]);
    V minus = sg ? b_.CreateICmpEQ(o[1], k(~0ull)) : nullptr;
    if (minus) safe = b_.CreateSelect(minus, k(1), safe);
    V q = sg ? b_.CreateSDiv(o[0], safe) : b_.CreateUDiv(o[0], safe);
    V r = rem ? (sg ? b_.CreateSRem(o[0], safe) : b_.CreateURem(o[0], safe)) : q;
    if (minus) r = b_.CreateSelect(minus, rem ? static_cast<V>(k(0)) : b_.CreateNeg(o[0]), r);
    return b_.CreateSelect(zero, k(~0ull), r);
  }
  const auto wide = [&](V x) { return sg ? b_.CreateSIToFP(x, f) : b_.CreateUIToFP(x, f); };
  V divisor = b_.CreateSelect(zero, k(1), o[1]);
  V q = b_.CreateFPToSI(b_.CreateFDiv(wide(o[0]), wide(divisor)), wide_type(64));
  q = b_.CreateTrunc(q, ty);
  V r = rem ? b_.CreateSub(o[0], b_.CreateMul(q, o[1])) : q;
  return b_.CreateSelect(zero, k(~0ull), r);
}

}  // namespace warpbeam::jit
