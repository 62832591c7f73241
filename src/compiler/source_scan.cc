#include "compiler/source_scan.h"

#include <algorithm>
#include <string>

namespace warpbeam::compiler {

using std::string_view;

size_t past_opaque(string_view s, size_t i, bool line_start) {
  const string_view rest = s.substr(i);
  auto line = [&] {
    while (i < s.size() && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
    return std::min(i, s.size());
  };
  if (rest.starts_with("//") || (rest.starts_with('#') && line_start)) return line();
  if (rest.starts_with("/*")) {
    const size_t end = s.find("*/", i + 2);
    return end == string_view::npos ? s.size() : end + 2;
  }
  if (rest.starts_with("R\"") && !(i > 0 && is_name(s[i - 1]))) {
    const size_t open = s.find('(', i);
    if (open == string_view::npos) return s.size();
    const std::string close = ")" + std::string(s.substr(i + 2, open - i - 2)) + "\"";
    const size_t end = s.find(close, open);
    return end == string_view::npos ? s.size() : end + close.size();
  }
  if (s[i] == '"' || (s[i] == '\'' && !(i > 0 && is_name(s[i - 1])))) {
    for (size_t k = i + 1; k < s.size() && s[k] != '\n'; ++k) {
      if (s[k] == '\\') ++k;
      else if (s[k] == s[i]) return k + 1;
    }
    return line();
  }
  return i;
}

}  // namespace warpbeam::compiler
