#include "driver/string_suffixes.h"

#include <cctype>

namespace warpbeam::driver {
namespace {

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Macros that stand beside strings. Other names may be real literal operators (`"x"_id`, `"x"s`).
bool is_string_macro(std::string_view name) {
  return name == "__FILE__" || name == "__LINE__" || name == "__DATE__" || name == "__TIME__" || name == "__VERSION__" ||
         name.starts_with("PRI") || name.starts_with("SCN");
}

}  // namespace

std::optional<std::string> separate_string_suffixes(std::string_view s) {
  std::string out;
  size_t copied = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '/' && i + 1 < s.size() && s[i + 1] == '/') {
      while (i < s.size() && s[i] != '\n') i += s[i] == '\\' ? 2 : 1;
    } else if (s[i] == '/' && i + 1 < s.size() && s[i + 1] == '*') {
      size_t end = s.find("*/", i + 2);
      if (end == std::string_view::npos) break;
      i = end + 1;
    } else if (s[i] == '\'' && !(i > 0 && is_name(s[i - 1]))) {  // not a digit separator
      for (++i; i < s.size() && s[i] != '\'' && s[i] != '\n'; ++i)
        if (s[i] == '\\') ++i;
    } else if (s[i] == '"') {
      if (i > 0 && s[i - 1] == 'R') {  // R"tag( … )tag"
        size_t open = s.find('(', i);
        if (open == std::string_view::npos) break;
        size_t end = s.find(")" + std::string(s.substr(i + 1, open - i - 1)) + "\"", open);
        if (end == std::string_view::npos) break;
        i = end + (open - i);
        continue;
      }
      for (++i; i < s.size() && s[i] != '"' && s[i] != '\n'; ++i)
        if (s[i] == '\\') ++i;
      size_t end = i + 1;
      while (end < s.size() && is_name(s[end])) ++end;
      if (i < s.size() && end > i + 1 && is_string_macro(s.substr(i + 1, end - i - 1))) {
        out.append(s, copied, i + 1 - copied);
        out += ' ';
        copied = i + 1;
      }
    }
  }
  if (copied == 0) return std::nullopt;
  out.append(s, copied);
  return out;
}

}  // namespace warpbeam::driver
