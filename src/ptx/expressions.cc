// Constant expressions: 64 bits wide, with C's operators and precedence. A value is signed unless a literal says U
// or needs all bits, a cast says .u64, or one side of an operator is unsigned; comparisons give signed 0 or 1, remainders are
// unsigned. With a floating-point literal on one side, sums, products and comparisons are those of doubles. What ptxas computes
// where the manual is silent (shifts, ?:) is what is computed here.
#include <array>
#include <bit>
#include <string_view>

#include "ptx/parser.h"

namespace warpbeam::ptx {

struct Operator {
  std::string_view text;
  int precedence;
};

namespace {

constexpr int kMaxDepth = 64;
constexpr int kChoice = 0;  // ?: binds least

// Longer ones first: '<' is the beginning of '<<' and '<='.
constexpr std::array<Operator, 18> kOperators = {{{"<<", 8},
                                                  {">>", 8},
                                                  {"<=", 7},
                                                  {">=", 7},
                                                  {"==", 6},
                                                  {"!=", 6},
                                                  {"&&", 2},
                                                  {"||", 1},
                                                  {"*", 10},
                                                  {"/", 10},
                                                  {"%", 10},
                                                  {"+", 9},
                                                  {"-", 9},
                                                  {"<", 7},
                                                  {">", 7},
                                                  {"&", 5},
                                                  {"^", 4},
                                                  {"|", 3}}};

// The operator that comes next, or null.
const Operator* next_operator(Lexer ahead) {
  const Lexeme first = ahead.take(), second = ahead.peek();
  if (first.token != Token::Punct) return nullptr;
  for (const Operator& op : kOperators) {
    if (!first.is(op.text[0])) continue;
    if (op.text.size() == 1 || (second.glued && second.is(op.text[1]))) return &op;
  }
  return nullptr;
}

}  // namespace

std::optional<Parser::Integer> Parser::parse_primary(int depth) {
  if (depth > kMaxDepth) {
    error(lex_.peek().at, "expression nests too deeply");
    return {};
  }
  Lexeme l = lex_.peek();
  if (l.is('(')) {
    lex_.take();
    const bool to_unsigned = lex_.peek().is(".u64");
    if (to_unsigned || lex_.peek().is(".s64")) {
      lex_.take();
      if (!expect(')')) return {};
      auto v = parse_primary(depth + 1);
      if (v) v->is_unsigned = to_unsigned;
      return v;
    }
    auto v = parse_operators(kChoice, depth + 1);
    if (!v || !expect(')')) return {};
    return v;
  }
  for (char op : {'-', '+', '~', '!'})
    if (l.is(op)) {
      lex_.take();
      auto v = parse_primary(depth + 1);
      if (!v) return {};
      if (v->is_float && (op == '-' || op == '+')) return Integer{op == '-' ? v->bits ^ uint64_t{1} << 63 : v->bits, false, true};
      if (v->is_float) {
        error(l.at, "'{}' takes an integer", op);
        return {};
      }
      if (op == '!') return Integer{v->bits == 0, false};
      return Integer{op == '-' ? 0 - v->bits : op == '~' ? ~v->bits : v->bits, v->is_unsigned};
    }
  if (l.token == Token::Number) {
    lex_.take();
    auto c = parse_number(l);
    if (!c) return {};
    if (c->single)
      return Integer{std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(c->bits)))), false, true};
    return Integer{c->bits, c->is_unsigned, c->is_float};
  }
  if (l.is("WARP_SZ")) {
    lex_.take();
    return Integer{32, false};
  }
  error(l.at, "a constant is needed before '{}'", l.text);
  return {};
}

std::optional<Parser::Integer> Parser::apply(const Operator& op, Position at, Integer left, Integer right) {
  if (left.is_float || right.is_float) return apply_to_floats(op, at, left, right);
  const uint64_t a = left.bits, b = right.bits;
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const auto number = [&](uint64_t bits) { return Integer{bits, is_unsigned}; };
  const auto truth = [](bool holds) { return Integer{holds, false}; };
  const bool less = is_unsigned ? a < b : x < y;
  if (op.text == "*") return number(a * b);
  if (op.text == "+") return number(a + b);
  if (op.text == "-") return number(a - b);
  if (op.text == "&") return number(a & b);
  if (op.text == "^") return number(a ^ b);
  if (op.text == "|") return number(a | b);
  if (op.text == "/" || op.text == "%") {
    if (b == 0) {
      error(at, "division by zero in a constant expression");
      return {};
    }
    if (op.text == "%") return Integer{a % b, true};
    if (is_unsigned) return number(a / b);
    return number(y == -1 ? 0 - a : static_cast<uint64_t>(x / y));  // the least number has no negative
  }
  // The type of a shift is that of its left side; it goes as far as the low six bits of its right side say.
  if (op.text == "<<") return Integer{a << (b & 63), left.is_unsigned};
  if (op.text == ">>") return Integer{left.is_unsigned ? a >> (b & 63) : static_cast<uint64_t>(x >> (b & 63)), left.is_unsigned};
  if (op.text == "<") return truth(less);
  if (op.text == ">=") return truth(!less);
  if (op.text == "==") return truth(a == b);
  if (op.text == "!=") return truth(a != b);
  if (op.text == "<=") return truth(less || a == b);
  if (op.text == ">") return truth(!less && a != b);
  if (op.text == "&&") return truth(a && b);
  return truth(a || b);
}

std::optional<Parser::Integer> Parser::apply_to_floats(const Operator& op, Position at, Integer left, Integer right) {
  const auto as_double = [](Integer v) {
    if (v.is_float) return std::bit_cast<double>(v.bits);
    return v.is_unsigned ? static_cast<double>(v.bits) : static_cast<double>(static_cast<int64_t>(v.bits));
  };
  const double x = as_double(left), y = as_double(right);
  const auto number = [](double v) { return Integer{std::bit_cast<uint64_t>(v), false, true}; };
  const auto truth = [](bool holds) { return Integer{holds, false}; };
  if (op.text == "*") return number(x * y);
  if (op.text == "/") return number(x / y);
  if (op.text == "+") return number(x + y);
  if (op.text == "-") return number(x - y);
  if (op.text == "<") return truth(x < y);
  if (op.text == ">") return truth(x > y);
  if (op.text == "<=") return truth(x <= y);
  if (op.text == ">=") return truth(x >= y);
  if (op.text == "==") return truth(x == y);
  if (op.text == "!=") return truth(x != y);
  error(at, "'{}' takes integers", op.text);
  return {};
}

std::optional<Parser::Integer> Parser::parse_choice(Integer condition, int depth) {
  auto yes = parse_operators(kChoice, depth + 1);
  if (!yes || !expect(':')) return {};
  auto no = parse_operators(kChoice, depth + 1);
  if (!no) return {};
  return condition.bits ? yes : no;
}

std::optional<Parser::Integer> Parser::parse_operators(int min_precedence, int depth) {
  auto left = parse_primary(depth + 1);
  while (left) {
    const Position at = lex_.peek().at;
    if (min_precedence <= kChoice && accept('?')) return parse_choice(*left, depth);
    const Operator* op = next_operator(lex_);
    if (!op || op->precedence < min_precedence) break;
    for (size_t k = 0; k < op->text.size(); ++k) lex_.take();
    auto right = parse_operators(op->precedence + 1, depth + 1);
    if (!right) return {};
    left = apply(*op, at, *left, *right);
  }
  return left;
}

std::optional<int64_t> Parser::parse_integer_expression(int min_precedence) {
  const Lexeme first = lex_.peek();
  const auto value = parse_operators(min_precedence, 0);
  if (!value) return {};
  if (value->is_float) {
    error(first.at, "'{}' is a floating-point literal where an integer is needed", first.text);
    return {};
  }
  return static_cast<int64_t>(value->bits);
}

bool Parser::parse_constant_expression(Operand& out) {
  const auto value = parse_operators(kChoice, 0);
  if (!value) return false;
  out.imm = value->bits;
  out.float_literal = value->is_float;
  return true;
}

bool Parser::operator_follows(Lexer ahead) { return ahead.peek().is('?') || next_operator(ahead); }

}  // namespace warpbeam::ptx
