// Sums and products of shapes, and what two of them have in common.
#pragma once
#include <optional>

#include "jit/shapes.h"

namespace warpbeam::jit {

inline constexpr int kMostRuns = 4;

// From run to run, when the value is looked at as `runs` runs.
std::optional<int64_t> gap_in(const Shape& s, int runs);
// Sets what is known from run to run.
Shape spaced(Shape s, std::optional<int64_t> gap);
std::optional<int64_t> pace_of(const Shape& s);
Shape with_pace(Shape s, std::optional<int64_t> pace);
// Other warps may have something else.
Shape of_warp(Shape s);
Shape join(const Shape& a, const Shape& b);
uint8_t sum_bits(uint8_t a, uint8_t b);
Shape runs_of(int runs, int64_t stride, Reach reach, int align, int bits);
Shape add(const Shape& a, const Shape& b, bool subtract);
bool constant_of(const Shapes& shapes, int32_t at, Width bytes, uint64_t& value);
// `widened`: an unsigned 32-bit product with all its 64 bits; the low bits do not tell signed factors from unsigned ones.
Shape multiply(const Shape& a, const Shape& b, Width bytes, bool widened = false);

// `y * 512 | x`, which compilers make of a sum where they know that x is below 512, and we do not: the operand whose lowest bits are zeros.
// It is taken for the sum that it was where widened values are assumed not to wrap, and the code checks it likewise. 0: it is no such or.
int or_for_sum(const Shapes& shapes, const vm::Insn& insn);

}  // namespace warpbeam::jit
