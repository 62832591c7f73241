#include "observe/check/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/demangle.h"

namespace warpbeam::observe::check {

namespace {

// The compiler takes structures and arrays apart of which only certain places are used: `tile_$_0`, `tile_$_1`.
std::string_view without_part(std::string_view name) {
  const size_t at = name.rfind("_$_");
  return at == std::string_view::npos || name.find_first_not_of("0123456789", at + 3) != std::string_view::npos ? name : name.substr(0, at);
}

// Variables of functions are told apart by a number that the parser adds.
std::string_view without_number(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.find_first_not_of("0123456789", dot + 1) != std::string_view::npos) return name;
  return name.substr(0, dot);
}

}  // namespace

std::string plain_name(std::string_view mangled) {
  mangled = without_part(without_number(mangled));
  if (!mangled.starts_with("_Z")) return std::string(mangled);  // `s` alone would be taken for the type short
  const std::string name = demangled(std::string(mangled));
  // `kernel(int*)::tile` -> `tile`; colons inside parentheses and angle brackets belong to parameters.
  int depth = 0;
  for (size_t k = name.size(); k-- > 0;) {
    if (name[k] == ')' || name[k] == '>') ++depth;
    if (name[k] == '(' || name[k] == '<') --depth;
    if (depth == 0 && name[k] == ':') return name.substr(k + 1);
  }
  return name;
}

void Shapes::read(const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name, part;
    if (line.starts_with("~")) {
      read_gaps(line.substr(1));
      continue;
    }
    if (line.starts_with("^")) {
      const size_t end = line.find(';');
      if (end != line.npos)
        last_returns_[line.substr(1, end - 1)] = static_cast<uint32_t>(std::strtoul(line.c_str() + end + 1, nullptr, 10));
      continue;
    }
    if (!std::getline(words, name, ';') || !std::getline(words, part, ';')) continue;
    Shape s;
    s.element = static_cast<uint32_t>(std::strtoul(part.c_str(), nullptr, 10));
    while (std::getline(words, part, ';')) s.dimensions.push_back(std::strtoull(part.c_str(), nullptr, 10));
    if (s.element) shapes_[name] = std::move(s);
  }
}

void Shapes::read_gaps(const std::string& line) {
  std::istringstream words(line);
  std::string kernel, part;
  if (!std::getline(words, kernel, ';') || !std::getline(words, part, ';')) return;
  Gaps g;
  g.bytes = std::strtoull(part.c_str(), nullptr, 10);
  g.is_gap.resize(g.bytes);
  while (std::getline(words, part, ';')) {
    char* dash = nullptr;
    const uint64_t from = std::strtoull(part.c_str(), &dash, 10), to = *dash ? std::strtoull(dash + 1, nullptr, 10) : 0;
    for (uint64_t k = from; k < std::min(to, g.bytes); ++k) g.is_gap[k] = true;
  }
  if (g.bytes) gaps_.emplace(std::move(kernel), std::move(g));
}

std::vector<Gaps> Shapes::gaps(const std::string& kernel) const {
  std::vector<Gaps> all;
  for (auto [it, end] = gaps_.equal_range(kernel); it != end; ++it) all.push_back(it->second);
  return all;
}

const Shape* Shapes::find(std::string_view name) const {
  auto it = shapes_.find(std::string(without_number(name)));
  return it == shapes_.end() ? nullptr : &it->second;
}

std::string Shapes::place(std::string_view name, uint64_t offset) const {
  const std::string plain = plain_name(name);
  if (const std::string_view whole = without_number(name); without_part(whole) != whole) return plain;  // which place it is, nobody knows
  const Shape* s = find(name);
  if (!s) return fmt::format("{}+{:#x}", plain, offset);
  uint64_t element = offset / s->element;
  std::string indices;
  for (size_t k = s->dimensions.size(); k-- > 1;) {
    const uint64_t n = s->dimensions[k] ? s->dimensions[k] : 1;
    indices = fmt::format("[{}]", element % n) + indices;
    element /= n;
  }
  if (!s->dimensions.empty()) indices = fmt::format("[{}]", element) + indices;
  const uint64_t rest = offset % s->element;
  return plain + indices + (rest ? fmt::format("+{}", rest) : "");
}

}  // namespace warpbeam::observe::check
