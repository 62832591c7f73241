// One mistake in the source is often several findings: in each instantiation of a template, in every kernel that a function is
// inlined into, in both orders of two accesses, and in every step of a warp-synchronous tail.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "findings/kinds.h"
#include "report/check_report.h"

namespace warpbeam::report {
namespace {

// `reduce` of `void reduce<512u>(int *)`.
std::string template_of(const std::string& kernel) {
  std::string name = kernel;
  static constexpr std::string_view kNowhere = "(anonymous namespace)::", kVoid = "void ";
  for (size_t at; (at = name.find(kNowhere)) != std::string::npos;) name.erase(at, kNowhere.size());
  if (name.starts_with(kVoid)) name.erase(0, kVoid.size());
  return name.substr(0, name.find_first_of("<("));
}

const std::string* fact(const CheckFinding& f, const char* name) {
  const auto it = f.facts.find(name);
  return it == f.facts.end() ? nullptr : &it->second;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += w + '|';
  return out;
}

// What is the same in findings of one mistake; empty: it stands alone.
std::string place_of(const CheckFinding& f) {
  if (f.kernel.empty() || f.locations.empty() || f.locations[0].empty()) return "";
  // A line of PTX that names no source is a place in this kernel's text, and another one in another text.
  const std::string text = f.locations[0].starts_with("PTX line ") ? f.kernel + '|' : "";
  // `*p += x` reads and writes in one line: whatever of it meets whatever of it, or of another line, is one mistake.
  if (fact(f, "accesses")) {
    std::vector<std::string> lines = f.locations;
    std::ranges::sort(lines);
    return "race|" + text + joined(lines);
  }
  return f.check == "race" ? "" : f.kind + '|' + text + joined(f.locations);
}

// How far apart the threads of a race are. What orders those furthest apart orders the others, too.
size_t distance_of(const CheckFinding& f) {
  static constexpr std::string_view kBetween[] = {"lanes", "warps", "blocks", "launches"};
  const std::string* between = fact(f, "between");
  return between ? static_cast<size_t>(std::ranges::find(kBetween, *between) - kBetween) : 0;
}

template <class T>
void add_once(std::vector<T>& to, const T& what) {
  if (std::ranges::find(to, what) == to.end()) to.push_back(what);
}

void take_in(CheckFinding& into, CheckFinding& other) {
  const auto lacks_value = [](const auto& line) { return line.text.ends_with("had no value yet"); };
  for (CheckFinding* f : {&into, &other}) {
    add_once(f->kinds, f->kind);
    add_once(f->kernels, f->kernel);
    if (const std::string* accesses = fact(*f, "accesses")) add_once(f->accesses, *accesses);
  }
  if (other.is_error != into.is_error ? other.is_error : distance_of(other) > distance_of(into)) std::swap(into, other);
  for (const auto& k : other.kinds) add_once(into.kinds, k);
  for (const auto& k : other.kernels) add_once(into.kernels, k);
  for (const auto& a : other.accesses) add_once(into.accesses, a);
  for (const auto& l : other.locations) {
    into.folded = into.folded || std::ranges::find(into.locations, l) == into.locations.end();
    add_once(into.locations, l);
  }
  for (const auto* callers : {&other.callers, &other.other_callers})
    for (const auto& place : *callers)
      if (std::ranges::find(into.callers, place) == into.callers.end()) add_once(into.other_callers, place);
  const auto unset = std::ranges::find_if(other.lines, lacks_value);
  if (unset != other.lines.end() && std::ranges::none_of(into.lines, lacks_value)) into.lines.push_back(*unset);
  into.count += other.count;
}

// Findings that have a word in common become one, where the first of them stands.
template <class Words>
void fold_by(std::vector<CheckFinding>& findings, Words&& words_of) {
  std::vector<size_t> group(findings.size());
  std::iota(group.begin(), group.end(), size_t{0});
  const auto first_of = [&](size_t k) {
    while (group[k] != k) k = group[k];
    return k;
  };
  std::map<std::string, size_t> known;
  for (size_t k = 0; k < findings.size(); ++k)
    for (const std::string& word : words_of(findings[k])) {
      const size_t a = first_of(known.try_emplace(word, k).first->second), b = first_of(k);
      group[std::max(a, b)] = std::min(a, b);
    }
  for (size_t k = 0; k < findings.size(); ++k)
    if (const size_t first = first_of(k); first != k) take_in(findings[first], findings[k]);
  size_t at = 0;
  std::erase_if(findings, [&](const auto&) {
    const size_t k = at++;
    return group[k] != k;
  });
}

}  // namespace

void CheckReport::fold() {
  using Words = std::vector<std::string>;
  fold_by(findings, [](const CheckFinding& f) {
    const std::string place = place_of(f);
    return place.empty() ? Words{} : Words{place};
  });
  // Steps of a tail without __syncwarp(): each of its lines races with those around it, and may read what nobody needs.
  fold_by(findings, [](const CheckFinding& f) {
    const std::string *variable = fact(f, "variable"), *accesses = fact(f, "accesses");
    if (f.is_error || !variable || (!accesses && f.kind != word(findings::Kind::UninitializedRead))) return Words{};
    Words words = f.accesses.empty() && accesses ? Words{*accesses} : f.accesses;
    for (const auto& kernel : f.kernels.empty() ? Words{f.kernel} : f.kernels)
      words.push_back(f.check + '|' + template_of(kernel) + '|' + variable->substr(0, variable->find_first_of("[+.")));
    return words;
  });
}

std::string CheckFinding::elsewhere() const {
  std::vector<std::pair<std::string, size_t>> templates;
  for (const auto& k : kernels) {
    const auto it = std::ranges::find(templates, template_of(k), &std::pair<std::string, size_t>::first);
    if (it != templates.end()) ++it->second;
    else templates.emplace_back(template_of(k), 1);
  }
  std::string out;
  constexpr size_t kMost = 4;
  size_t said = 0;
  for (const auto& [name, count] : templates) {
    const bool own = name == template_of(kernel);
    if (own && count == 1) continue;
    if (said++ == kMost) return out + " and elsewhere";
    out += out.empty() ? "also in " : ", ";
    if (own) out += fmt::format("{} other instantiation{} of {}", count - 1, count == 2 ? "" : "s", name);
    else out += count == 1 ? name : fmt::format("{} ({} instantiations)", name, count);
  }
  return out;
}

}  // namespace warpbeam::report
