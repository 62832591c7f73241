#include "base/expression.h"

#include <regex>

namespace warpbeam {

struct Expression::Compiled {
  std::regex regex;
};

std::optional<Expression> Expression::of(const std::string& text) {
  try {
    Expression e;
    e.compiled_ = std::make_shared<const Compiled>(std::regex(text));
    return e;
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
}

bool Expression::found_in(const std::string& text) const { return std::regex_search(text, compiled_->regex); }
bool Expression::matches(const std::string& text) const { return std::regex_match(text, compiled_->regex); }

}  // namespace warpbeam
