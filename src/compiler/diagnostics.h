// Compilers' messages: one source is compiled once for the host and once per architecture, but each of its errors and
// warnings is shown once.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::compiler {

// Do errors lie in CUB, Thrust or libcu++ in this folder, or are they about names of theirs?
bool speaks_of_libraries(std::string_view messages, std::string_view folder);

// The messages about a source that compiles neither as it is (`first`) nor mended (`last`): only what the mended text has
// left is wrong. What both have is told of with the lines that were written. `first`, if `last` has no errors with lines.
std::string still_wrong(std::string_view first, std::string_view last);

class Diagnostics {
 public:
  // The messages of `text` that have not been there before. Clang's closing "2 errors generated." lines are left out;
  // `closing` gives one for all.
  std::string fresh(std::string_view text);

  int errors() const { return errors_; }
  int warnings() const { return warnings_; }
  // "1 error generated.", or empty.
  std::string closing() const;

 private:
  std::set<std::string> seen_;
  int errors_ = 0;
  int warnings_ = 0;
};

}  // namespace warpbeam::compiler
