// Statements made from the instruction table: what the table says is legal, and what lies just beside it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/row.h"

namespace warpbeam::fuzz {

struct StatementOperand {
  std::string text;  // as written: "%r1", "[%d2]", "%r1.h0", "!%p3", "7"
  isa::Type type{};  // what the position asks for
  int reg = -1;      // number of the register, -1 for a constant
  isa::Type held{};  // type of that register, which may be wider
  bool address = false;
};

struct Statement {
  const isa::Row* row = nullptr;
  std::vector<std::string> words;
  std::vector<StatementOperand> operands;
  int pair_reg = -1;         // predicate register behind `|`
  std::string text() const;  // with the semicolon
};

struct Bounds {
  int per_row = 400;     // modifier and type combinations of a row; past it a fixed random choice
  bool variants = true;  // optional operands, second destinations, wider registers, operand selectors
};

// Every combination of types and modifiers that the table accepts.
std::vector<Statement> legal_statements(const isa::RowForm& form, const Bounds& bounds);
// The same words with one type exchanged, one word added or one left out, legal or not.
std::vector<Statement> near_misses(const isa::RowForm& form, const Bounds& bounds);

// The name of a register of a class wide enough for `type`: "%f3".
std::string register_name(isa::Type type, int number);
// Declarations of 16 registers of every class.
std::string_view register_declarations();
std::string module_header(int sm);

}  // namespace warpbeam::fuzz
