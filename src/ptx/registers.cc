// Registers and the scopes that declare them.
#include <bit>

#include "ptx/parser.h"

namespace warpbeam::ptx {
namespace {

constexpr uint64_t kMaxRegisters = 1u << 20;        // of a function
constexpr uint64_t kMaxTotalRegisters = 16u << 20;  // of a text

}  // namespace

void Parser::open_scope() {
  scopes_.emplace_back();
  scopes_.back().id = static_cast<int>(scope_parents_.size());
  scope_parents_.push_back(scopes_.size() > 2 ? scopes_[scopes_.size() - 2].id : -1);
}

std::optional<int> Parser::find_register(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto it = scope->registers.find(name); it != scope->registers.end()) return it->second;
    if (!scope->ranges.empty()) {
      size_t digits = name.find_last_not_of("0123456789") + 1;
      if (digits < name.size() && name.size() - digits < 9) {
        auto it = scope->ranges.find(name.substr(0, digits));
        if (it != scope->ranges.end() && (name[digits] != '0' || digits + 1 == name.size())) {
          uint32_t n = static_cast<uint32_t>(std::stoul(name.substr(digits)));
          if (n < it->second.first) return it->second.second + static_cast<int>(n);
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::pair<int, int>> Parser::find_vector(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (scope->vectors.empty()) continue;
    if (auto it = scope->vectors.find(name); it != scope->vectors.end() && it->second.count < 0)
      return std::pair(it->second.first, it->second.parts);
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == name.size() || name.size() - digits > 8) continue;
    const auto it = scope->vectors.find(name.substr(0, digits));
    const int64_t n = std::stol(name.substr(digits));
    if (it != scope->vectors.end() && n < it->second.count)
      return std::pair(it->second.first + static_cast<int>(n) * it->second.parts, it->second.parts);
  }
  return std::nullopt;
}

void Parser::parse_registers(Function& f) {
  if (accept(".align")) {  // registers lie nowhere
    const auto alignment = parse_integer_expression(11);
    if (!alignment) return recover();
    if (*alignment <= 0 || !std::has_single_bit(static_cast<uint64_t>(*alignment))) {
      error(lex_.peek().at, "an alignment is a power of two");
      return recover();
    }
  }
  Lexeme t = lex_.take();
  int parts = 1;
  if (t.is(".v2") || t.is(".v4")) {
    parts = t.text[2] - '0';
    t = lex_.take();
  }
  const isa::Type type = isa::type_named(t.text);
  if (t.token != Token::Dotted || !isa::is_storable(type)) {
    error(t.at, "a type is needed after .reg");
    return recover();
  }
  if (accept(';')) return;  // a type and no names
  auto too_many = [&](uint64_t n) {
    n *= static_cast<uint64_t>(parts);
    return n > kMaxRegisters || (function_registers_ += n) > kMaxRegisters || (total_registers_ += n) > kMaxTotalRegisters;
  };
  auto add_vectors = [&](const Lexeme& name, int64_t count) {
    scopes_.back().vectors[std::string(name.text)] = {static_cast<int>(f.registers.size()), parts, count};
    for (int64_t k = 0; k < (count < 0 ? 1 : count) * parts; ++k)
      f.registers.push_back({type, static_cast<int32_t>(k), static_cast<uint32_t>(f.register_names.size())});
  };
  do {
    Lexeme name = lex_.take();
    if (name.token != Token::Word) {
      error(name.at, "a register name is needed");
      return recover();
    }
    if (accept('<')) {
      auto n = parse_integer_expression(11);
      if (!n || !expect('>')) return recover();
      if (*n < 0 || too_many(static_cast<uint64_t>(*n))) {
        error(name.at, "too many registers");
        return recover();
      }
      if (parts > 1) {
        add_vectors(name, *n);
        f.register_names.emplace_back(name.text);
        continue;
      }
      int first = static_cast<int>(f.registers.size());
      scopes_.back().ranges[std::string(name.text)] = {static_cast<uint32_t>(*n), first};
      for (int64_t k = 0; k < *n; ++k)
        f.registers.push_back({type, static_cast<int32_t>(k), static_cast<uint32_t>(f.register_names.size())});
    } else {
      if (too_many(1)) {
        error(name.at, "too many registers");
        return recover();
      }
      if (parts > 1) {
        add_vectors(name, -1);
        f.register_names.emplace_back(name.text);
        continue;
      }
      scopes_.back().registers[std::string(name.text)] = static_cast<int>(f.registers.size());
      f.registers.push_back({type, -1, static_cast<uint32_t>(f.register_names.size())});
    }
    f.register_names.emplace_back(name.text);
  } while (accept(','));
  expect(';');
}

// `v.x` is one register, `v` alone all of them.
bool Parser::vector_operand(const Lexeme& name, Operand& out) {
  const auto vector = find_vector(std::string(name.text));
  if (!vector) return false;
  out.kind = OperandKind::Vector;
  if (const Lexeme part = lex_.peek(); part.token == Token::Dotted && part.glued && part.text.size() == 2) {
    constexpr std::string_view kParts = "xyzwrgba";
    const int k = static_cast<int>(kParts.find(part.text[1])) % 4;
    if (kParts.find(part.text[1]) == std::string_view::npos || k >= vector->second) {
      error(part.at, "'{}' has no part '{}'", name.text, part.text);
    } else {
      out.kind = OperandKind::Register;
      out.reg = vector->first + k;
    }
    lex_.take();
    return true;
  }
  for (int k = 0; k < vector->second; ++k) {
    Operand e;
    e.kind = OperandKind::Register;
    e.reg = vector->first + k;
    out.list.push_back(std::move(e));
  }
  return true;
}

}  // namespace warpbeam::ptx
