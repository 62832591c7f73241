#include "jit/shape_arithmetic.h"

#include <algorithm>
#include <bit>

namespace warpbeam::jit {

static int log2_of(uint64_t v) { return std::countr_zero(v); }

std::optional<int64_t> gap_in(const Shape& s, int runs) {
  if (s.runs == 1) return s.stride * (32 / runs);
  if (s.runs == runs && s.even) return s.gap;
  return std::nullopt;
}

Shape spaced(Shape s, std::optional<int64_t> gap) {
  if (s.runs < 2 || !gap || std::abs(*gap) > INT32_MAX) return s;
  s.even = true;
  s.gap = *gap;
  if (s.gap == s.stride * (32 / s.runs)) {
    s.runs = 1;
    s.even = false;
    s.gap = 0;
  }
  return s;
}

std::optional<int64_t> pace_of(const Shape& s) {
  if (s.reach == Reach::Block) return 0;
  return s.paced ? std::optional(s.pace) : std::nullopt;
}

Shape with_pace(Shape s, std::optional<int64_t> pace) {
  s.paced = !s.unset && s.runs > 0 && s.reach == Reach::Warp && pace && std::abs(*pace) <= INT32_MAX;
  s.pace = s.paced ? *pace : 0;
  return s;
}

Shape of_warp(Shape s) {
  s.reach = Reach::Warp;
  return with_pace(s, std::nullopt);
}

Shape join(const Shape& a, const Shape& b) {
  if (a.unset) return b;
  if (b.unset) return a;
  if (a.vector() || b.vector() || a.stride != b.stride) return vector_shape();
  Shape s = a;
  const int runs = std::max(a.runs, b.runs);
  s.even = runs > 1 && gap_in(a, runs) && gap_in(a, runs) == gap_in(b, runs);
  s.gap = s.even ? *gap_in(a, runs) : 0;
  s.runs = std::max(a.runs, b.runs);
  s.reach = std::max(a.reach, b.reach);
  s.align = std::min(a.align, b.align);
  s.bits = std::max(a.bits, b.bits);
  s.known = a.known && b.known && a.number == b.number;
  s.number = s.known ? a.number : 0;
  return with_pace(s, pace_of(a) == pace_of(b) ? pace_of(a) : std::nullopt);
}

uint8_t sum_bits(uint8_t a, uint8_t b) {
  const int n = std::max(a, b) + 1;
  return n > 31 ? 64 : static_cast<uint8_t>(n);
}

Shape runs_of(int runs, int64_t stride, Reach reach, int align, int bits) {
  if (runs > kMostRuns) return vector_shape();
  return {static_cast<uint8_t>(runs), false,  reach, static_cast<uint8_t>(std::min(align, 62)),
          static_cast<uint8_t>(bits), stride, false, 0};
}

Shape add(const Shape& a, const Shape& b, bool subtract) {
  if (a.vector() || b.vector()) return vector_shape();
  const int64_t stride = subtract ? a.stride - b.stride : a.stride + b.stride;
  const int runs = std::max(a.runs, b.runs);
  const auto ga = gap_in(a, runs), gb = gap_in(b, runs);
  const auto pa = pace_of(a), pb = pace_of(b);
  const Shape s =
      spaced(runs_of(runs, stride, std::max(a.reach, b.reach), std::min(a.align, b.align), subtract ? 64 : sum_bits(a.bits, b.bits)),
             ga && gb ? std::optional(subtract ? *ga - *gb : *ga + *gb) : std::nullopt);
  return with_pace(s, pa && pb ? std::optional(subtract ? *pa - *pb : *pa + *pb) : std::nullopt);
}

bool constant_of(const Shapes& shapes, int32_t at, Width bytes, uint64_t& value) {
  const Shape s = shapes.source(at, bytes);
  value = s.number;
  return s.known;
}

Shape multiply(const Shape& a, const Shape& b, Width bytes, bool widened) {
  if (a.vector() || b.vector()) return vector_shape();
  const int bits = a.bits + b.bits > 31 ? 64 : a.bits + b.bits;
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}})
    if (const uint64_t c = y.number; y.known) {
      const int64_t factor = widened ? static_cast<uint32_t>(c) : bytes == 4 ? static_cast<int32_t>(c) : static_cast<int64_t>(c);
      const auto grows = std::abs(factor) <= INT32_MAX ? pace_of(x) : std::nullopt;
      const auto pace = grows ? std::optional(*grows * factor) : std::nullopt;
      if (x.stride == 0 && (!x.even || x.gap == 0))
        return with_pace(runs_of(x.runs, 0, x.reach, c ? x.align + log2_of(c) : 62, bits), pace);
      if (factor > INT32_MAX || factor < INT32_MIN || x.stride > INT32_MAX || x.stride < INT32_MIN) return vector_shape();
      const bool small = x.even && std::abs(x.gap) <= INT32_MAX;
      return with_pace(spaced(runs_of(x.runs, x.stride * factor, x.reach, c ? x.align + log2_of(c) : 62, bits),
                              small ? std::optional(x.gap * factor) : std::nullopt),
                       pace);
    }
  if (a.stride || b.stride) return vector_shape();
  return runs_of(std::max(a.runs, b.runs), 0, std::max(a.reach, b.reach), a.align + b.align, bits);
}

int or_for_sum(const Shapes& shapes, const vm::Insn& i) {
  constexpr int kFewest = 5;        // zeros: with fewer it is more likely that bits are set
  constexpr int64_t kMost = 4096;   // from lane to lane, so that nothing wraps around between the ends of a run
  if (shapes.wraps == Wraps::Anything || !i.is(isa::Opcode::Or) || i.type() == isa::Type::Pred || isa::bytes_of(i.type()) < 4) return 0;
  const auto bytes = static_cast<Width>(isa::bytes_of(i.type()));
  const Shape a = shapes.source(i.op[1], bytes), b = shapes.source(i.op[2], bytes);
  if (a.unset || b.unset || a.vector() || b.vector() || (a.stride == 0) == (b.stride == 0)) return 0;
  const int zeros = a.stride == 0 ? 1 : 2;
  const Shape &y = zeros == 1 ? a : b, &x = zeros == 1 ? b : a;
  if (y.align < kFewest || x.bits <= y.align || std::abs(x.stride) > kMost) return 0;
  return shapes.flow->source(i.op[zeros], bytes).kind == SourceKind::Constant ? 0 : zeros;
}

}  // namespace warpbeam::jit
