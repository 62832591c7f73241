#include "fuzz/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fuzz/kernel.h"

namespace warpbeam::fuzz {

using isa::Kind;
using isa::Type;

namespace {

bool has_word(const Statement& s, std::string_view part) {
  return std::any_of(s.words.begin(), s.words.end(), [&](const std::string& w) { return w.find(part) != w.npos; });
}

bool usable(const Statement& s, bool portable) {
  const isa::Row& row = *s.row;
  if (row.since.sm > 90) return false;
  // Only the first devices had it without a rounding.
  if (row.syntax.starts_with("mad{.rnd}") && s.words[0][1] != 'r') return false;
  switch (row.kind) {
    case Kind::Video:
      // Current devices emulate these and lose parts: tests/isa/differences.txt.
      return !portable || row.opcode.ends_with('2') || row.opcode.ends_with('4') ||
             (s.operands.size() < 4 && !has_word(s, ".sat") && s.operands[0].text.find('.') == std::string::npos);
    case Kind::Warp:
      if (row.opcode == "activemask" || row.opcode == "elect") return !portable;
      return row.syntax.find(".sync") != std::string_view::npos;
    case Kind::Memory:
      // ptxas 13.0 takes small types by eight, and then crashes.
      if (portable && has_word(s, ".v8")) return false;
      // Parameters have statements of their own. A policy must come from createpolicy.
      if (has_word(s, ".param") || has_word(s, ".const") || has_word(s, "cache_hint")) return false;
      return row.opcode == "ld" || row.opcode == "st" || row.opcode == "ldu" || row.opcode == "prefetch";
    case Kind::Atomic: return !has_word(s, "cache_hint");
    case Kind::Move: return row.opcode == "mov";
    default: return true;
  }
}

// A literal for a source operand of this type; empty where none is written.
std::string literal(Type type, Random& random) {
  const uint64_t value = input_value(type, 1, random.below(1024));
  switch (type) {
    case Type::U16:
    case Type::B16: return std::to_string(value & 0xffff);
    case Type::S16: return std::to_string(static_cast<int16_t>(value));
    case Type::U32:
    case Type::B32: return fmt::format("{:#x}", value & 0xffffffff);
    case Type::S32: return std::to_string(static_cast<int32_t>(value));
    case Type::U64:
    case Type::B64: return fmt::format("{:#x}", value);
    case Type::F32: return fmt::format("0f{:08X}", value & 0xffffffff);
    case Type::F64: return fmt::format("0d{:016X}", value);
    default: return "";
  }
}

// Replaces every register of the text by another of its class. Elements of a vector stay neighbours, so they differ.
std::string renumbered(const std::string& text, Random& random) {
  std::string out;
  const int shift = random.between(0, kRegisters - 1);
  const bool vector = text.find(',') != std::string::npos;
  for (size_t k = 0; k < text.size(); ++k) {
    out += text[k];
    if (text[k] != '%') continue;
    const char cls = text[++k];
    out += cls;
    int number = 0;
    for (; k + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[k + 1])); ++k) number = number * 10 + text[k + 1] - '0';
    const int count = cls == 'q' ? kWideRegisters : kRegisters;
    out += std::to_string((vector ? number + shift : random.between(0, count - 1)) % count);
  }
  return out;
}

}  // namespace

const Statement& Palette::pick(const Rows& rows, Random& random) { return random.one_of(random.one_of(random.one_of(rows)).statements); }

// ptxas 13.0 makes several instructions of these, and not all of them heed the guard.
bool Palette::guardable(const Statement& s) const {
  constexpr std::string_view kLosing[] = {"testp", "set", "vadd4", "vsub4"};  // the latter with .add
  return !portable_ || std::ranges::find(kLosing, s.row->opcode) == std::end(kLosing);
}

Palette::Palette(bool portable) : portable_(portable) {
  std::map<std::string_view, std::vector<PaletteRow>> compute, warp, carry, memory, atomic;
  Bounds bounds;
  bounds.per_row = 80;
  for (const isa::RowForm& form : isa::all_forms()) {
    std::map<std::string_view, std::vector<PaletteRow>>* place = nullptr;
    switch (form.row->kind) {
      case Kind::Lane:
      case Kind::Convert:
      case Kind::Compare:
      case Kind::Select:
      case Kind::Video:
      case Kind::Move: place = &compute; break;
      case Kind::Warp: place = &warp; break;
      case Kind::Carry: place = &carry; break;
      case Kind::Memory: place = &memory; break;
      case Kind::Atomic: place = &atomic; break;
      default: continue;
    }
    PaletteRow row{form.row, legal_statements(form, bounds)};
    std::erase_if(row.statements, [&](const Statement& s) { return !usable(s, portable); });
    if (!row.statements.empty()) (*place)[form.row->opcode].push_back(std::move(row));
  }
  const auto values = [](auto& map) {
    Rows rows;
    for (auto& [opcode, list] : map) rows.push_back(std::move(list));
    return rows;
  };
  compute_ = values(compute);
  warp_ = values(warp);
  carry_ = values(carry);
  memory_ = values(memory);
  atomic_ = values(atomic);
}

std::string random_register(Type type, Random& random) { return register_name(type, random.between(0, kRegisters - 1)); }

std::string fitted(const Statement& statement, Random& random, const std::string& address) {
  Statement s = statement;
  const bool result_first = !s.operands.empty() && s.row->operands.list[0].written;
  bool literal_used = false;
  for (size_t k = 0; k < s.operands.size(); ++k) {
    StatementOperand& o = s.operands[k];
    if (o.address) {
      o.text = address;
      continue;
    }
    if (o.reg < 0) continue;
    // One number at most: a few instructions take no second one.
    const bool source = k > 0 || !result_first;
    if (source && s.row->kind == Kind::Lane && o.text.find_first_of("-!.{") == std::string::npos && !literal_used && k > 1 &&
        random.chance(12)) {
      // Positions and counts, whatever the instruction's type, are bytes to ptxas.
      const bool count = s.row->operands.list[k].rule == isa::OperandRule::Fixed && isa::bits_of(o.type) == 32;
      const std::string number = count ? std::to_string(random.below(256)) : literal(o.type, random);
      if (!number.empty()) {
        o.text = number;
        literal_used = true;
        continue;
      }
    }
    o.text = renumbered(o.text, random);
  }
  if (s.pair_reg >= 0) {
    do s.pair_reg = random.between(0, kRegisters - 1);
    while (s.operands[0].type == Type::Pred && s.operands[0].text == fmt::format("%p{}", s.pair_reg));
  }
  return s.text();
}

}  // namespace warpbeam::fuzz
