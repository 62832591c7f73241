// Textures and surfaces. The operands are written `[image, {coordinates}]`; how many coordinates, results and values a
// form has is in isa/image_form.h.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

constexpr bool is_cube(const Matched& m) { return m.mods.geometry == Geometry::Cube || m.mods.geometry == Geometry::ACube; }
constexpr bool flat_if_whole(const Matched& m) { return !(m.atype == Type::S32 && is_cube(m)); }
constexpr bool has_gather(const Matched& m) {
  return m.mods.geometry != Geometry::D1 && m.mods.geometry != Geometry::D3 && m.mods.geometry != Geometry::A1;
}
constexpr bool is_surface_shape(const Matched& m) { return !is_cube(m) && (m.mods.vec == 0 || bits_of(m.type) * m.mods.vec <= 128); }

struct TexRow : EngineRow<Kind::Image, Class::Load> {
  using T = Types<Type::U32, Type::S32, Type::F32>;
  using A = Types<Type::S32, Type::F32>;
  static constexpr Legal legal = flat_if_whole;
};
struct Tex : TexRow {
  static constexpr char syntax[] = "tex{.base}.geometry(.v4).type.atype d{|p}, [a,c]{, e}{, f}";
  static constexpr std::string_view about = "Samples a texture at the finest level; with whole coordinates it reads one texel.";
};
struct TexLevel : TexRow { static constexpr char syntax[] = "tex.level.geometry(.v4).type.atype d{|p}, [a,c], l{, e}{, f}"; static constexpr Since since{20, 20}; };
struct TexGrad : TexRow {
  static constexpr char syntax[] = "tex.grad.geometry(.v4).type.f32 d{|p}, [a,c], x, y{, e}{, f}";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "The level of detail follows from how the coordinates change.";
};
struct TexHalf : TexRow { static constexpr char syntax[] = "tex{.detail}.geometry(.v2).f16x2.atype d{|p}, [a,c]{, e}{, f}"; static constexpr Since since{42, 53}; };
struct Tld4 : EngineRow<Kind::Image, Class::Load> {
  static constexpr char syntax[] = "tld4.channel.geometry(.v4).type.f32 d{|p}, [a,c]{, e}{, f}";
  static constexpr Since since{22, 20};
  static constexpr std::string_view about = "One channel of the four texels that a filter would blend.";
  using T = Types<Type::U32, Type::S32, Type::F32>;
  static constexpr Legal legal = has_gather;
};
struct TxqRow : EngineRow<Kind::Image, Class::Misc> { static constexpr Since since{20, 20}; };
struct Txq : TxqRow { static constexpr char syntax[] = "txq(.query|.texture_query|.sampler_query).b32 d, [a]"; };
struct TxqLevel : TxqRow { static constexpr char syntax[] = "txq.level.level_query.b32 d, [a], l"; };
struct Istypep : EngineRow<Kind::Image, Class::Misc> { static constexpr char syntax[] = "istypep.reference d, a"; static constexpr Since since{40, 30}; };

struct SurfaceRow : EngineRow<Kind::Image, Class::Load> {
  using T = Types<Type::B8, Type::B16, Type::B32, Type::B64>;
  static constexpr Since since{20, 20};
  static constexpr Legal legal = is_surface_shape;
};
struct Suld : SurfaceRow {
  static constexpr char syntax[] = "suld.b.geometry{.ca|.cg|.cs|.cv}{.v2|.v4}.type.boundary d, [a,c]";
  static constexpr std::string_view about = "Reads bytes of a surface; the first coordinate counts bytes.";
};
struct Sust : SurfaceRow { static constexpr char syntax[] = "sust.b.geometry{.wcop}{.v2|.v4}.type.boundary [a,c], b"; static constexpr Class cls = Class::Store; };
struct SustFormatted : SurfaceRow {
  static constexpr char syntax[] = "sust.p.geometry{.v2|.v4}.b32.boundary [a,c], b";
  static constexpr Class cls = Class::Store;
  static constexpr std::string_view about = "Writes a texel, converted to the format of the surface.";
};
struct SuredRow : EngineRow<Kind::Image, Class::Atomic> { static constexpr Since since{20, 20}; };
struct SuredAdd : SuredRow { static constexpr char syntax[] = "sured.b.add(.1d|.2d|.3d).type.boundary [a,c], b"; using T = Types<Type::U32, Type::U64, Type::S32>; };
struct SuredMinMax : SuredRow { static constexpr char syntax[] = "sured.b(.min|.max)(.1d|.2d|.3d).type.boundary [a,c], b"; using T = Types<Type::U32, Type::U64, Type::S32, Type::S64>; };
struct SuredLogic : SuredRow { static constexpr char syntax[] = "sured.b(.and|.or)(.1d|.2d|.3d).b32.boundary [a,c], b"; };
struct SuredFormatted : SuredRow {
  static constexpr char syntax[] = "sured.p(.add|.and|.or)(.1d|.2d|.3d).b32.boundary [a,c], b";
  static constexpr std::string_view about = "The first coordinate counts texels, which have the type of the value.";
};
struct SuredFormattedMinMax : SuredRow { static constexpr char syntax[] = "sured.p(.min|.max)(.1d|.2d|.3d).type.boundary [a,c], b"; using T = Types<Type::B32, Type::B64>; };
struct Suq : EngineRow<Kind::Image, Class::Misc> { static constexpr char syntax[] = "suq(.query|.surface_query).b32 d, [a]"; static constexpr Since since{20, 20}; };

using Images = RowList<Tex, TexLevel, TexGrad, TexHalf, Tld4, Txq, TxqLevel, Istypep, Suld, Sust, SustFormatted, SuredAdd, SuredMinMax, SuredLogic,
                       SuredFormatted, SuredFormattedMinMax, Suq>;

}  // namespace warpbeam::isa::rows
