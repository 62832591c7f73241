// A table of the special function unit: what an entry holds of a segment is such that one multiplication of pairs of 16 bits does
// the quadratic. With sixteen lanes to a register, where tables lie in registers, that pays for those that need no halves.
//
// With x of 16 bits and a slope of 17, value * 2^shift + slope * x + curvature * square + rounding needs more than 32 bits. So
// half of a segment has an entry of its own where x has 17, x counts from the middle, and of the slope 2^15 is taken away: what
// that is worth is x shifted, beside the value.
#pragma once
#include <array>
#include <cstdint>

#include "isa/arith/mufu_tables.h"

namespace warpbeam::jit {

struct WordTable {
  struct Scheme {
    int bits = 0;               // of x, 16 or 17; the segment's number is above them
    uint32_t flip = 0;          // bits of the number that are turned round
    int shift = 0;
    int curvature_shift = 0;
    int32_t rounding = 0;
    int32_t less = 0;           // is taken from the result
  };
  Scheme scheme;
  bool falls = false;           // slopes are negative: 2^15 is added to them
  bool negated = false;         // the product is subtracted, which rounds by 2^shift - 1 for nothing
  std::array<uint64_t, 256> entries{};  // by the bits of the source from 16 on
  uint32_t different = 0;               // so many come again and again

  WordTable(const isa::mufu::Segment* segments, uint32_t n, const Scheme& s)
      : scheme(s), falls(segments[0].slope < 0), negated(s.rounding == (1 << s.shift) - 1) {
    constexpr int64_t kMiddle = 1 << 15;
    different = s.bits == 17 ? 2 * n : n;
    for (uint32_t k = 0; k < entries.size(); ++k) {
      const bool halves = s.bits == 17;
      const isa::mufu::Segment& g = segments[((halves ? k >> 1 : k) & (n - 1)) ^ s.flip];
      const int64_t slope = falls ? g.slope + kMiddle : g.slope - kMiddle, begin = halves && (k & 1) ? 2 * kMiddle : 0;
      const int64_t value = g.value + ((g.slope * begin + slope * kMiddle) >> s.shift) - int64_t{s.less} * 4;
      const int64_t sign = negated ? -1 : 1, curvature = sign * (g.curvature << s.curvature_shift);
      entries[k] = static_cast<uint32_t>(value) | uint64_t(static_cast<uint16_t>(sign * slope)) << 32 |
                   uint64_t(static_cast<uint16_t>(curvature)) << 48;
    }
  }
};

}  // namespace warpbeam::jit
