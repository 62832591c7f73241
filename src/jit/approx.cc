// The special function unit's approximations, 32 lanes at a time: the interpreter's own functions, compiled once per
// vector width of the host.
#include "isa/arith/approx.h"

#include "isa/library/lanes.h"
#include "jit/runtime.h"

namespace warpbeam::jit {
namespace {

constexpr int kLanes = 32;

#define WB_LANES_1(name, expression)                                                            \
  WB_FOR_EACH_VECTOR_WIDTH void name(float* d, const float* a, const float*) {                  \
    for (int l = 0; l < kLanes; ++l) [[clang::always_inline]] d[l] = isa::expression(a[l], kFtz); \
  }
#define WB_LANES_2(name, expression)                                                                  \
  WB_FOR_EACH_VECTOR_WIDTH void name(float* d, const float* a, const float* b) {                      \
    for (int l = 0; l < kLanes; ++l) [[clang::always_inline]] d[l] = isa::expression(a[l], b[l], kFtz); \
  }

namespace plain {
constexpr bool kFtz = false;
WB_LANES_1(rcp, rcp_approx_f32)
WB_LANES_1(sqrt, sqrt_approx_f32)
WB_LANES_1(rsqrt, rsqrt_approx_f32)
WB_LANES_1(sin, sin_approx_f32)
WB_LANES_1(cos, cos_approx_f32)
WB_LANES_1(lg2, lg2_approx_f32)
WB_LANES_1(ex2, ex2_approx_f32)
WB_LANES_2(div, div_approx_f32)
WB_LANES_2(div_full, div_full_f32)
}  // namespace plain

namespace flushed {
constexpr bool kFtz = true;
WB_LANES_1(rcp, rcp_approx_f32)
WB_LANES_1(sqrt, sqrt_approx_f32)
WB_LANES_1(rsqrt, rsqrt_approx_f32)
WB_LANES_1(sin, sin_approx_f32)
WB_LANES_1(cos, cos_approx_f32)
WB_LANES_1(lg2, lg2_approx_f32)
WB_LANES_1(ex2, ex2_approx_f32)
WB_LANES_2(div, div_approx_f32)
WB_LANES_2(div_full, div_full_f32)
}  // namespace flushed

}  // namespace

Approximation approximation(std::string_view opcode, bool full, bool ftz) {
#define WB_PICK(name) \
  if (opcode == #name) return ftz ? flushed::name : plain::name;
  if (opcode == "div" && full) return ftz ? flushed::div_full : plain::div_full;
  WB_PICK(rcp)
  WB_PICK(sqrt)
  WB_PICK(rsqrt)
  WB_PICK(sin)
  WB_PICK(cos)
  WB_PICK(lg2)
  WB_PICK(ex2)
  WB_PICK(div)
  return nullptr;
}

}  // namespace warpbeam::jit
