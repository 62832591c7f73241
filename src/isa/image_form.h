// What the operands of a texture or surface instruction are. After parsing they stand in one order, whatever the form:
// results (if there are any), the image, the vector of coordinates, then the rest.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa {

struct ImageForm {
  int results = 0;          // registers in braces; of txq and suq one, of istypep a predicate
  Type result = Type::None;
  int coordinates = 0;      // as they must be written; some shapes have a last one that is ignored
  int used = 0;
  bool layered = false;     // the first coordinate is a layer, a u32
  Type coordinate = Type::None;
  int values = 0;           // stored or reduced
  Type value = Type::None;
  int level = 0;            // 1: a level of detail follows
  int gradient = 0;         // registers in each of the two gradients that follow
  int offset = 0;           // registers of the offset that may follow: texels added to the coordinates
  bool sampler = false;     // tex and tld4: may be compared with a depth
};

constexpr ImageForm image_form(const Matched& m) {
  ImageForm f;
  const Mods& mods = m.mods;
  const std::string_view op = m.row->opcode;
  switch (mods.geometry) {
    case Geometry::None: break;
    case Geometry::D1: f.coordinates = f.used = 1; break;
    case Geometry::D2: f.coordinates = f.used = 2; break;
    case Geometry::D3: f.coordinates = 4, f.used = 3; break;
    case Geometry::A1: f.coordinates = f.used = 2, f.layered = true; break;
    case Geometry::A2: f.coordinates = 4, f.used = 3, f.layered = true; break;
    case Geometry::Cube: f.coordinates = 4, f.used = 3; break;
    case Geometry::ACube: f.coordinates = f.used = 4, f.layered = true; break;
  }
  const int axes = f.used - f.layered;
  if (op == "tex" || op == "tld4") {
    f.results = mods.vec;
    f.result = m.type;
    f.coordinate = op == "tld4" || m.atype == Type::None ? Type::F32 : m.atype;
    f.sampler = true;
    f.level = mods.detail == Detail::Level;
    f.gradient = mods.detail == Detail::Grad ? (axes == 3 ? 4 : axes) : 0;
    f.offset = mods.geometry == Geometry::Cube || mods.geometry == Geometry::ACube ? 0 : axes == 3 ? 4 : axes;
  } else if (op == "suld") {
    f.results = mods.vec ? mods.vec : 1;
    f.result = m.type;
    f.coordinate = Type::B32;
  } else if (op == "sust" || op == "sured") {
    f.values = mods.vec ? mods.vec : 1;
    f.value = m.type;
    f.coordinate = Type::B32;
  } else if (op == "istypep") {
    f.results = 1;
    f.result = Type::Pred;
  } else {  // txq, suq
    f.results = 1;
    f.result = Type::B32;
    f.level = mods.detail == Detail::Level;
  }
  return f;
}

}  // namespace warpbeam::isa
