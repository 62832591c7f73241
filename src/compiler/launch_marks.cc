#include "compiler/launch_marks.h"

#include <vector>

#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

using std::string_view;

size_t past_blanks(string_view s, size_t i) {
  while (i < s.size() && (s[i] == ' ' || s[i] == '\t')) ++i;
  return i;
}

// The end of three marks that begin at i, the last perhaps apart; 0 if they are something else.
size_t past_marks(string_view s, size_t i, char mark) {
  if (i + 1 >= s.size() || s[i] != mark || s[i + 1] != mark) return 0;
  const size_t third = past_blanks(s, i + 2);
  return third < s.size() && s[third] == mark ? third + 1 : 0;
}

bool after_operator(string_view s, size_t i) {
  while (i > 0 && (s[i - 1] == ' ' || s[i - 1] == '\t')) --i;
  return s.substr(0, i).ends_with("operator");
}

// Where the marks that close a configuration begin; 0 if what begins at i is none.
size_t find_close(string_view s, size_t i) {
  int depth = 0;
  while (i < s.size()) {
    if (const size_t end = past_opaque(s, i, false); end != i) {
      i = end;
      continue;
    }
    const char c = s[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth < 0) return 0;
    if (c == ';' && depth == 0) return 0;
    if (depth == 0)
      if (size_t end = past_marks(s, i, '>')) {
        while (end < s.size() && std::isspace(static_cast<unsigned char>(s[end]))) ++end;
        if (end < s.size() && s[end] == '(') return i;
      }
    ++i;
  }
  return 0;
}

// Where the grid's and the block's braces begin in the configuration [i, end), written without their type.
std::vector<size_t> bare_braces(string_view s, size_t i, size_t end) {
  std::vector<size_t> found;
  int depth = 0, argument = 0;
  bool first = true;  // in its argument
  while (i < end && argument < 2) {
    if (const size_t past = past_opaque(s, i, false); past != i) {
      i = past;
      continue;
    }
    const char c = s[i];
    if (c == '{' && depth == 0 && first) found.push_back(i);
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (!std::isspace(static_cast<unsigned char>(c))) first = false;
    if (c == ',' && depth == 0) ++argument, first = true;
    ++i;
  }
  return found;
}

}  // namespace

std::optional<std::string> join_launch_marks(string_view s) {
  std::optional<std::string> out;
  auto join = [&](size_t begin, size_t end, char mark) {
    if (end - begin == 3) return;
    if (!out) out = s;
    (*out)[end - 1] = ' ';
    (*out)[begin + 2] = mark;
  };
  std::vector<size_t> braces;
  bool line_start = true;
  for (size_t i = 0; i < s.size();) {
    if (const size_t end = past_opaque(s, i, line_start); end != i) {
      i = end;
      line_start = false;
      continue;
    }
    if (s[i] == '\n') line_start = true;
    else if (!std::isspace(static_cast<unsigned char>(s[i]))) line_start = false;
    const size_t open = past_marks(s, i, '<');
    if (!open || after_operator(s, i)) {
      ++i;
      continue;
    }
    if (const size_t close = find_close(s, open)) {
      join(i, open, '<');
      join(close, past_marks(s, close, '>'), '>');
      const auto more = bare_braces(s, open, close);
      braces.insert(braces.end(), more.begin(), more.end());
    }
    i = open;
  }
  if (!braces.empty() && !out) out = s;
  for (auto at = braces.rbegin(); at != braces.rend(); ++at) out->insert(*at, "dim3");
  return out;
}

}  // namespace warpbeam::compiler
