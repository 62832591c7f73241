#include "compiler/cluster_bounds.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

using std::string_view;

struct Attribute {
  size_t begin, end;  // from its name to the closing bracket
  std::vector<string_view> arguments;
};

// The attribute whose name ends at i; nothing if no bracket follows.
std::optional<Attribute> read_attribute(string_view s, size_t begin, size_t i) {
  while (i < s.size() && std::isspace(static_cast<unsigned char>(s[i]))) ++i;
  if (i >= s.size() || s[i] != '(') return std::nullopt;
  Attribute a{begin, 0, {}};
  int round = 0, angle = 0;
  size_t from = i + 1;
  for (; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '(') ++round;
    if (round == 1 && c == '<') ++angle;
    if (round == 1 && c == '>') angle = std::max(0, angle - 1);
    const bool last = c == ')' && --round == 0;
    if (!last && !(c == ',' && round == 1 && angle == 0)) continue;
    a.arguments.push_back(s.substr(from, i - from));
    from = i + 1;
    if (!last) continue;
    a.end = i + 1;
    return a;
  }
  return std::nullopt;
}

// `((a), (b), (1))`: at least `count` arguments.
std::string list(const Attribute& a, size_t count) {
  std::string text = "(";
  for (size_t k = 0; k < std::max(count, a.arguments.size()); ++k) {
    if (k) text += ", ";
    text += k < a.arguments.size() ? "(" + std::string(a.arguments[k]) + ")" : "(1)";
  }
  return text + ")";
}

}  // namespace

std::optional<std::string> join_cluster_bounds(string_view s) {
  if (s.find("__cluster_dims__") == string_view::npos || s.find("__launch_bounds__") == string_view::npos) return std::nullopt;
  std::vector<std::pair<Attribute, std::string>> changes;
  std::optional<Attribute> bounds, cluster;  // of this declaration
  bool line_start = true;
  for (size_t i = 0; i < s.size();) {
    if (const size_t end = past_opaque(s, i, line_start); end != i) {
      i = end;
      line_start = false;
      continue;
    }
    if (s[i] == '\n') line_start = true;
    else if (!std::isspace(static_cast<unsigned char>(s[i]))) line_start = false;
    if (s[i] == ';' || s[i] == '{' || s[i] == '}') bounds.reset(), cluster.reset();
    if (!is_name(s[i])) {
      ++i;
      continue;
    }
    const size_t begin = i;
    while (i < s.size() && is_name(s[i])) ++i;
    const string_view name = s.substr(begin, i - begin);
    if (name != "__launch_bounds__" && name != "__cluster_dims__") continue;
    auto attribute = read_attribute(s, begin, i);
    if (!attribute) continue;
    i = attribute->end;
    (name == "__launch_bounds__" ? bounds : cluster) = std::move(attribute);
    if (!bounds || !cluster) continue;
    changes.emplace_back(*bounds, "__warpbeam_clustered_bounds__(" + list(*bounds, 2) + ", " + list(*cluster, 3) + ")");
    changes.emplace_back(*cluster, "");
    bounds.reset(), cluster.reset();
  }
  if (changes.empty()) return std::nullopt;
  std::ranges::sort(changes, {}, [](const auto& change) { return change.first.begin; });
  std::string out;
  size_t copied = 0;
  for (const auto& [attribute, text] : changes) {
    const string_view old = s.substr(attribute.begin, attribute.end - attribute.begin);
    out.append(s, copied, attribute.begin - copied).append(text);
    // A break inside the argument list is kept in the new text's place.
    auto breaks = std::ranges::count(old, '\n') - std::ranges::count(text, '\n');
    if (breaks > 0) out.append(static_cast<size_t>(breaks), '\n');
    copied = attribute.end;
  }
  return out.append(s, copied);
}

}  // namespace warpbeam::compiler
