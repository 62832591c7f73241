// Numbers and initialisers.
#include <bit>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "ptx/parser.h"

namespace warpbeam::ptx {
namespace {

constexpr int kMaxDepth = 64;

}  // namespace

std::optional<Parser::Constant> Parser::parse_number(const Lexeme& word) {
  std::string text(word.text);
  Constant c;
  auto hex_bits = [&](size_t digits) -> bool {
    if (text.size() != digits + 2) return false;
    auto [end, ec] = std::from_chars(text.data() + 2, text.data() + text.size(), c.bits, 16);
    return ec == std::errc() && end == text.data() + text.size();
  };
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
    c.is_float = c.single = true;
    if (!hex_bits(8)) {
      error(word.at, "'{}' is not a float literal (0f and 8 hexadecimal digits)", text);
      return {};
    }
    return c;
  }
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D')) {
    c.is_float = true;
    if (!hex_bits(16)) {
      error(word.at, "'{}' is not a double literal (0d and 16 hexadecimal digits)", text);
      return {};
    }
    return c;
  }
  const bool hex = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!hex && text.find_first_of(".eE") != std::string::npos) {
    char* end = nullptr;
    double d = std::strtod(text.c_str(), &end);
    if (*end) {
      error(word.at, "'{}' is not a number", text);
      return {};
    }
    c.is_float = true;
    c.bits = std::bit_cast<uint64_t>(d);
    return c;
  }
  if (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.pop_back(), c.is_unsigned = true;
  int base = 10;
  size_t skip = 0;
  if (hex) {
    base = 16;
    skip = 2;
  } else if (text.size() > 1 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B')) {
    base = 2;
    skip = 2;
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    skip = 1;
  }
  auto [end, ec] = std::from_chars(text.data() + skip, text.data() + text.size(), c.bits, base);
  if (ec != std::errc() || end != text.data() + text.size() || skip >= text.size()) {
    error(word.at, "'{}' is not a number of at most 64 bits", word.text);
    return {};
  }
  c.is_unsigned |= c.bits >> 63;
  return c;
}

void Parser::store_value(Variable& v, uint64_t offset, uint64_t bits, uint64_t bytes) {
  if (offset + bytes > v.init.size()) v.init.resize(offset + bytes);
  std::memcpy(v.init.data() + offset, &bits, bytes < 8 ? bytes : 8);
}

// One scalar, a nested list, or the address of a symbol.
void Parser::parse_init_value(Variable& v, uint64_t& offset, int depth) {
  if (depth > kMaxDepth) return error(lex_.peek().at, "initialiser nests too deeply");
  const uint64_t bytes = isa::bytes_of(v.type);
  if (accept('{')) {
    while (!lex_.peek().is('}') && lex_.peek().token != Token::End && diagnostics_.size() < 50) {
      parse_init_value(v, offset, depth + 1);
      if (!accept(',')) break;
    }
    expect('}');
    return;
  }
  Lexeme l = lex_.peek();
  if (!v.unsized && offset + bytes > v.size) {
    error(l.at, "too many values for '{}' of {} bytes", v.name, v.size);
    return recover();
  }
  if (offset > (uint64_t(1) << 32)) return error(l.at, "initialiser of '{}' is too large", v.name);
  if (l.token == Token::Word && l.text != "WARP_SZ") {
    lex_.take();
    Relocation r{offset, static_cast<uint8_t>(bytes), std::string(l.text), 0, false, 0, l.at};
    if (l.text == "generic" && accept('(')) {
      r.generic = true;
      r.symbol = std::string(lex_.take().text);
      expect(')');
    }
    if (lex_.peek().is('+') || lex_.peek().is('-'))
      if (auto add = parse_integer_expression()) r.addend = *add;
    store_value(v, offset, 0, bytes);
    v.relocations.push_back(std::move(r));
    offset += bytes;
    return;
  }
  bool negative = false;
  if ((l.is('-') || l.is('+')) && isa::is_float(v.type)) {
    negative = l.is('-');
    lex_.take();
    l = lex_.peek();
  }
  if (l.token == Token::Number &&
      (isa::is_float(v.type) || l.text.find('.') != std::string_view::npos || l.text.starts_with("0f") || l.text.starts_with("0d"))) {
    lex_.take();
    auto c = parse_number(l);
    if (!c) return;
    double d = c->is_float ? (c->single ? std::bit_cast<float>(static_cast<uint32_t>(c->bits)) : std::bit_cast<double>(c->bits))
                           : static_cast<double>(static_cast<int64_t>(c->bits));
    if (negative) d = -d;
    uint64_t bits = c->bits;
    if (v.type == isa::Type::F32 || (bytes == 4 && c->is_float)) bits = std::bit_cast<uint32_t>(static_cast<float>(d));
    else if (v.type == isa::Type::F64 || (bytes == 8 && c->is_float)) bits = std::bit_cast<uint64_t>(d);
    if (c->single && bytes == 4 && !negative) bits = c->bits;
    store_value(v, offset, bits, bytes);
    offset += bytes;
    return;
  }
  auto value = parse_integer_expression();
  if (!value) return recover();
  // `0xFF00(sym)`: the masked part of an address, one byte at a time.
  if (accept('(')) {
    uint64_t mask = static_cast<uint64_t>(*value);
    Relocation r{offset, static_cast<uint8_t>(bytes), std::string(lex_.take().text), 0, false, 0, l.at};
    if (r.symbol == "generic" && accept('(')) {
      r.generic = true;
      r.symbol = std::string(lex_.take().text);
      expect(')');
    }
    if (lex_.peek().is('+') || lex_.peek().is('-'))
      if (auto add = parse_integer_expression()) r.addend = *add;
    expect(')');
    r.shift = mask ? static_cast<uint8_t>(std::countr_zero(mask)) : 0;
    store_value(v, offset, 0, bytes);
    v.relocations.push_back(std::move(r));
  } else {
    store_value(v, offset, static_cast<uint64_t>(*value), bytes);
  }
  offset += bytes;
}

void Parser::parse_initialiser(Variable& v) {
  uint64_t offset = 0;
  Position at = lex_.peek().at;
  if (v.linkage == Linkage::Extern) error(at, "'{}' is .extern and cannot have an initialiser", v.name);
  if (v.space != isa::Space::Global && v.space != isa::Space::Const) error(at, "only .global and .const variables can have an initialiser");
  parse_init_value(v, offset, 0);
  if (v.unsized) {
    v.size = offset;
    v.unsized = false;
  }
}

}  // namespace warpbeam::ptx
