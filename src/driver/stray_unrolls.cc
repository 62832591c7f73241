#include "driver/stray_unrolls.h"

#include <algorithm>

#include "driver/source_scan.h"

namespace warpbeam::driver {
namespace {

using std::string_view;

bool is_unroll(string_view directive) {
  auto word = [&] {
    while (!directive.empty() && !is_name(directive[0])) directive.remove_prefix(1);
    size_t end = 0;
    while (end < directive.size() && is_name(directive[end])) ++end;
    string_view taken = directive.substr(0, end);
    directive.remove_prefix(end);
    return taken;
  };
  if (word() != "pragma") return false;
  const string_view what = word();
  return what == "unroll" || what == "nounroll";
}

// What begins a statement or a declaration that is certainly no loop.
bool is_no_loop(string_view rest) {
  if (rest.empty() || std::string_view("{};(*&+-").find(rest[0]) != string_view::npos) return true;
  constexpr string_view kWords[] = {
      "if",      "else",     "switch",     "return",     "int",        "unsigned",  "signed",       "float",
      "double",  "long",     "short",      "char",       "bool",       "auto",      "const",        "volatile",
      "static",  "struct",   "template",   "void",       "asm",        "constexpr", "extern",       "inline",
      "typedef", "register", "__shared__", "__global__", "__device__", "__host__",  "__constant__", "__syncthreads"};
  size_t end = 0;
  while (end < rest.size() && is_name(rest[end])) ++end;
  return std::ranges::find(kWords, rest.substr(0, end)) != std::end(kWords);
}

}  // namespace

std::optional<std::string> drop_stray_unrolls(string_view s) {
  if (s.find("unroll") == string_view::npos) return std::nullopt;
  std::optional<std::string> out;
  bool line_start = true;
  size_t pending = string_view::npos, pending_end = 0;  // a pragma that waits for what follows
  for (size_t i = 0; i < s.size();) {
    const size_t end = past_opaque(s, i, line_start);
    if (end != i) {
      if (s[i] == '#' && is_unroll(s.substr(i, end - i))) pending = i, pending_end = end;
      if (s[i] != '#' && s[i] != '/') pending = string_view::npos;  // a literal: no loop, but nothing known
      line_start = s[i] == '/' && line_start;
      i = end;
      continue;
    }
    if (s[i] == '\n') line_start = true;
    if (!std::isspace(static_cast<unsigned char>(s[i]))) {
      line_start = false;
      if (pending != string_view::npos && is_no_loop(s.substr(i))) {
        if (!out) out = s;
        for (size_t k = pending; k < pending_end; ++k)
          if (s[k] != '\n') (*out)[k] = ' ';
      }
      pending = string_view::npos;
    }
    ++i;
  }
  return out;
}

}  // namespace warpbeam::driver
