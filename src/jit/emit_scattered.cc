// Accesses at addresses that are only known as a vector. Gathers and scatters cost as much as their lanes one by one,
// and many such addresses turn out to be two stretches of sixteen lanes: `2 * t - (t & (distance - 1))` is for every
// distance from sixteen on. So that is looked at first.
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;

namespace {

constexpr int kHalf = kLanes / 2;

std::vector<int> half_lanes(int half) {
  std::vector<int> pick;
  for (int l = 0; l < kHalf; ++l) pick.push_back(half * kHalf + l);
  return pick;
}

bool all_lanes(llvm::Value* mask) {
  return llvm::isa<llvm::ConstantInt>(mask) && llvm::cast<llvm::ConstantInt>(mask)->isMinusOne();
}

}  // namespace

// Twice the code for each access: long kernels would take too long to compile.
bool Emitter::looks_for_stretches() const {
  constexpr size_t kMostInstructions = 600;
  static const bool without = left_out("stretches");
  return !without && flow_.code->insns.size() <= kMostInstructions;
}

// Sorts out what addresses are: goes to `stretches` where both halves of the warp are stretches, else to `apart`.
// Addresses are elements from `base` on, or bytes where there is no base.
Emitter::Scattered Emitter::sort_out(V at, Width bytes, V base) {
  Scattered s;
  s.stretches = BasicBlock::Create(c_, "stretches", f_);
  s.apart = BasicBlock::Create(c_, "apart", f_);
  s.base = base;
  uint64_t step = bytes;
  if (base) {
    at = b_.CreateTrunc(at, type_of(4, true));
    if (bytes > 1)
      at = b_.CreateLShr(at, llvm::ConstantInt::get(
                                 at->getType(), static_cast<uint64_t>(std::countr_zero(static_cast<unsigned>(bytes)))));
    step = 1;
  }
  s.places = at;
  llvm::Type* scalar = at->getType()->getScalarType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(scalar, v); };
  for (uint64_t h = 0; h < 2; ++h) s.first[h] = b_.CreateExtractElement(at, h * kHalf);
  if (!base) {  // the ends tell most of what is apart
    auto* maybe = BasicBlock::Create(c_, "maybe", f_);
    V likely = b_.getTrue();
    for (uint64_t h = 0; h < 2; ++h)
      likely = b_.CreateAnd(
          likely, b_.CreateICmpEQ(b_.CreateSub(b_.CreateExtractElement(at, h * kHalf + kHalf - 1), s.first[h]),
                                  k(step * (kHalf - 1))));
    b_.CreateCondBr(likely, maybe, s.apart);
    b_.SetInsertPoint(maybe);
  }
  // Half by half: where both are put together for one comparison, LLVM 19's instruction selection does not come to an
  // end.
  std::vector<llvm::Constant*> steps;
  for (uint64_t l = 0; l < kHalf; ++l) steps.push_back(k(step * l));
  V both = b_.getTrue();
  for (int h = 0; h < 2; ++h) {
    const V origins = b_.CreateSub(b_.CreateShuffleVector(at, half_lanes(h)), llvm::ConstantVector::get(steps));
    const V same = b_.CreateBitCast(b_.CreateICmpEQ(origins, b_.CreateVectorSplat(kHalf, s.first[h])), b_.getInt16Ty());
    both = b_.CreateAnd(both, b_.CreateICmpEQ(same, b_.getInt16(0xffff)));
  }
  b_.CreateCondBr(both, s.stretches, s.apart);
  return s;
}

Emitter::V Emitter::place_of(const Scattered& s, V at, llvm::Type* element) {
  if (s.base) return b_.CreateGEP(element, s.base, at);
  return b_.CreateIntToPtr(at, at->getType()->isVectorTy()
                                   ? static_cast<llvm::Type*>(FixedVectorType::get(b_.getPtrTy(), kLanes))
                                   : b_.getPtrTy());
}

// `at` has all lanes' addresses, as offsets into the memory at `base` if there is one; lanes that take part have been
// checked.
Emitter::V Emitter::load_lanes(V at, V mask, Width bytes, V base) {
  llvm::Type *element = lane_type(bytes), *type = type_of(bytes, true), *half = FixedVectorType::get(element, kHalf);
  const llvm::Align align(bytes);
  const Scattered s = sort_out(at, bytes, base);
  auto* join = BasicBlock::Create(c_, "loaded", f_);
  b_.SetInsertPoint(s.stretches);
  V parts[2];
  for (int h = 0; h < 2; ++h) {
    const V place = place_of(s, base ? b_.CreateZExt(s.first[h], b_.getInt64Ty()) : s.first[h], element);
    if (all_lanes(mask))
      parts[h] = user(b_.CreateAlignedLoad(half, place, align));
    else
      parts[h] = user(b_.CreateMaskedLoad(half, place, align, b_.CreateShuffleVector(bool_lanes(mask), half_lanes(h)),
                                          llvm::Constant::getNullValue(half)));
  }
  std::vector<int> all;
  for (int l = 0; l < kLanes; ++l) all.push_back(l);
  const V together = b_.CreateShuffleVector(parts[0], parts[1], all);
  b_.CreateBr(join);
  b_.SetInsertPoint(s.apart);
  const V gathered = user(b_.CreateMaskedGather(type, place_of(s, s.places, element), align, bool_lanes(mask),
                                                llvm::Constant::getNullValue(type)));
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(together, s.stretches);
  phi->addIncoming(gathered, s.apart);
  return phi;
}

void Emitter::store_lanes(V data, V at, V mask, Width bytes, V base) {
  llvm::Type* element = lane_type(bytes);
  const llvm::Align align(bytes);
  const Scattered s = sort_out(at, bytes, base);
  auto* join = BasicBlock::Create(c_, "stored", f_);
  b_.SetInsertPoint(s.stretches);
  for (int h = 0; h < 2; ++h) {
    const V place = place_of(s, base ? b_.CreateZExt(s.first[h], b_.getInt64Ty()) : s.first[h], element);
    const V part = b_.CreateShuffleVector(data, half_lanes(h));
    if (all_lanes(mask))
      user(b_.CreateAlignedStore(part, place, align));
    else
      user(b_.CreateMaskedStore(part, place, align, b_.CreateShuffleVector(bool_lanes(mask), half_lanes(h))));
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(s.apart);
  user(b_.CreateMaskedScatter(data, place_of(s, s.places, element), align, bool_lanes(mask)));
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

}  // namespace warpbeam::jit
