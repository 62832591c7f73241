#include "jit/lane_memory.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>
#include <cstdlib>

namespace warpbeam::jit {

using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

constexpr uint32_t kHalf = 16;

}  // namespace

bool wide_host() {
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2") &&
                           !std::getenv("WARPBEAM_JIT_CPU");
  return wide;
}

bool ranks_lanes() {
  static const bool counts_bits = __builtin_cpu_supports("avx512vpopcntdq");
  return counts_bits && wide_host();
}

bool compresses(Width bytes) {
  static const bool narrow = __builtin_cpu_supports("avx512vbmi2");
  return ranks_lanes() && (bytes >= kWord || narrow);
}

// As many lanes at a time as a register has room for what they are apart.
LaneMemory::Stepping LaneMemory::stepping(Width bytes, int step, V mask, unsigned from) {
  constexpr unsigned kRegister = 64;
  const unsigned apart = static_cast<unsigned>(step), elements = kRegister / bytes, lanes = std::bit_floor(elements / apart);
  uint64_t places = 0;
  std::vector<llvm::Constant*> known;
  for (unsigned k = 0; k < elements; ++k) {
    const bool taken = k % apart == 0 && k / apart < lanes;
    places |= uint64_t{taken} << k;
    known.push_back(b_.getInt1(taken));
  }
  Stepping s{lanes, FixedVectorType::get(lane_type(bytes), elements), llvm::ConstantVector::get(known)};
  if (is_all(mask)) return s;
  const V own = b_.CreateAnd(b_.CreateZExt(b_.CreateLShr(mask, from), b_.getInt64Ty()), (uint64_t{1} << lanes) - 1);
  s.taken =
      b_.CreateBitCast(b_.CreateTrunc(b_.CreateIntrinsic(In::x86_bmi_pdep_64, {}, {own, b_.getInt64(places)}), b_.getIntNTy(elements)),
                       FixedVectorType::get(b_.getInt1Ty(), elements));
  return s;
}

// Elements `step` apart, with what lies between them masked out (AccessFacts::in_steps).
V LaneMemory::load_steps(V pointer, V mask, Width bytes, int step) {
  uses(Technique::Steps);
  std::vector<V> parts;
  for (unsigned from = 0; from < kLanes;) {
    const Stepping s = stepping(bytes, step, mask, from);
    const V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer, uint64_t{from} * static_cast<unsigned>(step) * bytes);
    const V all = user(b_.CreateMaskedLoad(s.type, at, llvm::Align(bytes), s.taken, llvm::Constant::getNullValue(s.type)));
    parts.push_back(b_.CreateShuffleVector(all, llvm::createStrideMask(0, static_cast<unsigned>(step), s.lanes)));
    from += s.lanes;
  }
  return llvm::concatenateVectors(b_, parts);
}

void LaneMemory::store_steps(V data, V pointer, V mask, Width bytes, int step) {
  uses(Technique::Steps);
  for (unsigned from = 0; from < kLanes;) {
    const Stepping s = stepping(bytes, step, mask, from);
    std::vector<int> places(s.type->getNumElements(), llvm::PoisonMaskElem);
    for (unsigned l = 0; l < s.lanes; ++l) places[l * static_cast<unsigned>(step)] = static_cast<int>(from + l);
    const V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer, uint64_t{from} * static_cast<unsigned>(step) * bytes);
    user(b_.CreateMaskedStore(b_.CreateShuffleVector(data, places), at, llvm::Align(bytes), s.taken));
    from += s.lanes;
  }
}

// The lanes' elements, each from its place: `at`, from `base` on if there is one. Where hosts gather words, what is smaller is taken out
// of the word around it.
V LaneMemory::gather(V at, V base, V bits, Width bytes) {
  const auto from = [&](V where, Width size) {
    auto* type = type_of(size, true);
    const V place =
        base ? b_.CreateGEP(b_.getInt8Ty(), base, where) : b_.CreateIntToPtr(where, FixedVectorType::get(b_.getPtrTy(), kLanes));
    return user(b_.CreateMaskedGather(type, place, llvm::Align(size), bits, llvm::Constant::getNullValue(type)));
  };
  if (bytes >= kWord || !w_.processor.wide) return from(at, bytes);
  llvm::Type *type = at->getType(), *words = type_of(kWord, true);
  const V word = from(b_.CreateAnd(at, llvm::ConstantInt::getSigned(type, -int64_t{kWord})), kWord);
  const V which = b_.CreateZExtOrTrunc(b_.CreateAnd(at, llvm::ConstantInt::get(type, kWord - 1)), words);
  return b_.CreateTrunc(b_.CreateLShr(word, b_.CreateShl(which, llvm::ConstantInt::get(words, 3))), type_of(bytes, true));
}

// Lane by lane; a scatter costs twice as much.
void LaneMemory::store_apart(V data, const Line& line, V shared, V mask, Width bytes) {
  llvm::Type* element = lane_type(bytes);
  const V array = scratch(data->getType());
  b_.CreateStore(data, array);
  const auto put = [&](V lane, V at) {
    auto* value = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, array, lane));
    value->setVolatile(true);  // not to be taken from the register after all
    const V place = shared ? b_.CreateGEP(b_.getInt8Ty(), shared, at) : b_.CreateIntToPtr(at, b_.getPtrTy());
    user(b_.CreateAlignedStore(value, place, llvm::Align(bytes)));
  };
  auto [every, some, loop, done] = new_blocks("every_lane", "some_lanes", "lane", "lanes_done");
  go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), every, some);
  V at = line.base;
  for (uint32_t l = 0; l < kLanes; ++l) {
    put(b_.getInt32(l), at);
    at = b_.CreateAdd(at, line.slope);
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(some);
  go_on_if(b_.CreateICmpNE(mask, b_.getInt32(0)), loop, done);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  left->addIncoming(mask, some);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  put(lane, b_.CreateAdd(line.base, b_.CreateMul(b_.CreateZExt(lane, b_.getInt64Ty()), line.slope)));
  const V rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, loop);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
}

// Of the elements from `pointer` on, those that the lanes say; no others than `places` are touched.
V LaneMemory::load_places(V pointer, V which, V places) {
  auto* type = FixedVectorType::get(b_.getInt32Ty(), kHalf);
  std::array<V, 4> parts;
  for (uint64_t k = 0; k < 4; ++k) {
    const V bits =
        b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(places, k * kHalf), b_.getInt16Ty()), FixedVectorType::get(b_.getInt1Ty(), kHalf));
    parts[k] = user(b_.CreateMaskedLoad(type, b_.CreateConstInBoundsGEP1_64(type, pointer, k), llvm::Align(4), bits,
                                        llvm::Constant::getNullValue(type)));
  }
  return pick_from_window(parts, which);
}

// Lane l stores at the l-th of the places. Which lane that is for an element is the number of places before it.
void LaneMemory::store_places(V data, V pointer, V places, V mask) {
  auto* type = FixedVectorType::get(b_.getInt32Ty(), kHalf);
  const V first = b_.CreateShuffleVector(data, llvm::createSequentialMask(0, kHalf, 0)),
          second = b_.CreateShuffleVector(data, llvm::createSequentialMask(kHalf, kHalf, 0));
  const V stored = is_all(mask) ? places : b_.CreateIntrinsic(In::x86_bmi_pdep_64, {}, {b_.CreateZExt(mask, b_.getInt64Ty()), places});
  for (uint64_t k = 0; k < 4; ++k) {
    std::vector<llvm::Constant*> before;
    for (uint64_t l = 0; l < kHalf; ++l) before.push_back(b_.getInt64((uint64_t(1) << (k * kHalf + l)) - 1));
    const V lane =
        b_.CreateTrunc(intrinsic(In::ctpop, b_.CreateAnd(b_.CreateVectorSplat(kHalf, places), llvm::ConstantVector::get(before))), type);
    const V spread = b_.CreateIntrinsic(In::x86_avx512_vpermi2var_d_512, {}, {first, lane, second});
    const V bits =
        b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(stored, k * kHalf), b_.getInt16Ty()), FixedVectorType::get(b_.getInt1Ty(), kHalf));
    user(b_.CreateMaskedStore(spread, b_.CreateConstInBoundsGEP1_64(type, pointer, k), llvm::Align(4), bits));
  }
}

V LaneMemory::load_prefix(const Value& address, V shared, Width bytes, int few) {
  auto* type = llvm::FixedVectorType::get(lane_type(bytes), static_cast<unsigned>(few));
  V some = llvm::Constant::getNullValue(type);
  if (address.runs) some = user(b_.CreateAlignedLoad(type, b_.CreateGEP(b_.getInt8Ty(), shared, address.run[0]), llvm::Align(bytes)));
  for (int l = 0; l < few && !address.runs; ++l)
    some = b_.CreateInsertElement(some,
                                  user(b_.CreateAlignedLoad(type->getElementType(), on_line(address.line, shared, l), llvm::Align(bytes))),
                                  static_cast<uint64_t>(l));
  std::vector<int> pick;
  for (int l = 0; l < kLanes; ++l) pick.push_back(l < few ? l : few);
  return b_.CreateShuffleVector(some, llvm::Constant::getNullValue(type), pick);
}

void LaneMemory::store_prefix(V lanes, const Value& address, V shared, Width bytes, int few) {
  const V some = address.runs ? b_.CreateShuffleVector(lanes, llvm::createSequentialMask(0, static_cast<unsigned>(few), 0)) : nullptr;
  if (address.runs) user(b_.CreateAlignedStore(some, b_.CreateGEP(b_.getInt8Ty(), shared, address.run[0]), llvm::Align(bytes)));
  for (int l = 0; l < few && !address.runs; ++l)
    user(b_.CreateAlignedStore(b_.CreateExtractElement(lanes, static_cast<uint64_t>(l)), on_line(address.line, shared, l),
                               llvm::Align(bytes)));
}

// The place of a lane.
V LaneMemory::on_line(const Line& line, V shared, int lane) {
  return b_.CreateGEP(b_.getInt8Ty(), shared, b_.CreateAdd(line.base, b_.CreateMul(line.slope, b_.getInt64(static_cast<uint64_t>(lane)))));
}

// In each 16 bytes of as many rows as these have words: the first words of all, the second ones …
std::vector<V> LaneMemory::transposed(const std::vector<V>& r) {
  const int words = static_cast<int>(r.size()), width = static_cast<int>(llvm::cast<FixedVectorType>(r[0]->getType())->getNumElements());
  // Those of `x` and `y` that `pick` says, y's after x's.
  const auto mixed = [&](V x, V y, std::initializer_list<int> pick) {
    std::vector<int> all;
    for (int part = 0; part < width; part += words)
      for (int p : pick) all.push_back(part + (p < words ? p : p - words + width));
    return b_.CreateShuffleVector(x, y, all);
  };
  if (words == 2) return {mixed(r[0], r[1], {0, 2}), mixed(r[0], r[1], {1, 3})};
  const V low_ab = mixed(r[0], r[1], {0, 4, 1, 5}), low_cd = mixed(r[2], r[3], {0, 4, 1, 5});
  const V high_ab = mixed(r[0], r[1], {2, 6, 3, 7}), high_cd = mixed(r[2], r[3], {2, 6, 3, 7});
  return {mixed(low_ab, low_cd, {0, 1, 4, 5}), mixed(low_ab, low_cd, {2, 3, 6, 7}), mixed(high_ab, high_cd, {0, 1, 4, 5}),
          mixed(high_ab, high_cd, {2, 3, 6, 7})};
}

// The words of the 16 bytes at each lane's address: the k-th of all lanes. `at` gives a lane's address.
std::vector<V> LaneMemory::load_piece(const std::function<V(int)>& at, Width word, Width align) {
  const int words = static_cast<int>(kPiece / word), width = 4 * words;  // lanes of one transposition
  auto* row_type = FixedVectorType::get(lane_type(word), static_cast<unsigned>(words));
  const auto row = [&](int lane) {
    return static_cast<V>(user(b_.CreateAlignedLoad(row_type, b_.CreateIntToPtr(at(lane), b_.getPtrTy()), llvm::Align(align))));
  };
  std::vector<V> out(static_cast<size_t>(words));
  std::vector<std::vector<V>> parts;
  for (int first = 0; first < kLanes; first += width) {
    std::vector<V> r;  // rows of the lanes k, k + words, k + 2 words …
    for (int k = first; k < first + words; ++k)
      r.push_back(llvm::concatenateVectors(b_, {row(k), row(k + words), row(k + 2 * words), row(k + 3 * words)}));
    parts.push_back(transposed(r));
  }
  for (size_t k = 0; k < out.size(); ++k) {
    std::vector<V> level;
    for (const std::vector<V>& part : parts) level.push_back(part[k]);
    out[k] = llvm::concatenateVectors(b_, level);
  }
  return out;
}

// The other way round: a lane's k-th word is the k-th vector's. Three words of four bytes are stored as two and one.
void LaneMemory::store_piece(std::vector<V> vectors, const std::function<V(int)>& at, Width word, Width align) {
  const int words = static_cast<int>(kPiece / word), width = 4 * words, stored = static_cast<int>(vectors.size());
  while (static_cast<int>(vectors.size()) < words) vectors.push_back(vectors.back());
  const auto range = [](int from, int many) {
    return llvm::createSequentialMask(static_cast<unsigned>(from), static_cast<unsigned>(many), 0);
  };
  for (int first = 0; first < kLanes; first += width) {
    std::vector<V> rows;
    for (const V vector : vectors) rows.push_back(b_.CreateShuffleVector(vector, range(first, width)));
    rows = transposed(rows);  // of the lanes k, k + words, k + 2 words …
    for (int lane = first; lane < first + width; ++lane) {
      const V row = rows[static_cast<size_t>((lane - first) % words)];
      for (int from = 0; from < stored;) {
        const int many = stored < words ? (from ? 1 : 2) : words;
        const V to = b_.CreateIntToPtr(b_.CreateAdd(at(lane), b_.getInt64(static_cast<uint64_t>(from) * word)), b_.getPtrTy());
        user(
            b_.CreateAlignedStore(b_.CreateShuffleVector(row, range((lane - first) / words * words + from, many)), to, llvm::Align(align)));
        from += many;
      }
    }
  }
}

// Each lane's, once all of them are in memory.
std::function<V(int)> LaneMemory::lanes_one_by_one(V addresses) {
  const V room = scratch(addresses->getType());
  b_.CreateStore(addresses, room);
  return [this, room](int lane) {
    return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), room, static_cast<uint64_t>(lane)));
  };
}

// The lanes of one run, a lane's elements side by side.
V LaneMemory::interleaved(const std::vector<V>& data, int runs, int run) {
  const int length = kLanes / runs, count = static_cast<int>(data.size());
  std::vector<int> pick;
  for (int l = 0; l < length; ++l)
    for (int k = 0; k < count; ++k) pick.push_back(k * kLanes + run * length + l);
  if (count == 1) return runs == 1 ? data[0] : b_.CreateShuffleVector(data[0], pick);
  if (count == 2) return b_.CreateShuffleVector(data[0], data[1], pick);
  const V first = llvm::concatenateVectors(b_, {data[0], data[1]});
  return b_.CreateShuffleVector(first, llvm::concatenateVectors(b_, {data[2], data[3]}), pick);
}

}  // namespace warpbeam::jit
