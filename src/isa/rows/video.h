// Video instructions (arithmetic on bytes and halves picked by operand selectors) and the dot products dp4a and dp2a.
// What the selectors of an operand may be is checked where the handler is chosen.
#pragma once
#include "isa/arith/integer.h"
#include "isa/lane.h"
#include "isa/row.h"

namespace warpbeam::isa::rows {

using VideoInts = Types<Type::U32, Type::S32>;

struct Dp4a : RowBase {
  static constexpr Class cls = Class::IntMul;
  static constexpr char syntax[] = "dp4a.type.btype d, a, b, c";
  static constexpr Since since{50, 61};
  static constexpr std::string_view about = "c plus the products of the four bytes of a and b.";
  using T = VideoInts;
  static auto lane(auto m, auto a, auto b, auto c) {
    return dp4a(uint32_t(a), uint32_t(b), uint32_t(c), std::is_signed_v<decltype(a)>, m.mods().b_signed);
  }
};
struct Dp2a : RowBase {
  static constexpr Class cls = Class::IntMul;
  static constexpr char syntax[] = "dp2a(.lo|.hi).type.btype d, a, b, c";
  static constexpr Since since{50, 61};
  static constexpr std::string_view about = "c plus the products of the two halves of a and the lower (.lo) or upper (.hi) two bytes of b.";
  using T = VideoInts;
  static auto lane(auto m, auto a, auto b, auto c) {
    return dp2a(uint32_t(a), uint32_t(b), uint32_t(c), std::is_signed_v<decltype(a)>, m.mods().b_signed,
                m.mods().half == Half::Hi);
  }
};
using Dots = RowList<Dp4a, Dp2a>;

// A scalar instruction works on one byte, half or word of each source; then .add, .min or .max joins the result with c,
// or a selector on d puts it into that part of c.
struct VideoScalarRow : EngineRow<Kind::Video, Class::Video> {
  using T = VideoInts;
  using A = VideoInts;
  static constexpr Since since{20, 20};
};
struct Vadd : VideoScalarRow { static constexpr char syntax[] = "vadd.type.atype.btype{.sat}{.second} d, a, b{, c}"; };
struct Vsub : VideoScalarRow { static constexpr char syntax[] = "vsub.type.atype.btype{.sat}{.second} d, a, b{, c}"; };
struct Vabsdiff : VideoScalarRow { static constexpr char syntax[] = "vabsdiff.type.atype.btype{.sat}{.second} d, a, b{, c}"; };
struct Vmin : VideoScalarRow { static constexpr char syntax[] = "vmin.type.atype.btype{.sat}{.second} d, a, b{, c}"; };
struct Vmax : VideoScalarRow { static constexpr char syntax[] = "vmax.type.atype.btype{.sat}{.second} d, a, b{, c}"; };
struct Vshl : VideoScalarRow { static constexpr char syntax[] = "vshl.type.atype.u32{.sat}.edge{.second} d, a, b{, c}"; };
struct Vshr : VideoScalarRow { static constexpr char syntax[] = "vshr.type.atype.u32{.sat}.edge{.second} d, a, b{, c}"; };
struct Vset : EngineRow<Kind::Video, Class::Video> {
  static constexpr char syntax[] = "vset.type.btype.cmp{.second} d, a, b{, c}";
  using T = VideoInts;
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "1 where the comparison holds, else 0.";
};
struct Vmad : VideoScalarRow {
  static constexpr char syntax[] = "vmad.type.atype.btype{.po}{.sat}{.scale} d, a, b, c";
  static constexpr std::string_view about = "a*b + c shifted right by 0, 7 or 15; a*b or c may be negated, .po adds one.";
};

// A SIMD instruction works on every byte or half; a mask on d says which results replace those of c, .add sums them into c.
constexpr bool sat_or_add(const Matched& m) { return !(m.mods.sat && m.mods.op == Op::Add); }
struct VideoSimdRow : EngineRow<Kind::Video, Class::Video> {
  using T = VideoInts;
  using A = VideoInts;
  static constexpr Since since{30, 30};
  static constexpr Legal legal = sat_or_add;
};
struct Vadd2 : VideoSimdRow { static constexpr char syntax[] = "vadd2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vsub2 : VideoSimdRow { static constexpr char syntax[] = "vsub2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vavrg2 : VideoSimdRow { static constexpr char syntax[] = "vavrg2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vabsdiff2 : VideoSimdRow { static constexpr char syntax[] = "vabsdiff2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vmin2 : VideoSimdRow { static constexpr char syntax[] = "vmin2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vmax2 : VideoSimdRow { static constexpr char syntax[] = "vmax2.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vadd4 : VideoSimdRow { static constexpr char syntax[] = "vadd4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vsub4 : VideoSimdRow { static constexpr char syntax[] = "vsub4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vavrg4 : VideoSimdRow { static constexpr char syntax[] = "vavrg4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vabsdiff4 : VideoSimdRow { static constexpr char syntax[] = "vabsdiff4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vmin4 : VideoSimdRow { static constexpr char syntax[] = "vmin4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vmax4 : VideoSimdRow { static constexpr char syntax[] = "vmax4.type.atype.btype{.sat}{.add} d, a, b, c"; };
struct Vset2 : EngineRow<Kind::Video, Class::Video> {
  static constexpr char syntax[] = "vset2.type.btype.cmp{.add} d, a, b, c";
  using T = VideoInts;
  static constexpr Since since{30, 30};
};
struct Vset4 : EngineRow<Kind::Video, Class::Video> {
  static constexpr char syntax[] = "vset4.type.btype.cmp{.add} d, a, b, c";
  using T = VideoInts;
  static constexpr Since since{30, 30};
};

using Video = RowList<Vadd, Vsub, Vabsdiff, Vmin, Vmax, Vshl, Vshr, Vset, Vmad, Vadd2, Vsub2, Vavrg2, Vabsdiff2, Vmin2, Vmax2,
                      Vset2, Vadd4, Vsub4, Vavrg4, Vabsdiff4, Vmin4, Vmax4, Vset4>;

}  // namespace warpbeam::isa::rows
