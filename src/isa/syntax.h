// Syntax lines: one string per row, in the spirit of the PTX manual's own syntax lines, read once at start-up by the
// parser and at compile time by the engines (for the types of operands).
//
//   add{.rnd}{.ftz}{.sat}.f32 d, a, b
//   │   │     │           │    └ operands; `:u32` fixes a type, `:wide` doubles it, `:pred` is a predicate
//   │   │     │           └ a type that must be written; `.type` is the row's set of types, `.atype` a second one
//   │   │     └ a flag
//   │   └ a group of words (isa/mods.cc), optional because of the braces; `{.rn|.rz}` names alternatives
//   └ the opcode
#pragma once
#include <array>
#include <string_view>

#include "isa/types.h"

namespace warpbeam::isa {

enum class OperandRule : uint8_t { Slot0, Slot1, Wide, Fixed };

struct OperandSpec {
  OperandRule rule = OperandRule::Slot0;
  Type fixed = Type::None;
  bool optional = false;  // written `{, c}`
  bool address = false;   // written `[a]`; `[a,x]` has coordinates behind it
  bool constant = false;  // written `#a`: a number, not a register
  bool pair = false;      // written `d{|p}` or `p{|q}`: may carry a second, predicate destination
  bool both = false;      // written `d|p`: must
  bool written = false;   // named d or p in front: the instruction's result
};

struct OperandSpecs {
  std::array<OperandSpec, 10> list{};
  int count = 0;
};

constexpr OperandSpecs operand_specs(std::string_view syntax) {
  OperandSpecs specs;
  size_t space = syntax.find(' ');
  if (space == std::string_view::npos) return specs;
  std::string_view rest = syntax.substr(space + 1);
  bool optional = false;
  size_t i = 0;
  while (i < rest.size()) {
    char c = rest[i];
    if (c == ' ' || c == ',') {
      ++i;
      continue;
    }
    if (c == '{' && i + 1 < rest.size() && rest[i + 1] == ',') {
      optional = true;
      i += 2;
      continue;
    }
    if (c == '}') {
      optional = false;
      ++i;
      continue;
    }
    OperandSpec spec;
    spec.optional = optional;
    if (c == '[') spec.address = true;
    if (c == '#') spec.constant = true;
    const char after = i + 1 < rest.size() ? rest[i + 1] : ',';
    spec.written = specs.count == 0 && (c == 'd' || c == 'p') && std::string_view(",:{|").find(after) != std::string_view::npos;
    size_t end = i;
    while (end < rest.size() && (rest[end] != ',' || (spec.address && rest[end - 1] != ']')) && rest[end] != ' ' && rest[end] != '}' &&
           !(rest[end] == '{' && end + 1 < rest.size() && rest[end + 1] == ',')) {
      if (rest[end] == '{') {  // the `{|p}` of a pair
        spec.pair = true;
        while (end < rest.size() && rest[end] != '}') ++end;
      } else if (rest[end] == '|') {
        spec.pair = spec.both = true;
      }
      ++end;
    }
    std::string_view word = rest.substr(i, end - i);
    size_t colon = word.find(':');
    if (colon != std::string_view::npos) {
      std::string_view type = word.substr(colon + 1);
      size_t stop = type.find_first_of("]{|");
      if (stop != std::string_view::npos) type = type.substr(0, stop);
      if (type == "wide") {
        spec.rule = OperandRule::Wide;
      } else if (type == "atype") {
        spec.rule = OperandRule::Slot1;
      } else {
        spec.rule = OperandRule::Fixed;
        for (int t = 1; t < kTypeCount; ++t)
          if (kTypes[t].name.substr(1) == type) spec.fixed = static_cast<Type>(t);
      }
    }
    specs.list[specs.count++] = spec;
    i = end;
  }
  return specs;
}

constexpr Type operand_type(const OperandSpec& spec, Type slot0, Type slot1) {
  switch (spec.rule) {
    case OperandRule::Slot0: return slot0;
    case OperandRule::Slot1: return slot1;
    case OperandRule::Wide: return widened(slot0);
    case OperandRule::Fixed: return spec.fixed;
  }
  return Type::None;
}

}  // namespace warpbeam::isa
