// Conversions, as isa/arith/convert.h has them.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "jit/emit_half.h"
#include "jit/arithmetic.h"

namespace warpbeam::jit {

using isa::Rnd;
using isa::Type;
namespace In = llvm::Intrinsic;

namespace {

bool whole_number(Type t) {
  switch (t) {
    case Type::U8:
    case Type::U16:
    case Type::U32:
    case Type::U64:
    case Type::S8:
    case Type::S16:
    case Type::S32:
    case Type::S64: return true;
    case Type::B16:
    case Type::B32:
    case Type::B64: return true;
    default: return false;
  }
}
bool to_integral(const isa::Mods& m) { return m.rnd == Rnd::Rzi || m.rnd == Rnd::Rni || m.rnd == Rnd::Rmi || m.rnd == Rnd::Rpi; }

}  // namespace

bool has_conversion(const vm::Insn& i) {
  const Type d = i.type(), a = i.source->form.atype;
  const isa::Mods& m = i.mods();
  if (m.satfinite || m.relu || i.source->operands.size() != 2) return false;  // others put two values into one
  if (whole_number(d) && whole_number(a)) return true;
  if ((a == Type::F32 || a == Type::F64) && whole_number(d)) return i.count == isa::bytes_of(a) && to_integral(m);
  if ((d == Type::F32 || d == Type::F64) && whole_number(a)) return m.rnd == Rnd::Rn && i.width == isa::bytes_of(d);
  if (d == Type::F32 && a == Type::F32) return (to_integral(m) || (m.rnd == Rnd::None && (m.sat || m.ftz))) && i.count == 4 && i.width == 4;
  if (d == Type::F32 && a == Type::F64) return (m.rnd == Rnd::None || m.rnd == Rnd::Rn) && i.count == 8 && i.width == 4;
  if (d == Type::F64 && a == Type::F32) return m.rnd == Rnd::None && i.count == 4 && i.width == 8;
  if (m.sat) return false;
  if (d == Type::F64 && a == Type::F64) return to_integral(m) && i.count == 8 && i.width == 8;
  // No half is subnormal as a float, and no subnormal float is more than zero as a half.
  if (d == Type::F32 && a == Type::F16) return i.count == 2 && i.width == 4;
  if (d == Type::F16 && whole_number(a)) return m.rnd == Rnd::Rn && i.width == 2 && isa::bits_of(a) <= 32;
  if (d == Type::F16 && a == Type::F32) return m.rnd == Rnd::Rn && i.count == 4 && i.width == 2;
  if (m.ftz) return false;
  if (d == Type::F32 && a == Type::BF16) return i.count == 2 && i.width == 4;
  return d == Type::BF16 && a == Type::F32 && m.rnd == Rnd::Rn && i.count == 4 && i.width == 2;
}

V Arithmetic::compute_convert(const vm::Insn& i, V a) {
  const Type d = i.type(), s = i.source->form.atype;
  const isa::Mods& m = i.mods();
  const unsigned dbits = static_cast<unsigned>(isa::bits_of(d)), sbits = static_cast<unsigned>(isa::bits_of(s));
  const auto sized = [&](unsigned bits) { return a->getType()->getWithNewBitWidth(bits); };
  const auto extended = [&](V x) {
    x = b_.CreateTrunc(x, sized(dbits));
    return isa::is_signed(d) ? b_.CreateSExt(x, sized(i.width * 8u)) : b_.CreateZExt(x, sized(i.width * 8u));
  };
  if (whole_number(d) && whole_number(s)) {
    V x = b_.CreateTrunc(a, sized(sbits));
    if (m.sat) x = clamped(x, isa::is_signed(s), dbits, isa::is_signed(d));
    return extended(isa::is_signed(s) ? b_.CreateSExtOrTrunc(x, sized(dbits)) : b_.CreateZExtOrTrunc(x, sized(dbits)));
  }
  if (d == Type::F32 && s == Type::F16) return half_to_float(b_, a);
  if (d == Type::F16 && s == Type::F32) return float_to_half(b_, a);
  if (d == Type::F32 && s == Type::BF16) return brain_to_float(b_, a);
  if (d == Type::BF16) return float_to_brain(b_, a);

  const auto floats = [&](unsigned bits) {
    llvm::Type* t = bits == 64 ? b_.getDoubleTy() : b_.getFloatTy();
    return a->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(t, w_.lanes)) : t;
  };
  const auto flushed = [&](V x) {
    const V raw = bits_of(x), tiny = b_.CreateICmpEQ(b_.CreateAnd(raw, 0x7f800000), llvm::Constant::getNullValue(raw->getType()));
    return float_of(b_.CreateSelect(tiny, b_.CreateAnd(raw, 0x80000000), raw), 4);
  };
  const auto finished = [&](V x) {
    if (m.ftz && dbits == 32) x = flushed(x);
    if (!m.sat) return bits_of(x);
    const auto number = [&](double n) { return llvm::ConstantFP::get(x->getType(), n); };
    const V below_one = b_.CreateSelect(b_.CreateFCmpOLT(x, number(1)), x, number(1));
    return bits_of(b_.CreateSelect(b_.CreateFCmpOGT(x, number(0)), below_one, number(0)));
  };
  if (whole_number(s)) {
    const V x = b_.CreateTrunc(a, sized(sbits));
    if (d == Type::F16)
      return float_to_half(b_, double_to_odd(b_, isa::is_signed(s) ? b_.CreateSIToFP(x, floats(64)) : b_.CreateUIToFP(x, floats(64))));
    return finished(isa::is_signed(s) ? b_.CreateSIToFP(x, floats(dbits)) : b_.CreateUIToFP(x, floats(dbits)));
  }
  V x = float_of(a, static_cast<Width>(sbits / 8));
  if (m.ftz && sbits == 32) x = canonical(flushed(x));
  switch (m.rnd) {
    case Rnd::Rzi: x = intrinsic(In::trunc, x); break;
    case Rnd::Rmi: x = intrinsic(In::floor, x); break;
    case Rnd::Rpi: x = intrinsic(In::ceil, x); break;
    case Rnd::Rni: x = intrinsic(In::roundeven, x); break;
    default: break;
  }
  if (whole_number(d)) return extended(saturated(x, dbits, isa::is_signed(d)));
  if (d == s && d == Type::F64) {  // a NaN keeps its payload
    const V nan = b_.CreateOr(a, llvm::ConstantInt::get(a->getType(), uint64_t{1} << 51));
    return b_.CreateSelect(b_.CreateFCmpUNO(x, x), nan, bits_of(x));
  }
  if (d == s) return finished(canonical(x));
  // NaN: quiet, with as much of its payload as there is room for, as the host does it.
  return finished(d == Type::F32 ? b_.CreateFPTrunc(x, floats(32)) : b_.CreateFPExt(x, floats(64)));
}

// The nearest number that the result can hold, in the operand's type.
V Arithmetic::clamped(V x, bool is_signed, unsigned bits, bool to_signed) {
  const unsigned from = x->getType()->getScalarSizeInBits(), room = bits - to_signed;
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(x->getType(), n); };
  if (is_signed && !to_signed) x = b_.CreateBinaryIntrinsic(In::smax, x, number(0));
  if (is_signed && to_signed && bits < from) x = b_.CreateBinaryIntrinsic(In::smax, x, number(~uint64_t(0) << room));
  if (room < from - is_signed) x = b_.CreateBinaryIntrinsic(is_signed ? In::smin : In::umin, x, number((uint64_t(1) << room) - 1));
  return x;
}

// A whole number in floating point as an integer of at least 32 bits. Out of range saturates; NaN gives 0 or, where 64 bits take
// part, the top bit alone.
V Arithmetic::saturated(V x, unsigned bits, bool is_signed) {
  const bool from_double = x->getType()->getScalarSizeInBits() == 64;
  if (x->getType()->isVectorTy() && bits == 64 && !processor_.avx512) return saturated_64(x, is_signed);
  const unsigned wide = std::max(bits, 32u), room = wide - is_signed;
  llvm::Type* ty = bits_of(x)->getType()->getWithNewBitWidth(wide);
  const auto number = [&](double n) { return llvm::ConstantFP::get(x->getType(), n); };
  const auto integer = [&](uint64_t n) { return llvm::ConstantInt::get(ty, n); };
  // What LLVM offers for this takes lanes apart on some processors; between these two numbers the plain conversion is defined.
  const double beyond = std::ldexp(1.0, static_cast<int>(room)), least = is_signed ? -beyond : 0;
  const double most = from_double ? std::nextafter(beyond, 0.0) : std::nextafter(static_cast<float>(beyond), 0.0f);
  const V above = b_.CreateSelect(b_.CreateFCmpOGT(x, number(least)), x, number(least));
  const V within = b_.CreateSelect(b_.CreateFCmpOLT(above, number(most)), above, number(most));
  V r = is_signed ? b_.CreateFPToSI(within, ty) : b_.CreateFPToUI(within, ty);
  r = b_.CreateSelect(b_.CreateFCmpOGE(x, number(beyond)), integer(room == 64 ? ~uint64_t(0) : (uint64_t(1) << room) - 1), r);
  if (bits < 32) r = clamped(r, is_signed, bits, is_signed);
  const bool zero = !from_double && bits <= 32;
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), integer(zero ? 0 : uint64_t(1) << (bits - 1)), r);
}

// Whole numbers to 64 bits, in integers: processors before AVX-512 convert one at a time, with comparisons and branches around
// each (1 s of compiling for twelve such conversions, 0.04 s this way).
V Arithmetic::saturated_64(V x, bool is_signed) {
  constexpr uint64_t kFractionBits = 52, kBias = 1023, kTop = uint64_t(1) << 63;
  const V doubles =
      x->getType()->getScalarSizeInBits() == 32 ? b_.CreateFPExt(x, llvm::FixedVectorType::get(b_.getDoubleTy(), w_.lanes)) : x;
  const V bits = b_.CreateBitCast(doubles, type_of(8, true));
  const auto number = [&](uint64_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  const V exponent = b_.CreateAnd(b_.CreateLShr(bits, number(kFractionBits)), number(0x7ff));
  const V fraction = b_.CreateOr(b_.CreateAnd(bits, number((uint64_t(1) << kFractionBits) - 1)), number(uint64_t(1) << kFractionBits));
  const V left = b_.CreateSub(exponent, number(kBias + kFractionBits)), right = b_.CreateNeg(left);
  const auto least = [&](V count) { return b_.CreateSelect(b_.CreateICmpSLT(count, number(63)), count, number(63)); };
  const V large = b_.CreateICmpSGE(left, number(0));
  const V size = b_.CreateSelect(large, b_.CreateShl(fraction, b_.CreateAnd(left, number(63))),
                                 b_.CreateLShr(fraction, least(b_.CreateSelect(large, number(0), right))));
  const V negative = b_.CreateAShr(bits, number(63));
  V r;
  if (is_signed) {
    const V beyond = b_.CreateICmpSGE(exponent, number(kBias + 63));
    r = b_.CreateSelect(beyond, b_.CreateXor(number(kTop - 1), negative), b_.CreateSub(b_.CreateXor(size, negative), negative));
  } else {
    const V beyond = b_.CreateICmpSGE(exponent, number(kBias + 64));
    r = b_.CreateAnd(b_.CreateSelect(beyond, number(~uint64_t(0)), size), b_.CreateNot(negative));
  }
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), number(kTop), r);
}

}  // namespace warpbeam::jit
