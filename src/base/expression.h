// Regular expressions. <regex> costs every source that includes it seconds to compile; here one does.
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace warpbeam {

class Expression {
 public:
  // Nothing where the text is none.
  static std::optional<Expression> of(const std::string& text);
  bool found_in(const std::string& text) const;
  bool matches(const std::string& text) const;  // the whole of it

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace warpbeam
