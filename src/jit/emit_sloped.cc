// Values of a slope (slopes.h) and accesses at such addresses. What the slope is decides how an access is done: lanes
// next to each other, every second or fourth element, which are vector accesses and a permutation, or places far apart.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstdlib>

#include "jit/emitter.h"
#include "jit/slopes.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

namespace {

bool all_lanes(llvm::Value* mask) {
  return llvm::isa<llvm::ConstantInt>(mask) && llvm::cast<llvm::ConstantInt>(mask)->isMinusOne();
}

}  // namespace

Line Emitter::line_of(const Value& v, Width bytes) {
  if (v.runs == 1) return {v.run[0], llvm::ConstantInt::getSigned(lane_type(bytes), v.stride)};
  if (v.line.base) return v.line;
  const V first = b_.CreateExtractElement(v.lanes, uint64_t(0)), second = b_.CreateExtractElement(v.lanes, uint64_t(1));
  return {first, b_.CreateSub(second, first)};
}

// The first and the last lane that run, as numbers of 64 bits.
std::pair<V, V> Emitter::ends_of(V mask) {
  const V head = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {mask, b_.getFalse()});
  const V tail = b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getFalse()}));
  return {b_.CreateZExt(head, b_.getInt64Ty()), b_.CreateSExt(tail, b_.getInt64Ty())};
}

// The line of an instruction's result. Operands are as the instruction has them, destinations aside.
Line Emitter::line_of_result(const vm::Insn& i, const std::vector<std::pair<Value, Width>>& in) {
  std::vector<Line> lines;
  for (const auto& [v, bytes] : in) lines.push_back(line_of(v, bytes));
  if (!widens(i)) {  // a line in all lanes, whatever wraps around: two of them tell
    std::vector<V> first, second;
    for (const Line& l : lines) {
      first.push_back(l.base);
      second.push_back(b_.CreateAdd(l.base, l.slope));
    }
    const V base = arithmetic_.compute(i, first);
    return {base, b_.CreateSub(arithmetic_.compute(i, second), base)};
  }
  const bool convert = i.source->form.row->kind == isa::Kind::Convert;
  const bool sg = isa::is_signed(convert ? i.source->form.atype : i.type());
  const auto wide = [&](V x) { return sg ? b_.CreateSExt(x, b_.getInt64Ty()) : b_.CreateZExt(x, b_.getInt64Ty()); };
  const auto [head, tail] = ends_of(at_.active);
  for (size_t k = 0; k < (convert ? 1u : 2u); ++k) {
    Line& l = lines[k];
    if (in[k].first.uniform()) {
      l = {wide(l.base), b_.getInt64(0)};
      continue;
    }
    const V slope = b_.CreateSExt(l.slope, b_.getInt64Ty());
    const V first = wide(b_.CreateAdd(l.base, b_.CreateMul(b_.CreateTrunc(head, b_.getInt32Ty()), l.slope)));
    const V last = b_.CreateAdd(first, b_.CreateMul(b_.CreateSub(tail, head), slope));
    const V wraps = b_.CreateAnd(b_.CreateICmpNE(wide(b_.CreateTrunc(last, b_.getInt32Ty())), last),
                                 b_.CreateICmpNE(at_.active, b_.getInt32(0)));
    as_.wraps ? as_.wraps->push_back(wraps) : hand_over(i, wraps);
    l = {b_.CreateSub(first, b_.CreateMul(head, slope)), slope};
  }
  if (convert) return lines[0];
  const Line &a = lines[0], &c = lines[1];
  Line product{b_.CreateMul(a.base, c.base),
               in[0].first.uniform() ? b_.CreateMul(a.base, c.slope) : b_.CreateMul(a.slope, c.base)};
  if (lines.size() < 3) return product;
  return {b_.CreateAdd(product.base, lines[2].base), b_.CreateAdd(product.slope, lines[2].slope)};
}

// --- accesses -------------------------------------------------------------------------------------------------------

bool Emitter::wide_host() {
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("bmi2") && !std::getenv("WARPBEAM_JIT_CPU");
  return wide;
}

// All places of every `step`-th element that lanes of the mask take, as bits of the elements from the first one on.
V Emitter::spread_mask(V mask, int step) {
  const unsigned n = static_cast<unsigned>(kLanes * step);
  auto* type = FixedVectorType::get(b_.getInt1Ty(), n);
  if (all_lanes(mask)) {
    std::vector<llvm::Constant*> bits;
    for (unsigned k = 0; k < n; ++k) bits.push_back(b_.getInt1(k % static_cast<unsigned>(step) == 0));
    return llvm::ConstantVector::get(bits);
  }
  const auto deposit = [&](V bits, uint64_t places) {
    return b_.CreateIntrinsic(In::x86_bmi_pdep_64, {}, {b_.CreateZExt(bits, b_.getInt64Ty()), b_.getInt64(places)});
  };
  if (step == 2) return b_.CreateBitCast(deposit(mask, 0x5555555555555555u), type);
  std::vector<int> all;
  for (unsigned k = 0; k < n; ++k) all.push_back(static_cast<int>(k));
  auto* half = FixedVectorType::get(b_.getInt1Ty(), n / 2);
  const V low = b_.CreateBitCast(deposit(b_.CreateAnd(mask, 0xffff), 0x1111111111111111u), half);
  const V high = b_.CreateBitCast(deposit(b_.CreateLShr(mask, 16), 0x1111111111111111u), half);
  return b_.CreateShuffleVector(low, high, all);
}

// Every second or fourth element, with what lies between them masked out (AccessFacts::in_steps).
V Emitter::load_steps(V pointer, V mask, Width bytes, int step) {
  uses(Technique::Steps);
  auto* type = FixedVectorType::get(lane_type(bytes), static_cast<unsigned>(kLanes * step));
  const V all = user(b_.CreateMaskedLoad(type, pointer, llvm::Align(bytes), spread_mask(mask, step),
                                         llvm::Constant::getNullValue(type)));
  std::vector<int> pick;
  for (int l = 0; l < kLanes; ++l) pick.push_back(l * step);
  return b_.CreateShuffleVector(all, pick);
}

void Emitter::store_steps(V data, V pointer, V mask, Width bytes, int step) {
  uses(Technique::Steps);
  std::vector<int> places(static_cast<size_t>(kLanes * step), llvm::PoisonMaskElem);
  for (int l = 0; l < kLanes; ++l) places[static_cast<size_t>(l * step)] = l;
  user(
      b_.CreateMaskedStore(b_.CreateShuffleVector(data, places), pointer, llvm::Align(bytes), spread_mask(mask, step)));
}

// Lane by lane; a scatter costs twice as much.
void Emitter::store_apart(V data, const Line& line, V shared, V mask, Width bytes) {
  llvm::Type* element = lane_type(bytes);
  const V array = scratch(data->getType());
  b_.CreateStore(data, array);
  const auto put = [&](V lane, V at) {
    auto* value = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, array, lane));
    value->setVolatile(true);  // not to be taken from the register after all
    const V place = shared ? b_.CreateGEP(b_.getInt8Ty(), shared, at) : b_.CreateIntToPtr(at, b_.getPtrTy());
    user(b_.CreateAlignedStore(value, place, llvm::Align(bytes)));
  };
  auto* every = new_block("every_lane");
  auto* some = new_block("some_lanes");
  auto* loop = new_block("lane");
  auto* done = new_block("lanes_done");
  b_.CreateCondBr(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), every, some);
  b_.SetInsertPoint(every);
  V at = line.base;
  for (uint32_t l = 0; l < kLanes; ++l) {
    put(b_.getInt32(l), at);
    at = b_.CreateAdd(at, line.slope);
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(some);
  b_.CreateCondBr(b_.CreateICmpNE(mask, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  left->addIncoming(mask, some);
  const V lane = b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {left, b_.getTrue()});
  put(lane, b_.CreateAdd(line.base, b_.CreateMul(b_.CreateZExt(lane, b_.getInt64Ty()), line.slope)));
  const V rest = b_.CreateAnd(left, b_.CreateSub(left, b_.getInt32(1)));
  left->addIncoming(rest, loop);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
}

// An address with a line: all lanes of the mask are good if the first and the last are.
V Emitter::line_fits(const Access& a, const Line& line, V mask) {
  const auto [head, tail] = ends_of(mask);
  const V first = b_.CreateAdd(line.base, b_.CreateMul(head, line.slope)),
          last = b_.CreateAdd(line.base, b_.CreateMul(tail, line.slope));
  // Neither so steep that the numbers wrap around between the ends, nor off the elements' places.
  const V steep = b_.CreateLShr(b_.CreateAdd(line.slope, b_.getInt64(uint64_t(1) << 40)), 41);
  const V odd = b_.CreateAnd(line.slope, b_.getInt64(a.total() - 1));
  const V tame = b_.CreateICmpEQ(b_.CreateOr(steep, odd), b_.getInt64(0));
  return b_.CreateAnd(b_.CreateAnd(fits(a, first, a.total()), fits(a, last, a.total())), tame);
}

// Goes on where they are, at a place where the access is still to be done, and leaves what is not good to `slow`.
void Emitter::check_line(const Access& a, const Line& line, V mask, BasicBlock* slow) {
  auto* fast = new_block("fast");
  b_.CreateCondBr(line_fits(a, line, mask), fast, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(fast);
}

void Emitter::touch_line(const Access& a, const Value& address, V mask) {
  uses(Technique::Slopes);
  const int64_t total = static_cast<int64_t>(a.total());
  auto* join = new_block("touched");
  auto* apart = new_block("apart");
  auto* choice = b_.CreateSwitch(address.line.slope, apart, 3);
  for (const int64_t step : {1, 2, 4}) {
    Value known;
    known.runs = 1;
    known.stride = step * total;
    known.run[0] = address.line.base;
    if (step > 1 && !in_steps(a, known)) continue;
    auto* block = new_block("step");
    choice->addCase(b_.getInt64(static_cast<uint64_t>(known.stride)), block);
    b_.SetInsertPoint(block);
    touch(a, known, mask);
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(apart);
  touch(a, address, mask);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

}  // namespace warpbeam::jit
