// The special function unit's quadratics as products of 16 bits. Tables lie in memory with eight lanes to a register, in registers
// with sixteen.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "jit/arithmetic.h"
#include "jit/word_table.h"

namespace warpbeam::jit {

using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr unsigned kRegister = 8;  // lanes
constexpr int kValueShift = 2;     // what a value has behind the point

llvm::Value* register_of(llvm::IRBuilder<>& b, llvm::Value* v, unsigned which, unsigned lanes = kRegister) {
  std::vector<int> pick;
  for (unsigned l = 0; l < lanes; ++l) pick.push_back(static_cast<int>(which * lanes + l));
  return b.CreateShuffleVector(v, pick);
}

}  // namespace

// Sums of two neighbours' products: words of 8 bits, those of a without a sign, or of 16.
V Arithmetic::products_in_pairs(unsigned bits, V a, V c) {
  const unsigned count = processor_.wide ? 2 * kRegister : kRegister;
  const auto id = bits == 8 ? (processor_.wide ? In::x86_avx512_pmaddubs_w_512 : In::x86_avx2_pmadd_ub_sw)
                            : (processor_.wide ? In::x86_avx512_pmaddw_d_512 : In::x86_avx2_pmadd_wd);
  auto* seen = FixedVectorType::get(b_.getIntNTy(bits), count * 32 / bits);
  auto* lanes = FixedVectorType::get(b_.getInt32Ty(), count);
  std::vector<V> parts;
  for (unsigned r = 0; r < w_.lanes / count; ++r) {
    const V result = b_.CreateIntrinsic(
        id, {}, {b_.CreateBitCast(register_of(b_, a, r, count), seen), b_.CreateBitCast(register_of(b_, c, r, count), seen)});
    parts.push_back(b_.CreateBitCast(result, lanes));
  }
  return llvm::concatenateVectors(b_, parts);
}

// The words of the entries that bits 16 to 23 of the source say. Loads one by one are faster than what gathers.
std::pair<V, V> Arithmetic::entries_of(const WordTable& table, V source) {
  if (processor_.wide) {
    std::vector<uint32_t> values, bends;
    for (uint32_t k = 0; k < table.different; ++k) {
      values.push_back(static_cast<uint32_t>(table.entries[k]));
      bends.push_back(static_cast<uint32_t>(table.entries[k] >> 32));
    }
    return {table_lookup(values, source, 16, 0), table_lookup(bends, source, 16, 0)};
  }
  llvm::Constant* all = llvm::ConstantDataArray::get(c_, table.entries);
  auto* memory = new llvm::GlobalVariable(*w_.function->getParent(), all->getType(), true, llvm::GlobalValue::PrivateLinkage, all);
  memory->setAlignment(llvm::Align(64));
  memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  std::vector<V> low, high;
  for (unsigned r = 0; r < w_.lanes / kRegister; ++r) {
    const V bytes = b_.CreateBitCast(register_of(b_, source, r), FixedVectorType::get(b_.getInt8Ty(), kRegister * 4));
    // As registers pick from two others: the lanes 0, 1, 4, 5 of one and 2, 3, 6, 7 of the other.
    auto* pairs = FixedVectorType::get(b_.getDoubleTy(), kRegister / 2);
    V found[2] = {llvm::PoisonValue::get(pairs), llvm::PoisonValue::get(pairs)};
    for (unsigned half = 0; half < 2; ++half) {
      int pick[4];
      for (unsigned l = 0; l < 4; ++l) pick[l] = static_cast<int>((half * 4 + l) * 4 + 2);
      const V four = b_.CreateBitCast(b_.CreateShuffleVector(bytes, pick), b_.getInt32Ty());
      for (unsigned l = 0; l < 4; ++l) {
        const V at = b_.CreateAnd(b_.CreateLShr(four, b_.getInt32(8 * l)), b_.getInt32(0xff));
        const V place = b_.CreateInBoundsGEP(b_.getInt64Ty(), memory, b_.CreateZExt(at, b_.getInt64Ty()));
        V& into = found[l / 2];
        into = b_.CreateInsertElement(into, b_.CreateAlignedLoad(b_.getDoubleTy(), place, llvm::Align(8)), uint64_t{half * 2 + l % 2});
      }
    }
    auto* lanes = FixedVectorType::get(b_.getInt32Ty(), kRegister);
    const V first = b_.CreateBitCast(found[0], lanes), second = b_.CreateBitCast(found[1], lanes);
    low.push_back(b_.CreateShuffleVector(first, second, {0, 2, 8, 10, 4, 6, 12, 14}));
    high.push_back(b_.CreateShuffleVector(first, second, {1, 3, 9, 11, 5, 7, 13, 15}));
  }
  return {llvm::concatenateVectors(b_, low), llvm::concatenateVectors(b_, high)};
}

// What truncated_square gives, in the upper halves of words; below it is what is left over. With h for bits 9 to 16 of x and l
// for those below, it is h * h / 2 and for each bit i of h the upper i bits of l. Each of those with its bit of h in place and its
// lower bits gone has the same weight, 2^7, so bytes multiplied in pairs do all of them.
V Arithmetic::upper_square(V x) {
  llvm::Type* t = x->getType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(t, v); };
  if (processor_.byte_tables && processor_.byte_products) return b_.CreateShl(truncated_square(x), k(16));
  const auto four_times = [&](V word) {  // its lowest byte
    auto* bytes = FixedVectorType::get(b_.getInt8Ty(), w_.lanes * 4);
    std::vector<int> pick;
    for (unsigned n = 0; n < w_.lanes * 4; ++n) pick.push_back(static_cast<int>(n / 4 * 4));
    return b_.CreateBitCast(b_.CreateShuffleVector(b_.CreateBitCast(word, bytes), pick), t);
  };
  const V l = four_times(b_.CreateLShr(x, k(2))), h = four_times(b_.CreateLShr(x, k(9)));
  const auto products = [&](uint32_t of_h, uint32_t of_l) {
    return products_in_pairs(8, b_.CreateAnd(h, k(of_h)), b_.CreateAnd(l, k(of_l)));
  };
  const V seven = products(0x10204080, 0x787c7e7f), three = products(0x00020408, 0x00406070);
  auto* words = FixedVectorType::get(b_.getInt16Ty(), w_.lanes * 2);
  const V sums = b_.CreateBitCast(b_.CreateAdd(b_.CreateBitCast(seven, words), b_.CreateBitCast(three, words)), t);
  const V upper = b_.CreateAnd(b_.CreateLShr(x, k(6)), k(0xff << 3));
  const V all = b_.CreateAdd(products_in_pairs(16, sums, k(0x10001)), products_in_pairs(16, upper, upper));
  return b_.CreateShl(all, k(16 - 7));
}

// mufu.h's quadratic of `source`, whose bits from 16 on say the entry. `squared`: what the unit squares of it.
V Arithmetic::interpolated(const WordTable& table, V source, V squared) {
  llvm::Type* t = source->getType();
  const auto k = [&](int64_t v) { return llvm::ConstantInt::get(t, static_cast<uint32_t>(v)); };
  const auto [value, bend] = entries_of(table, source);
  // The pairs that the bend is multiplied by: x from the middle, and the square.
  auto* words = FixedVectorType::get(b_.getInt16Ty(), w_.lanes * 2);
  std::vector<int> pick;
  for (unsigned n = 0; n < w_.lanes * 2; ++n) pick.push_back(static_cast<int>(n % 2 ? w_.lanes * 2 + n : n));
  const V centred = b_.CreateXor(source, k(0x8000));
  const V factors =
      b_.CreateBitCast(b_.CreateShuffleVector(b_.CreateBitCast(centred, words), b_.CreateBitCast(upper_square(squared), words), pick), t);
  V product = products_in_pairs(16, bend, factors);
  if (!table.negated) product = b_.CreateAdd(product, k(table.scheme.rounding));
  product = b_.CreateAShr(product, k(table.scheme.shift));
  const int middle = 15 - table.scheme.shift;  // 2^15 as the value counts
  const V part = b_.CreateAnd(source, k(0xffff));
  const auto with = [&](V v, V taken) { return table.falls ? b_.CreateSub(v, taken) : b_.CreateAdd(v, taken); };
  const auto with_product = [&](V v) { return table.negated ? b_.CreateSub(v, product) : b_.CreateAdd(v, product); };
  if (middle == kValueShift) return with(b_.CreateAShr(with_product(value), k(kValueShift)), part);
  return b_.CreateAShr(with_product(with(value, b_.CreateShl(part, k(middle)))), k(kValueShift));
}

}  // namespace warpbeam::jit
