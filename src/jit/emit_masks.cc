// Idea: where a value grows by a constant from lane to lane and what it is compared with is the same in all, the lanes for which it is
// below are a stretch whose length is a subtraction. Precondition: integers, steps that are powers of two.
// Postcondition: the bits that a comparison lane by lane gives. Fallback: that, where a lane wraps around.
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Cmp;
namespace In = llvm::Intrinsic;

namespace {

Cmp mirrored(Cmp c) {
  switch (c) {
    case Cmp::Lt: return Cmp::Gt;
    case Cmp::Lo: return Cmp::Hi;
    case Cmp::Le: return Cmp::Ge;
    case Cmp::Ls: return Cmp::Hs;
    case Cmp::Gt: return Cmp::Lt;
    case Cmp::Hi: return Cmp::Lo;
    case Cmp::Ge: return Cmp::Le;
    case Cmp::Hs: return Cmp::Ls;
    default: return c;
  }
}

}  // namespace

// The lanes where a setp of integers holds, as bits; null: it has to be found out lane by lane.
V Emitter::compare_shapes(const vm::Insn& i, const Value& a, const Value& c) {
  const isa::Type t = i.type();
  const unsigned width = static_cast<unsigned>(isa::bits_of(t));
  if (isa::is_float(t) || (width != 32 && width != 64) || a.runs == 0 || c.runs == 0 || unrolled_.now) return nullptr;
  if (a.stride != 0 && c.stride != 0) return nullptr;
  const bool swap = c.stride != 0;
  const Value &v = swap ? c : a, &u = swap ? a : c;
  const Cmp cmp = swap ? mirrored(i.mods().cmp) : i.mods().cmp;
  const bool sg = isa::is_signed(t);
  const int runs = std::max(a.runs, c.runs), length = kLanes / runs;
  const Width bytes = static_cast<Width>(width / 8);
  const uint64_t step = static_cast<uint64_t>(v.stride < 0 ? -v.stride : v.stride);
  if (step && (!std::has_single_bit(step) || step > (1u << 16))) return nullptr;
  const int shift = step ? std::countr_zero(step) : 0;
  llvm::Type* type = lane_type(bytes);
  const auto k = [&](uint64_t x) { return llvm::ConstantInt::get(type, x); };
  const auto less = [&](V x, V y) { return sg ? b_.CreateICmpSLT(x, y) : b_.CreateICmpULT(x, y); };
  const auto first_lanes = [&](V n) {  // as many ones as n, at most a run's length, says
    const V one = b_.CreateShl(b_.getInt64(1), b_.CreateZExtOrTrunc(n, b_.getInt64Ty()));
    return b_.CreateTrunc(b_.CreateSub(one, b_.getInt64(1)), b_.getInt32Ty());
  };
  const uint32_t all = static_cast<uint32_t>((uint64_t(1) << length) - 1);
  const bool ordered = cmp != Cmp::Eq && cmp != Cmp::Ne;

  // Known not to wrap, or looked at: lanes that wrap around are compared one by one.
  const Shape shape = shapes_.source(i.op[swap ? 2 : 1], bytes);
  llvm::BasicBlock *join = nullptr, *odd_end = nullptr;
  V odd = nullptr;
  if (step && ordered && shape.bits > 30) {
    V wraps = b_.getFalse();
    for (int r = 0; r < runs; ++r) {
      const V low = in_run(v, bytes, r, runs),
              high = b_.CreateAdd(low, k(static_cast<uint64_t>(v.stride) * static_cast<uint64_t>(length - 1)));
      wraps = b_.CreateOr(wraps, v.stride > 0 ? less(high, low) : less(low, high));
    }
    auto [even, wrapped] = new_blocks("in_order", "wrapped");
    join = new_block("compared");
    go_on_if(wraps, wrapped, even, llvm::MDBuilder(c_).createBranchWeights(1, 100000));
    odd = mask_bits(arithmetic_.compare(i, lanes_of(a, bytes), lanes_of(c, bytes)));
    odd_end = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(even);
  }
  V mask = b_.getInt32(0);
  for (int r = 0; r < runs; ++r) {
    const V base = in_run(v, bytes, r, runs), x = in_run(u, bytes, r, runs);
    V here;
    if (!step) {
      const V holds = swap ? arithmetic_.compare(i, x, base) : arithmetic_.compare(i, base, x);
      here = b_.CreateSelect(holds, b_.getInt32(all), b_.getInt32(0));
    } else if (!ordered) {
      V d = v.stride > 0 ? b_.CreateSub(x, base) : b_.CreateSub(base, x);
      V lane = shift ? b_.CreateLShr(d, k(static_cast<uint64_t>(shift))) : d;
      V hit = b_.CreateICmpULT(lane, k(static_cast<uint64_t>(length)));
      if (shift) hit = b_.CreateAnd(hit, b_.CreateICmpEQ(b_.CreateAnd(d, k(step - 1)), k(0)));
      const V bit = b_.CreateShl(b_.getInt32(1), b_.CreateAnd(b_.CreateZExtOrTrunc(lane, b_.getInt32Ty()), 31));
      here = b_.CreateSelect(hit, bit, b_.getInt32(0));
      if (cmp == Cmp::Ne) here = b_.CreateXor(here, all);
    } else {
      // How many lanes, counted from the smallest value up, are below x (or not above it).
      const bool or_equal = cmp == Cmp::Le || cmp == Cmp::Ls || cmp == Cmp::Gt || cmp == Cmp::Hi;
      const bool above = cmp == Cmp::Gt || cmp == Cmp::Hi || cmp == Cmp::Ge || cmp == Cmp::Hs;
      const V least = v.stride > 0 ? base : b_.CreateAdd(base, k(static_cast<uint64_t>(v.stride) * static_cast<uint64_t>(length - 1)));
      const V none = or_equal ? less(x, least) : b_.CreateNot(less(least, x));
      V d = b_.CreateSub(x, least);
      V n;
      if (or_equal)
        n = b_.CreateAdd(intrinsic(In::umin, b_.CreateLShr(d, k(static_cast<uint64_t>(shift))), k(static_cast<uint64_t>(length - 1))),
                         k(1));
      else if (shift == 0) n = intrinsic(In::umin, d, k(static_cast<uint64_t>(length)));
      else
        n = b_.CreateAdd(intrinsic(In::umin, b_.CreateLShr(b_.CreateSub(d, k(1)), k(static_cast<uint64_t>(shift))),
                                   k(static_cast<uint64_t>(length - 1))),
                         k(1));
      n = b_.CreateSelect(none, k(0), n);
      if (v.stride > 0) {
        here = first_lanes(n);
        if (above) here = b_.CreateXor(here, all);
      } else {
        here = first_lanes(b_.CreateSub(k(static_cast<uint64_t>(length)), n));  // the lanes above
        if (!above) here = b_.CreateXor(here, all);
      }
    }
    mask = b_.CreateOr(mask, runs == 1 ? here : b_.CreateShl(here, static_cast<uint64_t>(r * length)));
  }
  if (!join) return mask;
  auto* even_end = b_.GetInsertBlock();
  go_on(join);
  auto* phi = b_.CreatePHI(b_.getInt32Ty(), 2);
  phi->addIncoming(odd, odd_end);
  phi->addIncoming(mask, even_end);
  return phi;
}

}  // namespace warpbeam::jit
