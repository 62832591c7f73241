#include "compiler/first_headers.h"

#include <algorithm>
#include <cctype>

#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

using std::string_view;

// What the libraries' headers ask for. `NDEBUG` and `assert` are everybody's.
constexpr string_view kSettings[] = {"THRUST_",      "CUB_",   "CCCL_", "_CCCL_", "LIBCUDACXX_",
                                     "_LIBCUDACXX_", "NDEBUG", "DEBUG", "__",     "_GLIBCXX"};

string_view without_blanks(string_view s) {
  const size_t first = s.find_first_not_of(" \t");
  return first == s.npos ? string_view() : s.substr(first);
}

// `include <x>` behind its #.
bool takes_word(string_view& rest, string_view word) {
  rest = without_blanks(rest);
  if (!rest.starts_with(word) || (rest.size() > word.size() && is_name(rest[word.size()]))) return false;
  rest = without_blanks(rest.substr(word.size()));
  return true;
}

bool is_setting(string_view directive) {
  if (!takes_word(directive, "define") && !takes_word(directive, "undef")) return false;
  return std::ranges::any_of(kSettings, [&](string_view begin) { return directive.starts_with(begin); });
}

bool is_of_libraries(string_view name) { return name.starts_with("thrust/") || name.starts_with("cub/"); }

}  // namespace

bool begins_with_libraries(string_view text) {
  bool line_start = true, begins = true, found = false;
  for (size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at]))) {
      line_start |= text[at++] == '\n';
      continue;
    }
    const size_t end = past_opaque(text, at, line_start);
    string_view part = text.substr(at, end - at);
    const bool directive = line_start && part.starts_with('#');
    line_start = false;
    if (directive) {
      part.remove_prefix(1);
      if (is_setting(part)) return false;
      string_view rest = part;
      if (takes_word(rest, "include")) {
        const string_view name = rest.starts_with('<') ? rest.substr(1, rest.find('>') - 1) : string_view();
        if (begins) found |= is_of_libraries(name);
        // Another header may set what the libraries go by; the system's do not.
        begins &= found || (!name.empty() && name.find('/') == name.npos);
      } else if (!takes_word(rest, "pragma") && !takes_word(rest, "define")) {
        begins = false;
      }
    } else if (!part.starts_with("//") && !part.starts_with("/*")) {
      begins = false;
    }
    at = std::max(end, at + 1);
  }
  return found;
}

}  // namespace warpbeam::compiler
