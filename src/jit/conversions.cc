// Conversions, as isa/arith/convert.h has them.
#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <cstdlib>

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

// A NaN of a double in a shorter type or one of a half in a double: quiet, with its sign and as much of its payload as there is room for.
V moved_nan(llvm::IRBuilder<>& b, V bits, unsigned fraction, unsigned size, unsigned to_fraction, unsigned to_size) {
  const auto sized = [&](V v, unsigned n) { return b.CreateZExtOrTrunc(v, v->getType()->getWithNewBitWidth(n)); };
  const auto k = [&](V v, uint64_t n) { return llvm::ConstantInt::get(v->getType(), n); };
  const V payload = b.CreateAnd(bits, k(bits, (uint64_t{1} << fraction) - 1));
  const V kept = fraction > to_fraction ? sized(b.CreateLShr(payload, fraction - to_fraction), to_size)
                                        : b.CreateShl(sized(payload, to_size), to_fraction - fraction);
  const V sign = b.CreateShl(sized(b.CreateLShr(bits, size - 1), to_size), to_size - 1);
  const uint64_t quiet = ((uint64_t{1} << (to_size - to_fraction)) - 1) << (to_fraction - 1);  // the exponent's ones and one more
  return b.CreateOr(b.CreateOr(kept, sign), k(kept, quiet));
}

// As isa::cvt_pack.
V packed_integers(llvm::IRBuilder<>& b, const vm::Insn& i, const std::vector<V>& o) {
  const int fields = i.mods().pack, bits = fields ? std::abs(fields) : isa::bits_of(i.type());
  const bool is_signed = fields ? fields < 0 : isa::is_signed(i.type());
  const auto k = [&](uint64_t n) { return llvm::ConstantInt::get(o[0]->getType(), n); };
  const uint64_t least = is_signed ? uint64_t{0} - (uint64_t{1} << (bits - 1)) : 0, most = (uint64_t{1} << (bits - is_signed)) - 1;
  const auto field = [&](V x) {
    const V clamped = b.CreateBinaryIntrinsic(In::smin, b.CreateBinaryIntrinsic(In::smax, x, k(static_cast<uint32_t>(least))), k(most));
    return b.CreateAnd(clamped, k((uint64_t{1} << bits) - 1));
  };
  const V pair = b.CreateOr(b.CreateShl(field(o[0]), k(static_cast<uint64_t>(bits))), field(o[1]));
  return bits == 16 ? pair : b.CreateOr(b.CreateShl(o[2], k(2u * static_cast<unsigned>(bits))), pair);
}

// As isa::f32_to_tf32.
V to_tf32(llvm::IRBuilder<>& b, const isa::Mods& m, V x) {
  const auto k = [&](uint64_t n) { return llvm::ConstantInt::get(x->getType(), n); };
  const V size = b.CreateAnd(x, k(0x7fffffff)), nan = b.CreateICmpUGT(size, k(0x7f800000));
  const V add = m.rnd == Rnd::Rna  ? static_cast<V>(k(0x1000))
                : m.rnd == Rnd::Rn ? b.CreateAdd(b.CreateAnd(b.CreateLShr(x, k(13)), k(1)), k(0xfff))
                                   : static_cast<V>(k(0));
  V r = b.CreateAnd(b.CreateSelect(b.CreateICmpUGE(size, k(0x7f800000)), x, b.CreateAdd(x, add)), k(0xffffe000));
  if (m.rnd != Rnd::Rna) r = b.CreateSelect(nan, k(0x7fffe000), r);
  const auto size_of_it = [&] { return b.CreateAnd(r, k(0x7fffffff)); };
  if (m.satfinite) r = b.CreateSelect(b.CreateICmpUGE(size_of_it(), k(0x7f800000)), b.CreateSub(r, k(0x2000)), r);
  if (m.relu) r = b.CreateSelect(b.CreateAnd(b.CreateICmpSLT(r, k(0)), b.CreateICmpULE(size_of_it(), k(0x7f800000))), k(0), r);
  return r;
}

// A half's last steps, in the machine's order.
V last_steps(llvm::IRBuilder<>& b, const isa::Mods& m, V half, bool brain) {
  const auto k = [&](uint64_t n) { return llvm::ConstantInt::get(half->getType(), n); };
  const uint64_t infinity = brain ? 0x7f80 : 0x7c00, one = brain ? 0x3f80 : 0x3c00;
  const auto size = [&] { return b.CreateAnd(half, k(0x7fff)); };
  const auto negative = [&] { return b.CreateICmpSLT(half, k(0)); };
  if (m.satfinite) half = b.CreateSelect(b.CreateICmpEQ(size(), k(infinity)), b.CreateSub(half, k(1)), half);
  if (m.relu) half = b.CreateSelect(b.CreateICmpUGT(size(), k(infinity)), k(0x7fff), b.CreateSelect(negative(), k(0), half));
  if (m.sat) {
    const V below_one = b.CreateBinaryIntrinsic(In::umin, half, k(one));
    half = b.CreateSelect(b.CreateOr(negative(), b.CreateICmpUGT(size(), k(infinity))), k(0), below_one);
  }
  return half;
}

bool is_half(Type t) { return t == Type::F16 || t == Type::BF16; }
bool is_pair(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }
bool is_directed(Rnd r) { return r == Rnd::Rz || r == Rnd::Rm || r == Rnd::Rp; }
// What float_to_half and float_to_brain can do.
bool narrows(Type to, Rnd r) { return r == Rnd::None || r == Rnd::Rn || (to == Type::BF16 && (is_directed(r) || r == Rnd::Rna)); }

}  // namespace

bool has_conversion(const vm::Insn& i) {
  const Type d = i.type(), a = i.source->form.atype;
  const isa::Mods& m = i.mods();
  if (says(*i.row(), ".pack")) return true;
  if (is_pair(d)) return a == Type::F32 && narrows(d == Type::F16x2 ? Type::F16 : Type::BF16, m.rnd);
  if (d == Type::TF32) return true;
  if (i.source->operands.size() != 2) return false;
  const auto fits = [&](Type t, int bytes) { return whole_number(t) || bytes == isa::bytes_of(t); };  // its register
  const auto is_single = [](Type t) { return t == Type::F32 || t == Type::F64; };
  if (!fits(a, i.count) || !fits(d, i.width)) return false;
  if (whole_number(d)) return whole_number(a) || ((is_single(a) || is_half(a)) && to_integral(m));
  const bool moves = m.rnd == Rnd::None;
  if (is_half(d)) {
    if (a == d) return moves || to_integral(m);
    return narrows(d, m.rnd) && (whole_number(a) ? isa::bits_of(a) <= 32 : is_single(a) || is_half(a));
  }
  if (!is_single(d)) return false;
  if (whole_number(a)) return m.rnd == Rnd::Rn || (is_directed(m.rnd) && isa::bits_of(a) <= 32);
  if (is_half(a)) return moves || m.rnd == Rnd::Rn;
  if (d == Type::F32 && a == Type::F32) return to_integral(m) || (moves && (m.sat || m.ftz));
  if (d == Type::F64 && a == Type::F64) return to_integral(m) && !m.sat;
  if (d == Type::F32 && a == Type::F64) return moves || m.rnd == Rnd::Rn || is_directed(m.rnd);
  return d == Type::F64 && a == Type::F32 && moves;
}

// What makes one register of several operands, and tf32, which is a float with fewer digits. Null: it is another conversion.
V convert_packed(llvm::IRBuilder<>& b, const vm::Insn& i, const std::vector<V>& o) {
  if (says(*i.row(), ".pack")) return packed_integers(b, i, o);
  if (i.type() == Type::TF32) return to_tf32(b, i.mods(), o[0]);
  if (!is_pair(i.type())) return nullptr;
  const bool brain = i.type() == Type::BF16x2;
  V halves[2];  // the first one is the upper half
  for (size_t k = 0; k < 2; ++k) {
    const V half = brain ? float_to_brain(b, o[k], i.mods().rnd) : float_to_half(b, o[k]);
    halves[k] = b.CreateZExt(last_steps(b, i.mods(), half, brain), o[0]->getType());
  }
  return b.CreateOr(b.CreateShl(halves[0], 16), halves[1]);
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
  const auto wide = [&](V single) { return b_.CreateFPExt(single, floats(64)); };
  const auto half_of = [&](V single) {  // of a float's bits
    return last_steps(b_, m, d == Type::BF16 ? float_to_brain(b_, single, m.rnd) : float_to_half(b_, single, processor_), d == Type::BF16);
  };
  if (whole_number(s)) {
    const V n = b_.CreateTrunc(a, sized(sbits));
    const auto as = [&](unsigned bits) { return isa::is_signed(s) ? b_.CreateSIToFP(n, floats(bits)) : b_.CreateUIToFP(n, floats(bits)); };
    if (is_half(d)) return half_of(double_to_odd(b_, as(64)));
    return finished(d == Type::F32 && is_directed(m.rnd) ? float_of(double_directed(b_, as(64), m.rnd), 4) : as(dbits));
  }
  V x = s == Type::F16    ? float_of(half_to_float(b_, a, processor_), 4)
        : s == Type::BF16 ? float_of(brain_to_float(b_, a), 4)
                          : float_of(a, static_cast<Width>(sbits / 8));
  if (m.ftz && sbits == 32 && d != Type::F16) x = canonical(flushed(x));
  switch (m.rnd) {
    case Rnd::Rzi: x = intrinsic(In::trunc, x); break;
    case Rnd::Rmi: x = intrinsic(In::floor, x); break;
    case Rnd::Rpi: x = intrinsic(In::ceil, x); break;
    case Rnd::Rni: x = intrinsic(In::roundeven, x); break;
    default: break;
  }
  if (whole_number(d)) return extended(saturated(x, dbits, isa::is_signed(d)));
  const V is_nan = b_.CreateFCmpUNO(x, x);
  if (is_half(d)) {
    if (s != Type::F64) return half_of(bits_of(x));
    const unsigned fraction = d == Type::BF16 ? 7 : 10;
    return b_.CreateSelect(is_nan, last_steps(b_, m, moved_nan(b_, a, 52, 64, fraction, 16), d == Type::BF16),
                           half_of(double_to_odd(b_, x)));
  }
  if (is_half(s)) {
    if (d == Type::F32) return finished(s == Type::BF16 && !m.ftz ? x : canonical(x));
    return finished(float_of(b_.CreateSelect(is_nan, moved_nan(b_, a, s == Type::BF16 ? 7 : 10, 16, 52, 64), bits_of(wide(x))), 8));
  }
  if (d == s && d == Type::F64) {  // a NaN keeps its payload
    const V nan = b_.CreateOr(a, llvm::ConstantInt::get(a->getType(), uint64_t{1} << 51));
    return b_.CreateSelect(is_nan, nan, bits_of(x));
  }
  if (d == s) return finished(canonical(x));
  // NaN: quiet, with as much of its payload as there is room for, as the host does it.
  if (d == Type::F64) return finished(wide(x));
  return finished(is_directed(m.rnd) ? float_of(double_directed(b_, x, m.rnd), 4) : b_.CreateFPTrunc(x, floats(32)));
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
