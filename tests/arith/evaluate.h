// Runs one PTX arithmetic instruction, given by its text, on register contents: the whole of arith/ behind one door, so
// that recordings made on a device can be replayed.
#pragma once
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "isa/arith/approx.h"
#include "isa/arith/video.h"

namespace warpbeam::arith_test {

using namespace warpbeam::isa;
using Args = const uint64_t*;

inline std::vector<std::string> split(const std::string& s, char c) {
  std::vector<std::string> r;
  std::stringstream ss(s);
  std::string x;
  while (std::getline(ss, x, c)) r.push_back(x);
  return r;
}
struct Name {
  std::vector<std::string> p;
  bool has(const std::string& m) const {
    for (auto& x : p)
      if (x == m) return true;
    return false;
  }
  Rounding rounding() const {
    for (auto& x : p) {
      if (x == "rn" || x == "rni") return Rounding::NearestEven;
      if (x == "rz" || x == "rzi") return Rounding::Zero;
      if (x == "rm" || x == "rmi") return Rounding::Down;
      if (x == "rp" || x == "rpi") return Rounding::Up;
      if (x == "rna") return Rounding::NearestAway;
    }
    return Rounding::NearestEven;
  }
};
inline float F(uint64_t x) { return f32_of(uint32_t(x)); }
inline double D(uint64_t x) { return f64_of(x); }
inline uint64_t U(float x) { return bits_of(x); }
inline uint64_t U(double x) { return bits_of(x); }
template <class T>
uint64_t reg(T x) {  // how the value sits in the register the recorder used
  if constexpr (sizeof(T) == 1) return uint32_t(int32_t(x));
  else return std::make_unsigned_t<T>(x);
}
template <class Fn>
std::optional<uint64_t> with_int(const std::string& t, Fn f) {
  if (t == "u8") return f(uint8_t{});
  if (t == "s8") return f(int8_t{});
  if (t == "u16") return f(uint16_t{});
  if (t == "s16") return f(int16_t{});
  if (t == "u32") return f(uint32_t{});
  if (t == "s32") return f(int32_t{});
  if (t == "u64") return f(uint64_t{});
  if (t == "s64") return f(int64_t{});
  return {};
}
inline bool is_int(const std::string& t) { return (t[0] == 'u' || t[0] == 's') && isdigit(t[1]); }
inline std::optional<uint64_t> eval_cvt(const Name& n, const std::string& d, const std::string& s, Args a) {
  const bool ftz = n.has("ftz"), sat = n.has("sat"), relu = n.has("relu"), satf = n.has("satfinite");
  const Rounding r = n.rounding();
  bool integral = n.has("rni") || n.has("rzi") || n.has("rmi") || n.has("rpi");
  if (is_int(d) && is_int(s))
    return with_int(s, [&](auto si) -> uint64_t {
      return *with_int(d, [&](auto di) -> uint64_t { return reg(convert_int<decltype(di)>((decltype(si))a[0], sat)); });
    });
  if (is_int(d))
    return with_int(d, [&](auto di) -> uint64_t {
      using T = decltype(di);
      if (s == "f64") return reg(float_to_int<T>(D(a[0]), r));
      float x = s == "f32" ? F(a[0]) : s == "f16" ? f16_to_f32(a[0]) : bf16_to_f32(a[0]);
      return reg(float_to_int<T>(flush_if(x, ftz), r));
    });
  if (is_int(s))
    return with_int(s, [&](auto si) -> uint64_t {
      auto x = (decltype(si))a[0];
      if (d == "f64") {
        double y = int_to_f64(x, r);
        return U(sat ? saturate(y) : y);
      }
      if (d == "f32") {
        float y = int_to_f32(x, r);
        return U(sat ? saturate(y) : y);
      }
      if (d == "f16") {
        auto y = int_to_f16(x, r);
        return sat ? saturate_f16(y) : y;
      }
      auto y = int_to_bf16(x, r);
      return sat ? saturate_bf16(y) : y;
    });
  auto f16fin = [&](uint16_t h) -> uint64_t {
    if (satf) h = satfinite_f16(h);
    if (sat) h = saturate_f16(h);
    if (relu) h = relu_f16(h);
    return h;
  };
  auto bffin = [&](uint16_t h) -> uint64_t {
    if (satf) h = satfinite_bf16(h);
    if (sat) h = saturate_bf16(h);
    if (relu) h = relu_bf16(h);
    return h;
  };
  if (d == "f16x2") {
    if (s == "f32") return pack_halves(f16fin(f32_to_f16(F(a[0]), r)), f16fin(f32_to_f16(F(a[1]), r)));
    bool e4 = s == "e4m3x2";
    auto c = [&](uint8_t q) { return f16fin(e4 ? e4m3_to_f16(q) : e5m2_to_f16(q)); };
    return pack_halves(c(a[0] >> 8), c(a[0]));
  }
  if (d == "bf16x2") return pack_halves(bffin(f32_to_bf16(F(a[0]), r)), bffin(f32_to_bf16(F(a[1]), r)));
  if (d == "tf32") {
    uint32_t x = f32_to_tf32(F(a[0]), r);
    if (satf) x = satfinite_tf32(x);
    if (relu) x = relu_tf32(x);
    return x;
  }
  if (d == "e4m3x2" || d == "e5m2x2") {
    auto c = [&](float x) {
      uint8_t q = d == "e4m3x2" ? f32_to_e4m3(x) : f32_to_e5m2(x);
      return relu ? relu_fp8(q) : q;
    };
    if (s == "f32") return uint64_t(c(F(a[0]))) << 8 | c(F(a[1]));
    return uint64_t(c(f16_to_f32(upper_half(a[0])))) << 8 | c(f16_to_f32(lower_half(a[0])));
  }
  if (integral) {
    if (d != s) return {};
    if (d == "f64") {
      double y = cvt_integral_f64(D(a[0]), r);
      return U(sat ? saturate(y) : y);
    }
    if (d == "f32") {
      float y = flush_if(round_to_integral(flush_if(F(a[0]), ftz), r), ftz);
      return U(sat ? saturate(y) : y);
    }
    if (d == "f16") return f16fin(f32_to_f16(round_to_integral(f16_to_f32(a[0]), r), Rounding::NearestEven));
    return bffin(f32_to_bf16(round_to_integral(bf16_to_f32(a[0]), r), Rounding::NearestEven));
  }
  if (s == "f64") {
    double x = D(a[0]);
    if (d == "f64") return U(sat ? saturate(x) : x);
    if (d == "f32") {
      float y = cvt_f32_f64(x, r);
      if (ftz) y = flush_result(y, x, r);
      return U(sat ? saturate(y) : y);
    }
    if (d == "f16") return f16fin(f64_to_f16(x, r));
    return bffin(f64_to_bf16(x, r));
  }
  float x = s == "f32" ? F(a[0]) : s == "f16" ? f16_to_f32(a[0]) : bf16_to_f32(a[0]);
  if (d == "f16" && s == "f32") return f16fin(f32_to_f16(x, r));
  if (d == s && d == "f32" && !ftz && !sat) return U(x);
  if (d == "f32" && s == "bf16" && !ftz && !sat) return U(x);
  if (ftz) x = canonical(flush(x));
  if (d == "f64") {
    double y = cvt_f64_f32(x);
    return U(sat ? saturate(y) : y);
  }
  if (d == "f32") return U(finish(x, {r, ftz, sat}));
  if (d == "f16") return f16fin(f32_to_f16(x, r));
  return bffin(f32_to_bf16(x, r));
}
template <class H>
std::optional<uint64_t> eval_half(const Name& n, Args a) {
  const std::string& o = n.p[0];
  HalfMode m{n.has("ftz"), n.has("sat"), n.has("relu")};
  MinMaxMode mm{n.has("ftz"), n.has("NaN"), n.has("xorsign")};
  if (o == "add") return half_add<H>(a[0], a[1], m);
  if (o == "sub") return half_sub<H>(a[0], a[1], m);
  if (o == "mul") return half_mul<H>(a[0], a[1], m);
  if (o == "fma") return n.has("oob") ? half_fma_oob<H>(a[0], a[1], a[2], m) : half_fma<H>(a[0], a[1], a[2], m);
  if (o == "neg") return half_neg<H>(a[0], m);
  if (o == "abs") return half_abs<H>(a[0], m);
  if (o == "min" || o == "max") return half_min_max<H>(a[0], a[1], o == "max", mm);
  return {};
}
inline VideoPart part(const std::string& s) {
  return s == ".b0"   ? VideoPart::B0
         : s == ".b1" ? VideoPart::B1
         : s == ".b2" ? VideoPart::B2
         : s == ".b3" ? VideoPart::B3
         : s == ".h0" ? VideoPart::H0
         : s == ".h1" ? VideoPart::H1
                      : VideoPart::Word;
}
inline std::optional<uint64_t> eval_video(const std::string& text, Args a) {
  auto f = split(text + "|", '|');
  while (f.size() < 6) f.push_back("");
  Name n{split(f[1], '.')};
  std::string o = n.p[0];
  bool c = f[5] == "1";
  std::vector<std::string> types;
  for (auto& x : n.p)
    if (x == "u32" || x == "s32") types.push_back(x);
  auto sg = [&](size_t i) { return types[i] == "s32"; };
  VideoCompare cmp = n.has("ne")   ? VideoCompare::Ne
                     : n.has("lt") ? VideoCompare::Lt
                     : n.has("le") ? VideoCompare::Le
                     : n.has("gt") ? VideoCompare::Gt
                     : n.has("ge") ? VideoCompare::Ge
                                   : VideoCompare::Eq;
  if (o == "vmad") {
    VideoMad m{sg(1),       sg(2),        part(f[3]),
               part(f[4]),  f[2] == "-a", f[2] == "-c",
               n.has("po"), n.has("sat"), n.has("shr7") ? 7 : n.has("shr15") ? 15 : 0};
    return vmad(m, a[0], a[1], a[2]);
  }
  char last = o.back();
  VideoOp op = VideoOp::Add;
  std::string b = o;
  if (last == '2' || last == '4') b.pop_back();
  if (b == "vsub") op = VideoOp::Sub;
  if (b == "vabsdiff") op = VideoOp::AbsDiff;
  if (b == "vmin") op = VideoOp::Min;
  if (b == "vmax") op = VideoOp::Max;
  if (b == "vavrg") op = VideoOp::Average;
  if (b == "vset") op = VideoOp::Set;
  if (last == '2' || last == '4') {
    VideoSimd s;
    s.elements = last - '0';
    size_t t = 0;
    if (op != VideoOp::Set) s.d_signed = sg(t++);
    s.a_signed = sg(t);
    s.b_signed = sg(t + 1);
    s.sat = n.has("sat");
    s.accumulate = n.has("add");
    if (last == '2') {
      s.a_select = 0x10;
      s.b_select = 0x32;
      s.mask = 3;
    }
    auto sel = [&](const std::string& x, uint32_t& v) {
      if (x.empty()) return;
      v = 0;
      for (size_t i = 2; i < x.size(); i++) v = v << 4 | uint32_t(x[i] - '0');
    };
    if (!f[2].empty()) {
      s.mask = 0;
      for (size_t i = 2; i < f[2].size(); i++) s.mask |= 1u << (f[2][i] - '0');
    }
    sel(f[3], s.a_select);
    sel(f[4], s.b_select);
    return video_simd(op, s, a[0], a[1], a[2], cmp);
  }
  VideoTypes t;
  size_t k = 0;
  if (op != VideoOp::Set || o == "vshl" || o == "vshr") t.d_signed = sg(k++);
  t.a_signed = sg(k);
  t.b_signed = sg(k + 1);
  t.sat = n.has("sat");
  t.d_part = part(f[2]);
  t.a_part = part(f[3]);
  t.b_part = part(f[4]);
  std::string lastmod = n.p.back();
  t.second = !c                 ? VideoSecond::None
             : !f[2].empty()    ? VideoSecond::Merge
             : lastmod == "add" ? VideoSecond::Add
             : lastmod == "min" ? VideoSecond::Min
             : lastmod == "max" ? VideoSecond::Max
                                : VideoSecond::None;
  if (o == "vshl" || o == "vshr") return video_shift(o == "vshl", n.has("clamp"), t, a[0], a[1], a[2]);
  return video_scalar(op, t, a[0], a[1], a[2], cmp);
}
inline std::optional<uint64_t> evaluate(const std::string& full, const std::string& d, const std::vector<std::string>& s, Args a) {
  if (full[0] == 'V') return eval_video(full, a);
  std::string text = full.substr(0, full.find(':'));
  Name n{split(text, '.')};
  const std::string& o = n.p[0];
  const std::string t = n.p.back();
  FloatMode m{n.rounding(), n.has("ftz"), n.has("sat")};
  if (o == "cvt") {
    if (n.p[1] == "pack") {
      std::string x = n.p[3];
      return cvt_pack(a[0], a[1], s.size() > 2 ? a[2] : 0, std::stoi(x.substr(1)), x[0] == 's');
    }
    return eval_cvt(n, d, s[0], a);
  }
  bool approx = n.has("approx"), ftz = m.ftz;
  if (t == "f32") {
    if (approx) {
      if (o == "rcp") return U(rcp_approx_f32(F(a[0]), ftz));
      if (o == "rsqrt") return U(rsqrt_approx_f32(F(a[0]), ftz));
      if (o == "sqrt") return U(sqrt_approx_f32(F(a[0]), ftz));
      if (o == "ex2") return U(ex2_approx_f32(F(a[0]), ftz));
      if (o == "lg2") return U(lg2_approx_f32(F(a[0]), ftz));
      if (o == "sin") return U(sin_approx_f32(F(a[0]), ftz));
      if (o == "cos") return U(cos_approx_f32(F(a[0]), ftz));
      if (o == "tanh") return U(tanh_approx_f32(F(a[0])));
      if (o == "div") return U(div_approx_f32(F(a[0]), F(a[1]), ftz));
    }
    if (o == "div" && n.has("full")) return U(div_full_f32(F(a[0]), F(a[1]), ftz));
    if (o == "add") return U(add_f32(F(a[0]), F(a[1]), m));
    if (o == "sub") return U(sub_f32(F(a[0]), F(a[1]), m));
    if (o == "mul") return U(mul_f32(F(a[0]), F(a[1]), m));
    if (o == "div") return U(div_f32(F(a[0]), F(a[1]), m));
    if (o == "fma") return U(fma_f32(F(a[0]), F(a[1]), F(a[2]), m));
    if (o == "rcp") return U(rcp_f32(F(a[0]), m));
    if (o == "sqrt") return U(sqrt_f32(F(a[0]), m));
    if (o == "abs") return U(abs_f32(F(a[0]), ftz));
    if (o == "neg") return U(neg_f32(F(a[0]), ftz));
    if (o == "copysign") return U(copysign_f32(F(a[0]), F(a[1])));
    if (o == "min" || o == "max") return U(min_max_f32(F(a[0]), F(a[1]), o == "max", {ftz, n.has("NaN"), n.has("xorsign")}));
  }
  if (t == "f64") {
    Rounding r = m.rounding;
    double x = D(a[0]), y = D(a[1]), z = D(a[2]);
    if (approx) {
      if (o == "rcp") return U(rcp_approx_ftz_f64(x));
      return U(ftz ? rsqrt_approx_ftz_f64(x) : rsqrt_approx_f64(x));
    }
    if (o == "add") return U(add_f64(x, y, r));
    if (o == "sub") return U(sub_f64(x, y, r));
    if (o == "mul") return U(mul_f64(x, y, r));
    if (o == "div") return U(div_f64(x, y, r));
    if (o == "fma") return U(fma_f64(x, y, z, r));
    if (o == "rcp") return U(rcp_f64(x, r));
    if (o == "sqrt") return U(sqrt_f64(x, r));
    if (o == "min") return U(min_f64(x, y));
    if (o == "max") return U(max_f64(x, y));
    if (o == "abs") return U(abs_f64(x));
    if (o == "neg") return U(neg_f64(x));
    if (o == "copysign") return U(copysign_f64(x, y));
  }
  if (approx) {
    if (t == "f16") return o == "ex2" ? ex2_approx_f16(a[0]) : tanh_approx_f16(a[0]);
    return o == "ex2" ? ex2_approx_ftz_bf16(a[0]) : tanh_approx_bf16(a[0]);
  }
  if (t == "f16") return eval_half<F16>(n, a);
  if (t == "bf16") return eval_half<Bf16>(n, a);
  bool clamp = n.has("clamp");
  if (o == "prmt") {
    PermuteMode pm = t == "f4e"    ? PermuteMode::F4e
                     : t == "b4e"  ? PermuteMode::B4e
                     : t == "rc8"  ? PermuteMode::Rc8
                     : t == "ecl"  ? PermuteMode::Ecl
                     : t == "ecr"  ? PermuteMode::Ecr
                     : t == "rc16" ? PermuteMode::Rc16
                                   : PermuteMode::Index;
    return prmt(a[0], a[1], a[2], pm);
  }
  if (o == "shf") return n.has("l") ? shf_left(a[0], a[1], a[2], clamp) : shf_right(a[0], a[1], a[2], clamp);
  if (o == "bmsk") return bmsk(a[0], a[1], clamp);
  if (o == "szext") return szext(a[0], a[1], t == "s32", clamp);
  if (o == "dp4a") return dp4a(a[0], a[1], a[2], n.p[1] == "s32", n.p[2] == "s32");
  if (o == "dp2a") return dp2a(a[0], a[1], a[2], n.p[2] == "s32", n.p[3] == "s32", n.has("hi"));
  if (o == "lop3") return lop3(a[0], a[1], a[2], std::stoi(full.substr(full.find(',') + 1)));
  if (o == "fns") return fns(a[0], a[1], a[2]);
  if (o == "brev") return t == "b64" ? brev(a[0]) : brev(uint32_t(a[0]));
  if (o == "clz") return t == "b64" ? clz(a[0]) : clz(uint32_t(a[0]));
  if (o == "popc") return t == "b64" ? popc(a[0]) : popc(uint32_t(a[0]));
  if (o == "bfi") return t == "b64" ? bfi<uint64_t>(a[0], a[1], a[2], a[3]) : bfi<uint32_t>(a[0], a[1], a[2], a[3]);
  if (o == "shl")
    return t == "b16" ? shift_left<uint16_t>(a[0], a[1]) : t == "b32" ? shift_left<uint32_t>(a[0], a[1]) : shift_left<uint64_t>(a[0], a[1]);
  if (o == "add") return reg(add_sat_s32(a[0], a[1]));
  if (o == "sub") return reg(sub_sat_s32(a[0], a[1]));
  return with_int(t, [&](auto z) -> uint64_t {
    using T = decltype(z);
    T x = a[0], y = a[1], w = a[2];
    if constexpr (sizeof(T) >= 2) {
      if (o == "div") return reg(div_int(x, y));
      if (o == "rem") return reg(rem_int(x, y));
      if (o == "mul" && n.has("hi")) return reg(mul_hi(x, y));
      if (o == "sad") return reg(sad(x, y, w));
      if (o == "shr") return reg(shift_right(x, uint32_t(a[1])));
      if (o == "min") return reg(x < y ? x : y);
      if (o == "neg") return reg(wrapping_sub(T(0), x));
      if constexpr (std::is_signed_v<T>)
        if (o == "abs") return reg(abs_int(x));
      if (o == "mad" && !n.has("sat")) return reg(wrapping_add(mul_hi(x, y), w));
    }
    if constexpr (sizeof(T) == 4) {
      if (o == "mul" && n.has("wide")) return reg(mul_wide(x, y));
      if (o == "mul24") return reg(n.has("hi") ? mul24_hi(x, y) : mul24_lo(x, y));
      if (o == "mad24" && !n.has("sat")) return reg(wrapping_add(n.has("hi") ? mul24_hi(x, y) : mul24_lo(x, y), w));
      if constexpr (std::is_signed_v<T>) {
        if (o == "mad24") return reg(mad24_hi_sat_s32(x, y, w));
        if (o == "mad") return reg(mad_hi_sat_s32(x, y, w));
      }
    }
    if constexpr (sizeof(T) >= 4) {
      if (o == "bfe") return reg(bfe(x, uint32_t(a[1]), uint32_t(a[2])));
      if (o == "bfind") return bfind(x, n.has("shiftamt"));
    }
    throw std::string("no op");
  });
}

}  // namespace warpbeam::arith_test
