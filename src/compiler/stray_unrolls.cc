#include "compiler/stray_unrolls.h"

#include <algorithm>
#include <vector>

#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

using std::string_view;

// What follows `unroll` or `nounroll`, if that is what a directive says.
std::optional<string_view> unroll_argument(string_view directive) {
  auto word = [&] {
    while (!directive.empty() && !is_name(directive[0])) directive.remove_prefix(1);
    size_t end = 0;
    while (end < directive.size() && is_name(directive[end])) ++end;
    string_view taken = directive.substr(0, end);
    directive.remove_prefix(end);
    return taken;
  };
  if (word() != "pragma") return std::nullopt;
  const string_view what = word();
  if (what != "unroll" && what != "nounroll") return std::nullopt;
  directive.remove_prefix(std::min(directive.find_first_not_of(" \t("), directive.size()));
  return directive;
}

// What begins a statement or a declaration that is certainly no loop.
bool is_no_loop(string_view rest) {
  if (rest.empty() || std::string_view("{};(*&+-").find(rest[0]) != string_view::npos) return true;
  constexpr string_view kWords[] = {"if",         "else",     "switch",       "return",       "int",      "unsigned",   "signed",
                                    "float",      "double",   "long",         "short",        "char",     "bool",       "auto",
                                    "const",      "volatile", "static",       "struct",       "template", "void",       "asm",
                                    "constexpr",  "extern",   "inline",       "typedef",      "register", "__shared__", "__global__",
                                    "__device__", "__host__", "__constant__", "__syncthreads"};
  size_t end = 0;
  while (end < rest.size() && is_name(rest[end])) ++end;
  return std::ranges::find(kWords, rest.substr(0, end)) != std::end(kWords);
}

// Of a preprocessed text: an attribute may stand before a loop.
bool may_begin_loop(string_view rest) {
  if (rest.starts_with("[[")) return true;
  constexpr string_view kWords[] = {"for", "while", "do", "__attribute__", "_Pragma", "__pragma", "__extension__"};
  size_t end = 0;
  while (end < rest.size() && is_name(rest[end])) ++end;
  return std::ranges::find(kWords, rest.substr(0, end)) != std::end(kWords);
}

std::optional<std::string> drop(string_view s, bool preprocessed) {
  if (s.find("unroll") == string_view::npos) return std::nullopt;
  std::optional<std::string> out;
  bool line_start = true;
  struct Pragma {
    size_t begin, end;
  };
  auto blank = [&](const Pragma& p) {
    if (!out) out = s;
    for (size_t k = p.begin; k < p.end; ++k)
      if (s[k] != '\n') (*out)[k] = ' ';
  };
  std::vector<Pragma> pending;  // they wait for what follows
  // Between #ifdef and #else each of them may be the only one.
  bool conditional = false;
  for (size_t i = 0; i < s.size();) {
    const size_t end = past_opaque(s, i, line_start);
    if (end != i) {
      if (s[i] == '#') {
        if (const auto argument = unroll_argument(s.substr(i, end - i)); !argument) {
          conditional = !preprocessed;
        } else if (argument->starts_with('-')) {
          blank({i, end});
        } else {
          if (!pending.empty() && !conditional) {  // the last one counts
            blank(pending.back());
            pending.pop_back();
          }
          pending.push_back({i, end});
          conditional = false;
        }
      } else if (s[i] != '/') {
        pending.clear();  // a literal: no loop, but nothing known
      }
      line_start = s[i] == '/' && line_start;
      i = end;
      continue;
    }
    if (s[i] == '\n') line_start = true;
    if (!std::isspace(static_cast<unsigned char>(s[i]))) {
      line_start = false;
      if (!pending.empty() && (preprocessed ? !may_begin_loop(s.substr(i)) : is_no_loop(s.substr(i))))
        for (const Pragma& p : pending) blank(p);
      pending.clear();
    }
    ++i;
  }
  return out;
}

}  // namespace

std::optional<std::string> drop_stray_unrolls(string_view text) { return drop(text, false); }
std::optional<std::string> drop_all_stray_unrolls(string_view preprocessed) { return drop(preprocessed, true); }

}  // namespace warpbeam::compiler
