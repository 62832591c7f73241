// Idea: a gather costs as much as its lanes one by one, and many addresses that are only known as a vector turn out to be two stretches
// of 16 lanes, as `2 * t - (t & (distance - 1))` is for every distance from 16 on, or places in a window of 64 elements of shared memory,
// which is loaded and permuted, or expanded to where they belong; and lanes that were picked out of a warp often store one after the
// other. Precondition: one element for each lane, at a good place. Postcondition: nothing is written but what the lanes store. Fallback:
// the lanes one by one.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "jit/lane_memory.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr int kHalf = kLanes / 2, kWindow = 64;

llvm::SmallVector<int, 16> half_lanes(unsigned half) { return llvm::createSequentialMask(half * kHalf, kHalf, 0); }

}  // namespace

// Sorts out what addresses are: goes to `stretches` where both halves of the warp are stretches, else to `apart`.
// Addresses are elements from `base` on, or bytes where there is no base.
LaneMemory::Scattered LaneMemory::sort_out(V at, Width bytes, V base) {
  uses(Technique::Stretches);
  Scattered s;
  s.stretches = new_block("stretches");
  s.apart = new_block("apart");
  s.base = base;
  uint64_t step = bytes;
  if (base) at = b_.CreateTrunc(at, type_of(4, true));
  s.at = at;
  if (base) {
    if (bytes > 1)
      at = b_.CreateLShr(at, llvm::ConstantInt::get(at->getType(), static_cast<uint64_t>(std::countr_zero(static_cast<unsigned>(bytes)))));
    step = 1;
  }
  s.places = at;
  llvm::Type* scalar = at->getType()->getScalarType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(scalar, v); };
  for (uint64_t h = 0; h < 2; ++h) s.first[h] = b_.CreateExtractElement(at, h * kHalf);
  if (!base) {  // the ends tell most of what is apart
    auto* maybe = new_block("maybe");
    V likely = b_.getTrue();
    for (uint64_t h = 0; h < 2; ++h)
      likely = b_.CreateAnd(
          likely, b_.CreateICmpEQ(b_.CreateSub(b_.CreateExtractElement(at, h * kHalf + kHalf - 1), s.first[h]), k(step * (kHalf - 1))));
    go_on_if(likely, maybe, s.apart);
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

V LaneMemory::place_of(const Scattered& s, V at, llvm::Type* element) {
  if (s.base) return b_.CreateGEP(element, s.base, at);
  return b_.CreateIntToPtr(
      at, at->getType()->isVectorTy() ? static_cast<llvm::Type*>(FixedVectorType::get(b_.getPtrTy(), kLanes)) : b_.getPtrTy());
}

// Where a half begins. Lanes that take no part may lie before the memory's begin: `b[j - 1]` for j >= 1.
V LaneMemory::first_of(const Scattered& s, int half) { return s.base ? b_.CreateSExt(s.first[half], b_.getInt64Ty()) : s.first[half]; }

// `at` has all lanes' addresses, as offsets into the memory at `base` if there is one; lanes that take part have been
// checked.
V LaneMemory::load_lanes(V at, V mask, Width bytes, V base) {
  llvm::Type *element = lane_type(bytes), *type = type_of(bytes, true), *half = FixedVectorType::get(element, kHalf);
  const llvm::Align align(bytes);
  const Scattered s = sort_out(at, bytes, base);
  auto* join = new_block("loaded");
  b_.SetInsertPoint(s.stretches);
  V parts[2];
  for (int h = 0; h < 2; ++h) {
    const V place = place_of(s, first_of(s, h), element);
    if (is_all(mask)) parts[h] = user(b_.CreateAlignedLoad(half, place, align));
    else
      parts[h] = user(b_.CreateMaskedLoad(half, place, align, b_.CreateShuffleVector(bool_lanes(mask), half_lanes(h)),
                                          llvm::Constant::getNullValue(half)));
  }
  const V together = llvm::concatenateVectors(b_, parts);
  b_.CreateBr(join);
  b_.SetInsertPoint(s.apart);
  V seen = nullptr;
  BasicBlock* seen_in = nullptr;
  if (base && bytes == 4 && wide_host()) {
    auto [window, scattered] = new_blocks("window", "scattered");
    const V from = b_.CreateZExt(s.first[0], b_.getInt64Ty());
    const V rel = b_.CreateSub(s.places, splat(s.first[0]));
    const V outside = b_.CreateAnd(b_.CreateNot(mask_bits(b_.CreateICmpULT(rel, splat(b_.getInt32(kWindow))))), mask);
    const V room = b_.CreateLShr(context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), 2);
    const V fits = b_.CreateICmpULE(b_.CreateAdd(from, b_.getInt64(kWindow)), room);
    go_on_if(b_.CreateAnd(fits, b_.CreateICmpEQ(outside, b_.getInt32(0))), window, scattered);
    seen = from_window(place_of(s, from, element), rel);
    seen_in = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(scattered);
  }
  auto* gathered_in = b_.GetInsertBlock();
  const V gathered = gather(s.at, base, bool_lanes(mask), bytes);
  go_on(join);
  auto* phi = b_.CreatePHI(type, 3);
  phi->addIncoming(together, s.stretches);
  phi->addIncoming(gathered, gathered_in);
  if (seen) phi->addIncoming(seen, seen_in);
  return phi;
}

// Of the elements from `pointer` on, those that the lanes say.
V LaneMemory::from_window(V pointer, V which) {
  auto* type = FixedVectorType::get(b_.getInt32Ty(), kHalf);
  std::array<V, 4> part;
  for (uint64_t k = 0; k < 4; ++k)
    part[k] = user(b_.CreateAlignedLoad(type, b_.CreateConstInBoundsGEP1_64(type, pointer, k), llvm::Align(4)));
  return pick_from_window(part, which);
}

V LaneMemory::pick_from_window(const std::array<V, 4>& part, V which) {
  V halves[2];
  for (int h = 0; h < 2; ++h) {
    const V index = b_.CreateShuffleVector(which, half_lanes(h));
    const auto of = [&](V x, V y) { return b_.CreateIntrinsic(In::x86_avx512_vpermi2var_d_512, {}, {x, index, y}); };
    const V far = b_.CreateICmpUGE(index, b_.CreateVectorSplat(kHalf, b_.getInt32(kWindow / 2)));
    halves[h] = b_.CreateSelect(far, of(part[2], part[3]), of(part[0], part[1]));
  }
  return llvm::concatenateVectors(b_, halves);
}

// Lanes store at rising places of a window of 64 elements: `which`.
void LaneMemory::to_window(V data, V pointer, V which, V mask) {
  auto* type = FixedVectorType::get(b_.getInt32Ty(), kHalf);
  auto* bits = FixedVectorType::get(b_.getInt1Ty(), kHalf);
  llvm::Type* wide = type_of(8, true);
  const V each = b_.CreateShl(llvm::ConstantInt::get(wide, 1), b_.CreateZExt(which, wide));
  const V places = b_.CreateOrReduce(each);
  // Rising places: lane l has the l-th of them.
  const V stored = is_all(mask) ? places : b_.CreateIntrinsic(In::x86_bmi_pdep_64, {}, {b_.CreateZExt(mask, b_.getInt64Ty()), places});
  const V low = b_.CreateShuffleVector(data, half_lanes(0)), high = b_.CreateShuffleVector(data, half_lanes(1));
  std::vector<llvm::Constant*> numbers;
  for (uint32_t l = 0; l < kHalf; ++l) numbers.push_back(b_.getInt32(l));
  for (uint64_t k = 0; k < 4; ++k) {
    const auto piece = [&](V all) { return b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(all, k * kHalf), b_.getInt16Ty()), bits); };
    V lanes = low;
    if (k > 0) {  // those after the lanes of the pieces before
      const V before = intrinsic(In::ctpop, b_.CreateAnd(places, (uint64_t(1) << (k * kHalf)) - 1));
      const V index =
          b_.CreateAdd(b_.CreateVectorSplat(kHalf, b_.CreateTrunc(before, b_.getInt32Ty())), llvm::ConstantVector::get(numbers));
      lanes = b_.CreateIntrinsic(In::x86_avx512_vpermi2var_d_512, {}, {low, index, high});
    }
    const V spread = b_.CreateIntrinsic(In::x86_avx512_mask_expand, {type}, {lanes, llvm::Constant::getNullValue(type), piece(places)});
    user(b_.CreateMaskedStore(spread, b_.CreateConstInBoundsGEP1_64(type, pointer, k), llvm::Align(4), piece(stored)));
  }
}

// Is the place of each lane of the mask `step` behind that of the one before?
V LaneMemory::is_ranked(V places, V first, uint64_t step, V mask) {
  std::vector<llvm::Constant*> below;
  for (uint32_t l = 0; l < kLanes; ++l) below.push_back(b_.getInt32((1u << l) - 1));
  const V rank = intrinsic(In::ctpop, b_.CreateAnd(llvm::ConstantVector::get(below), splat(mask)));
  const V wanted = b_.CreateAdd(
      splat(first), b_.CreateMul(b_.CreateZExtOrTrunc(rank, places->getType()), llvm::ConstantInt::get(places->getType(), step)));
  const V wrong = b_.CreateAnd(b_.CreateNot(mask_bits(b_.CreateICmpEQ(places, wanted))), mask);
  return b_.CreateICmpEQ(wrong, b_.getInt32(0));
}

// Stores the mask's lanes from a place on, a register of them at a time.
void LaneMemory::compress(V data, V at, V mask) {
  llvm::Type* element = data->getType()->getScalarType();
  const unsigned bytes = element->getScalarSizeInBits() / 8, lanes = std::min<unsigned>(64 / bytes, kLanes);
  auto* type = FixedVectorType::get(element, lanes);
  auto* bits = FixedVectorType::get(b_.getInt1Ty(), lanes);
  for (unsigned from = 0; from < kLanes; from += lanes) {
    const V here = b_.CreateTrunc(from ? b_.CreateLShr(mask, from) : mask, b_.getIntNTy(lanes));
    const V pressed = b_.CreateIntrinsic(In::x86_avx512_mask_compress, {type},
                                         {b_.CreateShuffleVector(data, llvm::createSequentialMask(from, lanes, 0)),
                                          llvm::Constant::getNullValue(type), b_.CreateBitCast(here, bits)});
    const V n = b_.CreateZExt(intrinsic(In::ctpop, here), b_.getInt64Ty());
    const V front = b_.CreateTrunc(b_.CreateSub(b_.CreateShl(b_.getInt64(1), n), b_.getInt64(1)), b_.getIntNTy(lanes));
    user(b_.CreateMaskedStore(pressed, at, llvm::Align(bytes), b_.CreateBitCast(front, bits)));
    at = b_.CreateGEP(element, at, n);
  }
}

// Goes on where lanes of the mask do not store one after the other, each where the one before has ended.
void LaneMemory::store_ranked(V data, const Scattered& s, V mask, llvm::BasicBlock* join) {
  auto [maybe, ranked, apart] = new_blocks("maybe_ranked", "ranked", "unranked");
  llvm::Type *scalar = s.places->getType()->getScalarType(), *element = data->getType()->getScalarType();
  const uint64_t step = s.base ? 1 : element->getScalarSizeInBits() / 8;
  const auto [head, tail] = ends_of(mask);
  const V array = scratch(s.places->getType());
  b_.CreateStore(s.places, array);
  const auto lane = [&](V l) { return b_.CreateLoad(scalar, b_.CreateInBoundsGEP(scalar, array, b_.CreateAnd(l, 31))); };
  const V first = lane(head), last = lane(tail);
  const V count = b_.CreateZExtOrTrunc(intrinsic(In::ctpop, mask), scalar);
  const V span = b_.CreateMul(b_.CreateSub(count, llvm::ConstantInt::get(scalar, 1)), llvm::ConstantInt::get(scalar, step));
  go_on_if(b_.CreateICmpEQ(b_.CreateSub(last, first), span), maybe, apart);
  go_on_if(is_ranked(s.places, first, step, mask), ranked, apart);
  compress(data, place_of(s, s.base ? b_.CreateZExt(first, b_.getInt64Ty()) : first, element), mask);
  b_.CreateBr(join);
  b_.SetInsertPoint(apart);
}

void LaneMemory::store_lanes(V data, V at, V mask, Width bytes, V base, bool ranks) {
  llvm::Type* element = lane_type(bytes);
  const llvm::Align align(bytes);
  const Scattered s = sort_out(at, bytes, base);
  auto* join = new_block("stored");
  b_.SetInsertPoint(s.stretches);
  for (int h = 0; h < 2; ++h) {
    const V place = place_of(s, first_of(s, h), element);
    const V part = b_.CreateShuffleVector(data, half_lanes(h));
    if (is_all(mask)) user(b_.CreateAlignedStore(part, place, align));
    else user(b_.CreateMaskedStore(part, place, align, b_.CreateShuffleVector(bool_lanes(mask), half_lanes(h))));
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(s.apart);
  if (compresses(bytes) && !is_all(mask) && (base || ranks)) store_ranked(data, s, mask, join);  // else emit_compressed.cc has looked
  if (base && bytes == 4 && wide_host()) {
    auto [window, scattered] = new_blocks("window", "scattered");
    const V rel = b_.CreateSub(s.places, splat(s.first[0]));
    const V near = mask_bits(b_.CreateICmpULT(rel, splat(b_.getInt32(kWindow))));
    const V rises = b_.CreateOr(mask_bits(b_.CreateICmpULT(rel, lanes_behind(rel))), 1u << 31);
    go_on_if(b_.CreateICmpEQ(b_.CreateAnd(near, rises), b_.getInt32(~0u)), window, scattered);
    to_window(data, place_of(s, b_.CreateZExt(s.first[0], b_.getInt64Ty()), element), rel, mask);
    b_.CreateBr(join);
    b_.SetInsertPoint(scattered);
  }
  user(b_.CreateMaskedScatter(data, place_of(s, s.places, element), align, bool_lanes(mask)));
  go_on(join);
}

}  // namespace warpbeam::jit
