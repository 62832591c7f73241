// Idea: the special function unit's usual operands are computed in vectors of 32-bit integers. Precondition: AVX2.
// Postcondition: the bits of isa/arith/mufu.h. Fallback: for unusual operands the interpreter's own functions are called.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <cstdint>

#include "isa/arith/mufu_tables.h"
#include "jit/arithmetic.h"
#include "jit/word_table.h"

namespace warpbeam::jit {

using isa::Opcode;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr int kHalf = 16;  // words of the widest registers

llvm::Value* half_of(llvm::IRBuilder<>& b, llvm::Value* v, int which) {
  int pick[kHalf];
  for (int k = 0; k < kHalf; ++k) pick[k] = which * kHalf + k;
  return b.CreateShuffleVector(v, pick);
}

llvm::Value* halves(llvm::IRBuilder<>& b, llvm::Value* low, llvm::Value* high) {
  int all[kLanes];
  for (int k = 0; k < kLanes; ++k) all[k] = k;
  return b.CreateShuffleVector(low, high, all);
}

}  // namespace

// The table's values, and its slopes above 14 bits of curvature.
struct SpecialTables {
  std::vector<uint32_t> values, bends;
  SpecialTables(const isa::mufu::Segment* segments, size_t n, int curvature_shift) {
    for (size_t k = 0; k < n; ++k) {
      values.push_back(static_cast<uint32_t>(segments[k].value));
      bends.push_back(static_cast<uint32_t>(segments[k].slope) << 14 | static_cast<uint32_t>(segments[k].curvature << curvature_shift));
    }
  }
};

// The word of a table of 64 or 128 that the bits of `source` from `shift` on say, `flip` of them turned round.
V Arithmetic::table_lookup(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip) {
  V out[2];
  for (int h = 0; h < 2; ++h)
    out[h] = processor_.byte_tables ? look_up_bytes(table, half_of(b_, source, h), shift, flip)
                                    : look_up_words(table, half_of(b_, source, h), shift, flip);
  return halves(b_, out[0], out[1]);
}

// Byte by byte: an instruction looks into all of a table's words.
V Arithmetic::look_up_bytes(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip) {
  constexpr size_t kBytes = 64;
  auto* bytes = FixedVectorType::get(b_.getInt8Ty(), kBytes);
  std::vector<uint8_t> from;
  for (size_t k = 0; k < kBytes; ++k) from.push_back(static_cast<uint8_t>(shift + k % 8 / 4 * 32));
  const V index =
      b_.CreateIntrinsic(In::x86_avx512_pmultishift_qb_512, {}, {llvm::ConstantDataVector::get(c_, from), b_.CreateBitCast(source, bytes)});
  V words = index;
  llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
  for (size_t byte = 0; byte < 4; ++byte) {
    std::vector<uint8_t> entries;
    for (uint32_t k = 0; k < table.size(); ++k) entries.push_back(static_cast<uint8_t>(table[k ^ flip] >> 8 * byte));
    const auto part = [&](size_t first) { return llvm::ConstantDataVector::get(c_, llvm::ArrayRef(entries.data() + first, kBytes)); };
    // Where nothing has been found yet there is still the index.
    const V found = table.size() > kBytes ? b_.CreateIntrinsic(In::x86_avx512_vpermi2var_qi_512, {}, {part(0), words, part(kBytes)})
                                          : b_.CreateIntrinsic(In::x86_avx512_permvar_qi_512, {}, {part(0), index});
    // The compiler is not to know which bytes: it would make a blend of its own of what the lookup can do.
    if (!byte_masks_[byte]) {
      auto* word = b_.getInt64Ty();
      auto* keep = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), "", "=r,0", false);
      byte_masks_[byte] =
          top.CreateBitCast(top.CreateCall(keep, {b_.getInt64(0x1111111111111111 << byte)}), FixedVectorType::get(b_.getInt1Ty(), kBytes));
    }
    words = b_.CreateSelect(byte_masks_[byte], found, words);
  }
  return b_.CreateBitCast(words, source->getType());
}

// In registers of 16 words: an instruction looks into two of them, by the lowest bits of the index.
V Arithmetic::look_up_words(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip) {
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(source->getType(), v); };
  std::vector<uint32_t> entries;
  for (uint32_t n = 0; n < table.size(); ++n) entries.push_back(table[n ^ flip]);
  const auto words = [&](size_t first) { return llvm::ConstantDataVector::get(c_, llvm::ArrayRef(entries.data() + first, kHalf)); };
  const V index = b_.CreateLShr(source, k(shift));
  std::vector<V> parts;
  for (size_t first = 0; first < entries.size(); first += 2 * kHalf)
    parts.push_back(b_.CreateIntrinsic(In::x86_avx512_vpermi2var_d_512, {}, {words(first), index, words(first + kHalf)}));
  for (uint32_t bit = 2 * kHalf; parts.size() > 1; bit *= 2) {
    const V second = b_.CreateICmpNE(b_.CreateAnd(source, k(uint64_t{bit} << shift)), k(0));
    std::vector<V> next;
    for (size_t n = 0; n < parts.size(); n += 2) next.push_back(b_.CreateSelect(second, parts[n + 1], parts[n]));
    parts = next;
  }
  return parts[0];
}

// x*x / 2^19 of the lower 17 bits of numbers, as the unit's squarer gives it: mufu::square.
V Arithmetic::truncated_square(V x) {
  llvm::Type* t = x->getType();
  if (!processor_.byte_products) return b_.CreateLShr(upper_square(x), llvm::ConstantInt::get(t, 16));
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(t, v); };
  const V high = b_.CreateAnd(b_.CreateLShr(x, k(9)), k(0xff)), low = b_.CreateAnd(x, k(0x1ff));
  const V square = b_.CreateLShr(b_.CreateMul(high, high), k(1));
  // A partial product is the upper i bits of the lower half where bit 9+i is set. They are bytes: four, and four more, and the
  // sum of the four sums.
  constexpr int kBytes = 4 * kHalf;
  auto* bytes = FixedVectorType::get(b_.getInt8Ty(), kBytes);
  V out[2];
  for (int h = 0; h < 2; ++h) {
    const V all = b_.CreateBitCast(half_of(b_, x, h), bytes), lows = b_.CreateBitCast(half_of(b_, low, h), bytes);
    V sum = nullptr;
    for (const int first : {4, 0}) {  // i from 4 to 7, then from 0 to 3
      const auto offsets = [&](auto offset) {
        std::vector<uint8_t> from;
        for (int n = 0; n < kBytes; ++n) from.push_back(static_cast<uint8_t>(n % 8 / 4 * 32 + offset(first + n % 4)));
        return llvm::ConstantDataVector::get(c_, from);
      };
      const V taken = b_.CreateIntrinsic(In::x86_avx512_vpshufbitqmb_512, {}, {all, offsets([](int i) { return 9 + i; })});
      const V part = b_.CreateIntrinsic(In::x86_avx512_pmultishift_qb_512, {}, {offsets([](int i) { return 9 - i; }), lows});
      const V product = b_.CreateSelect(taken, part, llvm::Constant::getNullValue(bytes));
      sum = sum ? b_.CreateAdd(sum, product) : product;
    }
    const V ones = b_.CreateBitCast(llvm::ConstantInt::get(bytes, 1), FixedVectorType::get(b_.getInt32Ty(), kHalf));
    out[h] = b_.CreateIntrinsic(In::x86_avx512_vpdpbusd_512, {}, {half_of(b_, square, h), b_.CreateBitCast(sum, ones->getType()), ones});
  }
  return halves(b_, out[0], out[1]);
}

// Null: the function has no code here. `unusual`: lanes that it does not serve.
V Arithmetic::special_function(Opcode op, V x, V* unusual) {
  static const bool without = left_out("special");
  if (!processor_.avx2 || without) return nullptr;
  llvm::Type* t = x->getType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(t, static_cast<uint32_t>(v)); };
  // (value * 2^(shift) + slope * x + curvature * square + rounding) >> (shift + 2), where no product needs more than 32 bits:
  // x is cut where its parts do.
  const auto interpolate = [&](const SpecialTables& tables, V index, uint32_t from, uint32_t flip, V x, int bits, int shift, V square,
                               uint64_t rounding) {
    const uint64_t cut = static_cast<uint64_t>(bits) - 13;
    const V value = table_lookup(tables.values, index, from, flip), bend = table_lookup(tables.bends, index, from, flip);
    const V slope = b_.CreateAShr(bend, k(14)), curvature = b_.CreateAnd(bend, k(0x3fff));
    const V low = b_.CreateAdd(
        b_.CreateAdd(b_.CreateMul(slope, b_.CreateAnd(x, k((uint64_t(1) << cut) - 1))), b_.CreateMul(curvature, square)), k(rounding));
    const V sum = b_.CreateAdd(b_.CreateMul(slope, b_.CreateLShr(x, k(cut))), b_.CreateAShr(low, k(cut)));
    return b_.CreateLShr(b_.CreateAdd(value, b_.CreateAShr(sum, k(static_cast<uint64_t>(shift) - cut))), k(2));
  };
  // Signed, as every processor compares.
  const auto beyond_bounds = [&](V bits, uint64_t least, uint64_t beyond) {
    return b_.CreateICmpSGT(b_.CreateAdd(bits, k(0x80000000 - least)), k(0x7fffffff + beyond - least));
  };
  if (op == Opcode::Rsqrt) {
    static const SpecialTables tables(isa::mufu::kReciprocalRoot, 128, 2);
    *unusual = beyond_bounds(x, 0x00800000, 0x7f800000);
    static const WordTable words(isa::mufu::kReciprocalRoot, 128, {17, 0x40, 14, 2, 0x3fff, 1u << 23});
    const V part = b_.CreateAnd(x, k(0x1ffff));
    V fraction = processor_.wide ? b_.CreateSub(interpolate(tables, x, 17, 0x40, part, 17, 14, truncated_square(x), 0x3fff), k(1u << 23))
                                 : interpolated(words, x, x);
    // Even powers of two are exact: one more than the table gives.
    fraction = b_.CreateAdd(fraction, b_.CreateZExt(b_.CreateICmpEQ(b_.CreateAnd(x, k(0xffffff)), k(0x800000)), t));
    // 125 - half, where half is the exponent's half rounded down, is 254 - (exponent + 131) / 2; the fraction's upper bit adds
    // one more.
    const V half = b_.CreateLShr(b_.CreateAdd(x, k(131u << 23)), k(1));
    return b_.CreateAdd(b_.CreateAnd(b_.CreateNot(half), k(0x7f800000)), fraction);
  }
  if (op == Opcode::Rcp) {
    const V size = b_.CreateAnd(x, k(0x7fffffff));
    *unusual = beyond_bounds(size, 0x00800000, 0x7e800000);
    // 252 - exponent is what turning its bits round gives, less 3.
    static const WordTable words(isa::mufu::kReciprocal, 128, {16, 0, 13, 0, 0x7e7, 3 << 23});
    const V fraction = interpolated(words, x, b_.CreateShl(x, k(1)));
    return b_.CreateAdd(b_.CreateAnd(b_.CreateXor(x, k(0x7f800000)), k(0xff800000)), fraction);
  }
  // What the table says of the fraction is added to the exponent, 38 bits after the point: in doubles, which have room for all of it.
  if (op == Opcode::Lg2 && processor_.wide) {
    constexpr int kStrideBits = 14;
    static const auto tables = [] {
      std::array<std::vector<uint32_t>, 2> of;
      for (const isa::mufu::Segment& s : isa::mufu::kLogarithm) {
        of[0].push_back(static_cast<uint32_t>(s.value));
        of[1].push_back(static_cast<uint32_t>(s.slope) << kStrideBits | static_cast<uint32_t>(-s.curvature));
      }
      return of;
    }();
    *unusual = beyond_bounds(x, 0x00800000, 0x7f800000);
    const V value = table_lookup(tables[0], x, 17, 0), bend = table_lookup(tables[1], x, 17, 0), part = b_.CreateAnd(x, k(0x1ffff));
    const V curved = b_.CreateMul(b_.CreateAnd(bend, k((1 << kStrideBits) - 1)), truncated_square(part));
    const V rest = b_.CreateSub(k(0x345), b_.CreateShl(curved, k(1)));
    auto* doubles = FixedVectorType::get(b_.getDoubleTy(), kLanes);
    auto* bits = FixedVectorType::get(b_.getInt64Ty(), kLanes);
    const auto number = [&](double d) { return llvm::ConstantFP::get(doubles, d); };
    const auto times = [&](V whole, double by, V more) {
      return b_.CreateIntrinsic(In::fma, {doubles}, {b_.CreateSIToFP(whole, doubles), number(by), more});
    };
    const V slope = b_.CreateSIToFP(b_.CreateLShr(bend, k(kStrideBits)), doubles);
    const V line = b_.CreateIntrinsic(In::fma, {doubles}, {slope, b_.CreateSIToFP(part, doubles), b_.CreateSIToFP(rest, doubles)});
    const V quarters = b_.CreateFMul(times(value, 0x1p12, line), number(0.25));
    const V fixed = times(b_.CreateSub(b_.CreateLShr(x, k(23)), k(127)), 0x1p36, b_.CreateUnaryIntrinsic(In::floor, quarters));
    // Of numbers below zero the bits are turned round, and what a float has no room for is cut off.
    const V middle = b_.CreateFAdd(fixed, number(0.5));
    const V size = b_.CreateFSub(b_.CreateUnaryIntrinsic(In::fabs, middle), number(0.5));
    const V kept = b_.CreateAnd(b_.CreateBitCast(size, bits), llvm::ConstantInt::get(bits, ~uint64_t{0x1fffffff}));
    const V scaled = b_.CreateFMul(b_.CreateBitCast(kept, doubles), number(0x1p-36));
    auto* floats = FixedVectorType::get(b_.getFloatTy(), kLanes);
    const V result = b_.CreateFPTrunc(b_.CreateBinaryIntrinsic(In::copysign, scaled, middle), floats);
    return b_.CreateSelect(b_.CreateICmpEQ(x, k(0x3f800000)), k(0), b_.CreateBitCast(result, t));
  }
  if (op == Opcode::Ex2) {
    static const SpecialTables tables(isa::mufu::kExponential, 64, 0);
    const V size = b_.CreateAnd(x, k(0x7fffffff));
    *unusual = b_.CreateICmpUGE(size, k(0x42fc0000));  // 126
    // |x| in units of 2^-23.
    const V significand = b_.CreateOr(b_.CreateAnd(x, k(0x7fffff)), k(0x800000));
    const V by = b_.CreateSub(b_.CreateLShr(size, k(23)), k(127));
    const auto shifted = [&](bool up, V n) {  // counts past the width give zero
      if (!processor_.wide) {
        const V there = b_.CreateICmpULT(n, k(32)), by_bits = b_.CreateAnd(n, k(31));
        return b_.CreateSelect(there, up ? b_.CreateShl(significand, by_bits) : b_.CreateLShr(significand, by_bits), k(0));
      }
      V out[2];
      for (int h = 0; h < 2; ++h)
        out[h] = b_.CreateIntrinsic(up ? In::x86_avx512_psllv_d_512 : In::x86_avx512_psrlv_d_512, {},
                                    {half_of(b_, significand, h), half_of(b_, n, h)});
      return halves(b_, out[0], out[1]);
    };
    // No shift at all comes out of both.
    const V magnitude = b_.CreateOr(shifted(true, by), shifted(false, b_.CreateNeg(by)));
    // Negating complements the bits and adds one only to whole numbers.
    const V whole = b_.CreateZExt(b_.CreateICmpEQ(b_.CreateAnd(magnitude, k(0x7fffff)), k(0)), t);
    const V power = b_.CreateSelect(b_.CreateICmpSLT(x, k(0)), b_.CreateAdd(b_.CreateNot(magnitude), whole), magnitude);
    static const WordTable words(isa::mufu::kExponential, 64, {17, 0, 13, 0, 0x17e2, 0});
    const V part = b_.CreateAnd(power, k(0x1ffff));
    const V fraction = processor_.wide ? interpolate(tables, power, 17, 0, part, 17, 13, truncated_square(power), 0x17e2)
                                       : interpolated(words, power, power);
    return b_.CreateAdd(b_.CreateAdd(b_.CreateAnd(power, k(0xff800000)), k(126u << 23)), fraction);
  }
  return nullptr;
}

// As mul.f32 where b is a number, and neither zero nor infinity.
V Arithmetic::product_of_floats(V a, V b, bool ftz) {
  const auto flush = [&](V bits) {
    const V tiny = b_.CreateICmpEQ(b_.CreateAnd(bits, 0x7f800000), llvm::Constant::getNullValue(bits->getType()));
    return ftz ? b_.CreateSelect(tiny, b_.CreateAnd(bits, 0x80000000), bits) : bits;
  };
  const V x = canonical(float_of(flush(a), 4)), y = float_of(flush(b), 4);
  V r = bits_of(b_.CreateFMul(x, y));
  if (ftz) {  // decided before rounding to a subnormal number (compute_float)
    const V further_up = b_.CreateFMul(b_.CreateFMul(x, llvm::ConstantFP::get(x->getType(), 0x1p64)), y);
    const V tiny = b_.CreateFCmpOLT(intrinsic(In::fabs, further_up), llvm::ConstantFP::get(x->getType(), 0x1p-62));
    r = b_.CreateSelect(tiny, b_.CreateAnd(r, 0x80000000), r);
  }
  return flush(r);
}

}  // namespace warpbeam::jit
