// The special function unit's approximations. The functions in arith/approx.h keep within the manual's error bounds.
#pragma once
#include "isa/arith/approx.h"
#include "isa/lane.h"
#include "isa/row.h"
#include "isa/rows/half.h"

namespace warpbeam::isa::rows {

struct ApproxF32Row : RowBase {
  static constexpr Class cls = Class::Special;
  using T = Types<Type::F32>;
};
struct ApproxF64Row : RowBase {
  static constexpr Class cls = Class::Special;
  using T = Types<Type::F64>;
};
struct ApproxHalfRow : RowBase {
  static constexpr Class cls = Class::Special;
};

struct RcpApprox : ApproxF32Row {
  static constexpr char syntax[] = "rcp.approx{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return rcp_approx_f32(a, m.mods().ftz); }
};
struct SqrtApprox : ApproxF32Row {
  static constexpr char syntax[] = "sqrt.approx{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return sqrt_approx_f32(a, m.mods().ftz); }
};
struct RsqrtApprox : ApproxF32Row {
  static constexpr char syntax[] = "rsqrt.approx{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return rsqrt_approx_f32(a, m.mods().ftz); }
};
struct SinApprox : ApproxF32Row {
  static constexpr char syntax[] = "sin.approx{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return sin_approx_f32(a, m.mods().ftz); }
};
struct CosApprox : ApproxF32Row {
  static constexpr char syntax[] = "cos.approx{.ftz}.f32 d, a";
  static auto lane(auto m, auto a) { return cos_approx_f32(a, m.mods().ftz); }
};
struct Lg2Approx : ApproxF32Row {
  static constexpr char syntax[] = "lg2.approx{.ftz}.f32 d, a";
  static constexpr std::string_view about = "The base-2 logarithm.";
  static auto lane(auto m, auto a) { return lg2_approx_f32(a, m.mods().ftz); }
};
struct Ex2Approx : ApproxF32Row {
  static constexpr char syntax[] = "ex2.approx{.ftz}.f32 d, a";
  static constexpr std::string_view about = "2 raised to a.";
  static auto lane(auto m, auto a) { return ex2_approx_f32(a, m.mods().ftz); }
};
struct TanhApprox : ApproxF32Row {
  static constexpr char syntax[] = "tanh.approx.f32 d, a";
  static constexpr Since since{70, 75};
  static auto lane(auto m, auto a) { return tanh_approx_f32(a); }
};
struct DivApprox : ApproxF32Row {
  static constexpr char syntax[] = "div.approx{.ftz}.f32 d, a, b";
  static constexpr std::string_view about = "a times the approximate reciprocal of b; zero for b beyond 2^126.";
  static auto lane(auto m, auto a, auto b) { return div_approx_f32(a, b, m.mods().ftz); }
};
struct DivFull : ApproxF32Row {
  static constexpr char syntax[] = "div.full{.ftz}.f32 d, a, b";
  static constexpr std::string_view about = "The approximate quotient over the full range of b, within 2 ulp.";
  static auto lane(auto m, auto a, auto b) { return div_full_f32(a, b, m.mods().ftz); }
};
struct RcpApproxF64 : ApproxF64Row {
  static constexpr char syntax[] = "rcp.approx.ftz.f64 d, a";
  static constexpr Since since{21, 20};
  static constexpr std::string_view about = "From the upper word of a alone; the lower word of the result is zero.";
  static auto lane(auto m, auto a) { return rcp_approx_ftz_f64(a); }
};
struct RsqrtApproxF64 : ApproxF64Row {
  static constexpr char syntax[] = "rsqrt.approx.f64 d, a";
  static constexpr Since since{14, 13};
  static auto lane(auto m, auto a) { return rsqrt_approx_f64(a); }
};
struct RsqrtApproxFtzF64 : ApproxF64Row {
  static constexpr char syntax[] = "rsqrt.approx.ftz.f64 d, a";
  static constexpr Since since{40, 20};
  static constexpr std::string_view about = "From the upper word of a alone; the lower word of the result is zero.";
  static auto lane(auto m, auto a) { return rsqrt_approx_ftz_f64(a); }
};

struct Ex2ApproxF16 : ApproxHalfRow {
  static constexpr char syntax[] = "ex2.approx.type d, a";
  static constexpr Since since{70, 75};
  using T = F16s;
  static auto lane(auto m, auto a) { return each_value([](uint16_t x) { return ex2_approx_f16(x); }, a); }
};
struct Ex2ApproxBf16 : ApproxHalfRow {
  static constexpr char syntax[] = "ex2.approx.ftz.type d, a";
  static constexpr Since since{78, 90};
  using T = Bf16s;
  static auto lane(auto m, auto a) { return each_value([](uint16_t x) { return ex2_approx_ftz_bf16(x); }, a); }
};
struct TanhApproxF16 : ApproxHalfRow {
  static constexpr char syntax[] = "tanh.approx.type d, a";
  static constexpr Since since{70, 75};
  using T = F16s;
  static auto lane(auto m, auto a) { return each_value([](uint16_t x) { return tanh_approx_f16(x); }, a); }
};
struct TanhApproxBf16 : ApproxHalfRow {
  static constexpr char syntax[] = "tanh.approx.type d, a";
  static constexpr Since since{78, 90};
  using T = Bf16s;
  static auto lane(auto m, auto a) { return each_value([](uint16_t x) { return tanh_approx_bf16(x); }, a); }
};

using Approx = RowList<RcpApprox, SqrtApprox, RsqrtApprox, SinApprox, CosApprox, Lg2Approx, Ex2Approx, TanhApprox, DivApprox,
                       DivFull, RcpApproxF64, RsqrtApproxF64, RsqrtApproxFtzF64, Ex2ApproxF16, Ex2ApproxBf16, TanhApproxF16,
                       TanhApproxBf16>;

}  // namespace warpbeam::isa::rows
