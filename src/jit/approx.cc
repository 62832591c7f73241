// The special function unit's approximations, 32 lanes at a time: the interpreter's own functions, compiled once per
// vector width of the host.
#include "isa/arith/approx.h"

#include <cstring>

#include "isa/library/lanes.h"
#include "jit/runtime.h"

namespace warpbeam::jit {
namespace {

constexpr int kLanes = 32;

#define WB_LANES_1(name, expression)                                           \
  WB_FOR_EACH_VECTOR_WIDTH void name(float* d, const float* a, const float*) { \
    for (int l = 0; l < kLanes; ++l) [[clang::always_inline]]                  \
      d[l] = isa::expression(a[l], kFtz);                                      \
  }
#define WB_LANES_2(name, expression)                                             \
  WB_FOR_EACH_VECTOR_WIDTH void name(float* d, const float* a, const float* b) { \
    for (int l = 0; l < kLanes; ++l) [[clang::always_inline]]                    \
      d[l] = isa::expression(a[l], b[l], kFtz);                                  \
  }

// What mufu.h computes for a lane, without its ways out, so that the compiler makes vectors of it. The tests hold one against the other.
namespace unit {

template <size_t N>
struct Table {  // a column for each coefficient
  int32_t value[N], slope[N], curvature[N];
  constexpr explicit Table(const isa::mufu::Segment (&segments)[N]) : value(), slope(), curvature() {
    for (size_t k = 0; k < N; ++k) value[k] = segments[k].value, slope[k] = segments[k].slope, curvature[k] = segments[k].curvature;
  }
};
constexpr Table kSine(isa::mufu::kSine), kLogarithm(isa::mufu::kLogarithm);

// As truncate_to_f32, of less than 2^53: a double has all of it, and gives up what a float has no room for.
[[gnu::always_inline]] inline uint32_t truncated(int64_t fixed, double unit) {
  const double kept = isa::f64_of(isa::bits_of(static_cast<double>(fixed)) & ~uint64_t{0x1fffffff});
  return isa::bits_of(static_cast<float>(kept * unit));
}

[[gnu::always_inline]] inline uint32_t turns(float x) {  // toward zero
  const double product = static_cast<double>(x) * isa::f32_of(0x3e22f983);
  const float nearest = static_cast<float>(product);
  return isa::bits_of(nearest) - (__builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(product));
}

[[gnu::always_inline]] inline float sine(float operand, bool cosine) {
  const uint32_t bits = turns(operand);
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 0xff), shift = exponent - 125;
  const uint32_t significand = (bits & 0x7fffff) | 0x800000;
  const uint32_t up = significand << (shift & 31), down = significand >> (-shift & 31);
  uint32_t phase = (shift >= 25 ? 0 : shift >= 0 ? up : shift > -25 ? down : 0) & 0x1ffffff;
  phase += cosine ? 0x800000 : 0;
  const uint32_t sign = ((cosine ? 0 : bits) ^ phase << 7) & 0x80000000;
  phase = phase & 0x800000 ? ~phase : phase;
  const uint32_t k = phase >> 17 & 0x3f, x = phase & 0x1ffff;
  const int64_t sum = (int64_t{kSine.value[k]} << 11) + int64_t{kSine.slope[k]} * x + int64_t{kSine.curvature[k]} * isa::mufu::square(x);
  const uint32_t result = sign | truncated(sum, 0x1p-37);
  return isa::f32_of(exponent == 255 ? isa::kNanF32 : result);
}
[[gnu::always_inline]] inline float sin(float x, bool) { return sine(x, false); }
[[gnu::always_inline]] inline float cos(float x, bool) { return sine(x, true); }

[[gnu::always_inline]] inline float lg2(float operand, bool ftz) {
  const bool scaled = !ftz && !(isa::bits_of(operand) & 0x7f800000);
  const uint32_t bits = isa::bits_of(scaled ? operand * 0x1p24f : operand);
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 0xff);
  const uint32_t k = bits >> 17 & 0x3f, x = bits & 0x1ffff;
  int64_t sum = (int64_t{kLogarithm.value[k]} << 12) + int64_t{kLogarithm.slope[k]} * x +
                int64_t{kLogarithm.curvature[k]} * isa::mufu::square(x) * 2 + 0x345;
  sum = bits == 0x3f800000 ? 0 : sum;
  const int64_t fixed = (sum >> 2) + int64_t{exponent - 127} * (int64_t{1} << 36);
  uint32_t r = truncated(fixed < 0 ? ~fixed : fixed, 0x1p-36) | (fixed < 0 ? 0x80000000 : 0);
  r = bits == isa::mufu::kInfinity ? bits : r;
  r = bits > isa::mufu::kInfinity ? isa::kNanF32 : r;
  r = exponent == 0 ? 0xff800000 : r;
  const float result = isa::f32_of(r), less = result - 24.0f;
  return scaled ? (less == less ? less : isa::f32_of(isa::kNanF32)) : result;
}

}  // namespace unit

#define WB_LANES_UNIT(name)                                                    \
  WB_FOR_EACH_VECTOR_WIDTH void name(float* d, const float* a, const float*) { \
    float out[kLanes];                                                         \
    for (int l = 0; l < kLanes; ++l) [[clang::always_inline]]                  \
      out[l] = unit::name(a[l], kFtz);                                         \
    std::memcpy(d, out, sizeof out);                                           \
  }

namespace plain {
constexpr bool kFtz = false;
WB_LANES_1(rcp, rcp_approx_f32)
WB_LANES_1(sqrt, sqrt_approx_f32)
WB_LANES_1(rsqrt, rsqrt_approx_f32)
WB_LANES_UNIT(sin)
WB_LANES_UNIT(cos)
WB_LANES_UNIT(lg2)
WB_LANES_1(ex2, ex2_approx_f32)
WB_LANES_2(div, div_approx_f32)
WB_LANES_2(div_full, div_full_f32)
}  // namespace plain

namespace flushed {
constexpr bool kFtz = true;
WB_LANES_1(rcp, rcp_approx_f32)
WB_LANES_1(sqrt, sqrt_approx_f32)
WB_LANES_1(rsqrt, rsqrt_approx_f32)
WB_LANES_UNIT(sin)
WB_LANES_UNIT(cos)
WB_LANES_UNIT(lg2)
WB_LANES_1(ex2, ex2_approx_f32)
WB_LANES_2(div, div_approx_f32)
WB_LANES_2(div_full, div_full_f32)
}  // namespace flushed

}  // namespace

Approximation approximation(isa::Opcode op, bool full, bool ftz) {
  using isa::Opcode;
#define WB_PICK(name) return ftz ? flushed::name : plain::name
  switch (op) {
    case Opcode::Rcp: WB_PICK(rcp);
    case Opcode::Sqrt: WB_PICK(sqrt);
    case Opcode::Rsqrt: WB_PICK(rsqrt);
    case Opcode::Sin: WB_PICK(sin);
    case Opcode::Cos: WB_PICK(cos);
    case Opcode::Lg2: WB_PICK(lg2);
    case Opcode::Ex2: WB_PICK(ex2);
    case Opcode::Div:
      if (full) WB_PICK(div_full);
      WB_PICK(div);
    default: return nullptr;
  }
#undef WB_PICK
}

}  // namespace warpbeam::jit
