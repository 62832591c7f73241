#include "observe/profiler/long_ways.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/row.h"

namespace warpbeam::observe {
namespace {

template <class T>
int exponent(T x) {  // as it stands in the number
  if constexpr (sizeof(T) == 4) return static_cast<int>(std::bit_cast<uint32_t>(x) >> 23 & 0xff);
  else return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff);
}

uint16_t divide(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return 26;
  const int ea = exponent(a), eb = exponent(b);
  // The remainder would have no place below the numerator, the quotient or a step to it none in a float.
  constexpr int kLeast = 25, kMostOfDivisor = 251, kFarthest = 125;
  if (ea >= kLeast && ea < 255 && eb && eb <= kMostOfDivisor && std::abs(ea - eb) <= kFarthest) return 0;
  if (std::isinf(a) || std::isinf(b) || b == 0) return 40;
  if (a == 0) return 36;
  if (!ea || !eb) return ea ? 73 : 97;
  const float q = a / b;
  return q == 0 || std::isinf(q) ? 52 : exponent(q) ? 46 : 74;
}

uint16_t divide(double a, double b) {
  constexpr int kLeast = 55, kLeastQuotient = 2;  // of the high words as floats
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b) || b == 0) return 55;
  return exponent(a) < kLeast && exponent(a / b) < kLeastQuotient + kLeast ? 67 : 0;
}

uint16_t root(float a) {
  if (a == 0) return 5;
  if (!(a > 0) || std::isinf(a)) return 11;
  constexpr uint32_t kLeast = 0x0d000000;
  return std::bit_cast<uint32_t>(a) < kLeast ? 21 : 0;
}
uint16_t root(double a) { return a > 0 && !std::isinf(a) && exponent(a) ? 0 : 20; }

uint16_t reciprocal(float a) {
  constexpr int kMost = 252;
  return exponent(a) && exponent(a) <= kMost ? 0 : 11;
}
uint16_t reciprocal(double a) {
  constexpr int kMost = 2044;
  return exponent(a) && exponent(a) <= kMost ? 0 : 16;
}

template <class T>
uint16_t longest(vm::Warp& warp, const vm::Insn& insn, uint32_t mask) {
  const T *const a = warp.lanes<T>(insn.op[1]), *const b = insn.is(isa::Opcode::Div) ? warp.lanes<T>(insn.op[2]) : nullptr;
  uint16_t most = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(left));
    most = std::max(most, b ? divide(a[lane], b[lane]) : insn.is(isa::Opcode::Sqrt) ? root(a[lane]) : reciprocal(a[lane]));
  }
  return most;
}

}  // namespace

uint16_t long_way(vm::Warp& warp, const vm::Insn& insn, uint32_t mask) {
  if (!insn.is(isa::Opcode::Div) && !insn.is(isa::Opcode::Sqrt) && !insn.is(isa::Opcode::Rcp)) return 0;
  if (insn.mods().approx || insn.mods().full || !mask) return 0;
  if (insn.type() == isa::Type::F32) return longest<float>(warp, insn, mask);
  return insn.type() == isa::Type::F64 ? longest<double>(warp, insn, mask) : uint16_t{0};
}

}  // namespace warpbeam::observe
