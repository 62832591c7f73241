#include "compiler/ptx_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <vector>

namespace warpbeam::compiler {

namespace {

constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";

std::string_view next_line(std::string_view& text) {
  auto end = text.find('\n');
  auto line = text.substr(0, end);
  text = end == text.npos ? std::string_view{} : text.substr(end + 1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  auto begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view{} : text.substr(begin);
}

// The last name before an array bound, an initialiser, a parameter list or the end: what a declaration declares.
std::string_view declared_name(std::string_view line) {
  // A function's return parameter stands in parentheses before its name.
  if (auto function = line.find(".func"); function != line.npos) {
    line = trimmed(line.substr(function + 5));
    if (line.starts_with('(')) line = trimmed(line.substr(line.find(')') + 1));
    return line.substr(0, line.find_first_not_of(kNameCharacters));
  }
  line = line.substr(0, line.find_first_of("[=;("));
  while (!line.empty() && kNameCharacters.find(line.back()) == line.npos) line.remove_suffix(1);
  auto before = line.find_last_not_of(kNameCharacters);
  return before == line.npos ? line : line.substr(before + 1);
}

bool is_linkage(std::string_view line) { return line.starts_with(".visible") || line.starts_with(".weak") || line.starts_with(".common"); }

// Replaces whole names.
void replace_name(std::string& text, std::string_view name, const std::string& by) {
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at)) {
    bool starts = at == 0 || kNameCharacters.find(text[at - 1]) == kNameCharacters.npos;
    auto after = at + name.size();
    bool ends = after == text.size() || kNameCharacters.find(text[after]) == kNameCharacters.npos;
    if (starts && ends) {
      text.replace(at, name.size(), by);
      at += by.size();
    } else {
      at = after;
    }
  }
}

// Clang 19 defines a static variable that the host refers to as NAME__static__ID but lets kernels refer to NAME,
// which it declares external. They are the same variable.
void join_static_names(std::string& ptx) {
  std::map<std::string, std::string> unique;  // NAME -> NAME__static__ID
  std::vector<std::string> external_lines;
  std::string_view rest = ptx;
  while (!rest.empty()) {
    auto line = next_line(rest);
    if (is_linkage(line)) {
      std::string name(declared_name(line));
      if (auto at = name.find("__static__"); at != name.npos) unique[name.substr(0, at)] = name;
    } else if (line.starts_with(".extern")) {
      external_lines.emplace_back(line);
    }
  }
  for (const auto& line : external_lines) {
    auto found = unique.find(std::string(declared_name(line)));
    if (found == unique.end()) continue;
    if (auto at = ptx.find(line + "\n"); at != ptx.npos) ptx.erase(at, line.size() + 1);
    replace_name(ptx, found->first, found->second);
  }
}

// `ld.global.f32` without a cache operator gets one; volatile, non-coherent and ordered accesses have none.
void add_cache_operator(std::string& line, std::string_view instruction, const std::string& cache) {
  auto at = line.find(instruction);
  if (at == line.npos) return;
  auto tail = std::string_view(line).substr(at + instruction.size());
  auto operands = tail.find_first_of(" \t");
  auto modifiers = tail.substr(0, operands);
  std::vector<std::string_view> parts;
  for (auto part = modifiers; !part.empty();) {
    part.remove_prefix(1);
    auto dot = part.find('.');
    parts.push_back(part.substr(0, dot));
    part = dot == part.npos ? std::string_view{} : part.substr(dot);
  }
  if (parts.empty()) return;
  size_t place = at + instruction.size();
  static const std::set<std::string_view> spaces = {"shared", "local", "const", "param"};
  static const std::set<std::string_view> settled = {"volatile", "nc", "relaxed", "acquire", "release", "weak", "mmio",
                                                     "ca",       "cg", "cs",      "cv",      "lu",      "wb",   "wt"};
  for (auto part : parts)
    if (spaces.contains(part.substr(0, part.find(':'))) || settled.contains(part)) return;
  if (parts.front() == "global") place += std::string_view(".global").size();
  line.insert(place, "." + cache);
}

bool is_instruction(std::string_view line, std::string_view name) {
  auto text = trimmed(line);
  if (text.starts_with('@')) {
    auto blank = text.find_first_of(" \t");
    text = blank == text.npos ? std::string_view{} : trimmed(text.substr(blank));
  }
  return text.starts_with(name) && text.size() > name.size() && text[name.size()] == '.';
}

}  // namespace

void separate_static_kernels(std::string& ptx, const std::string& suffix) {
  constexpr std::string_view kEntry = ".entry ";
  std::set<std::string> names;
  std::string_view rest = ptx;
  while (!rest.empty()) {
    auto line = next_line(rest);
    if (!line.starts_with(kEntry)) continue;  // others have a linkage in front
    line.remove_prefix(kEntry.size());
    names.emplace(line.substr(0, line.find_first_of("( \t")));
  }
  for (const auto& name : names) replace_name(ptx, name, name + suffix);
}

std::optional<std::string> static_kernel_suffix(std::string_view host_object) {
  constexpr std::string_view kMark = "__intern__";
  const auto at = host_object.find(kMark);
  if (at == host_object.npos) return std::nullopt;
  const auto digits = host_object.substr(at + kMark.size());
  return std::string(kMark) + std::string(digits.substr(0, digits.find_first_not_of("0123456789abcdef")));
}

void adjust_ptx(std::string& ptx, const Options& options) {
  if (options.rdc && ptx.find("__static__") != ptx.npos) join_static_names(ptx);
  if (!options.max_registers && options.load_cache.empty() && options.store_cache.empty()) return;
  std::string changed;
  changed.reserve(ptx.size() + ptx.size() / 16);
  std::string_view rest = ptx;
  bool in_entry_head = false;
  bool has_bounds = false;
  while (!rest.empty()) {
    std::string line(next_line(rest));
    if (line.find(".entry ") != line.npos) in_entry_head = true, has_bounds = false;
    if (in_entry_head && (line.find(".maxntid") != line.npos || line.find(".minnctapersm") != line.npos ||
                          line.find(".maxnreg") != line.npos || line.find(".reqntid") != line.npos))
      has_bounds = true;
    if (line == ";") in_entry_head = false;  // that was a declaration
    if (in_entry_head && line == "{") {
      if (options.max_registers && !has_bounds) changed += fmt::format(".maxnreg {}\n", options.max_registers);
      in_entry_head = false;
    }
    if (!options.load_cache.empty() && is_instruction(line, "ld")) add_cache_operator(line, "ld", options.load_cache);
    if (!options.store_cache.empty() && is_instruction(line, "st")) add_cache_operator(line, "st", options.store_cache);
    changed += line;
    changed += '\n';
  }
  ptx = std::move(changed);
}

DeviceSymbols device_symbols(std::string_view ptx) {
  DeviceSymbols symbols;
  while (!ptx.empty()) {
    auto line = next_line(ptx);
    if (line.starts_with(".extern")) {
      // Dynamic shared memory is nobody's to define.
      if (line.find(".shared") == line.npos) symbols.undefined.emplace(declared_name(line));
    } else if (is_linkage(line)) {
      symbols.defined.emplace(declared_name(line));
    }
  }
  for (const auto& name : symbols.defined) symbols.undefined.erase(name);
  return symbols;
}

namespace {

// Bytes of a variable declaration: `.shared .align 4 .b8 name[1024];`, `.global .u32 x;`.
uint64_t declared_bytes(std::string_view line) {
  static const std::vector<std::pair<std::string_view, uint64_t>> types = {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}};
  uint64_t bytes = 0;
  for (std::string_view rest = line.substr(0, line.find_first_of("[=;")); !rest.empty();) {
    auto dot = rest.find('.');
    if (dot == rest.npos) break;
    rest = rest.substr(dot + 1);
    auto word = rest.substr(0, rest.find_first_of(" .\t"));
    if (word.empty() || std::string_view("busf").find(word[0]) == std::string_view::npos) continue;
    for (auto [digits, size] : types)
      if (word.substr(1) == digits) bytes = size;
  }
  auto rest = line.substr(0, line.find('='));
  for (auto open = rest.find('['); open != rest.npos; open = rest.find('[', open + 1)) {
    uint64_t count = 0;
    std::from_chars(rest.data() + open + 1, rest.data() + rest.size(), count);
    bytes *= count;
  }
  return bytes;
}

struct KernelUse {
  std::string name;
  uint64_t parameters = 0;
  uint64_t local = 0;
  uint64_t shared = 0;
  std::set<std::string> barriers;
  std::set<std::string> names;  // of shared variables of the module that the kernel mentions
};

struct ModuleUse {
  uint64_t global_bytes = 0, constant_bytes = 0;
  std::vector<KernelUse> kernels;
};

ModuleUse read_uses(std::string_view ptx) {
  std::map<std::string, uint64_t> shared_variables;  // of the module
  ModuleUse all;
  auto& [global_bytes, constant_bytes, kernels] = all;
  bool in_kernel = false;
  int depth = 0;
  while (!ptx.empty()) {
    auto line = next_line(ptx);
    auto text = trimmed(line.substr(0, line.find("//")));
    if (depth == 0) {
      if (text.find(".entry ") != text.npos) {
        in_kernel = true;
        auto name = trimmed(text.substr(text.find(".entry ") + 7));
        kernels.push_back({std::string(name.substr(0, name.find_first_not_of(kNameCharacters))), 0, 0, 0, {}, {}});
      } else if (in_kernel && text == ";") {
        kernels.pop_back();  // that was a declaration
        in_kernel = false;
      } else if (text.find(".func") != text.npos) {
        in_kernel = false;
      } else if (in_kernel && text.starts_with(".param")) {
        kernels.back().parameters += declared_bytes(text);
      } else if (!text.starts_with(".extern")) {
        bool constant = text.find(".const ") != text.npos;
        if (constant) constant_bytes += declared_bytes(text);
        else if (text.find(".global ") != text.npos) global_bytes += declared_bytes(text);
        else if (text.find(".shared ") != text.npos) shared_variables[std::string(declared_name(text))] = declared_bytes(text);
      }
    } else if (in_kernel) {
      KernelUse& use = kernels.back();
      if (text.starts_with(".local")) use.local += declared_bytes(text);
      else if (text.starts_with(".shared")) use.shared += declared_bytes(text);
      else if (is_instruction(text, "bar") || is_instruction(text, "barrier")) {
        auto operand = trimmed(text.substr(std::min(text.size(), text.find_first_of(" \t"))));
        use.barriers.emplace(operand.substr(0, operand.find_first_of(",;")));
      }
      for (const auto& [name, bytes] : shared_variables)
        if (text.find(name) != text.npos && use.names.insert(name).second) use.shared += bytes;
    }
    for (char c : text) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  return all;
}

// Of all shared variables, whoever uses them.
uint64_t all_shared_bytes(std::string_view ptx) {
  uint64_t bytes = 0;
  while (!ptx.empty()) {
    const auto line = trimmed(next_line(ptx));
    if (line.starts_with(".shared ") || (is_linkage(line) && line.find(" .shared ") != line.npos)) bytes += declared_bytes(line);
  }
  return bytes;
}

}  // namespace

std::string too_much_shared(std::string_view ptx, const CodeTarget& target) {
  const uint64_t most = target.arch.cc < 20 ? 16 * 1024 : 48 * 1024;
  std::string lines;
  if (all_shared_bytes(ptx) <= most) return lines;
  for (const auto& use : read_uses(ptx).kernels)
    if (use.shared > most)
      lines += fmt::format("ptxas error   : Entry function '{}' uses too much shared data ({:#x} bytes, {:#x} max)\n", use.name, use.shared,
                           most);
  return lines;
}

std::string resource_lines(std::string_view ptx, const CodeTarget& target) {
  const auto [global_bytes, constant_bytes, kernels] = read_uses(ptx);
  std::string lines = fmt::format("ptxas info    : {} bytes gmem", global_bytes);
  if (constant_bytes) lines += fmt::format(", {} bytes cmem[3]", constant_bytes);
  lines += '\n';
  for (const auto& use : kernels) {
    lines += fmt::format("ptxas info    : Compiling entry function '{}' for '{}'\n", use.name, target.arch.sm());
    lines += fmt::format("ptxas info    : Function properties for {}\n", use.name);
    lines += fmt::format("    {} bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", use.local);
    lines += fmt::format("ptxas info    : Used {} barriers", use.barriers.size());
    if (use.shared) lines += fmt::format(", {} bytes smem", use.shared);
    lines += fmt::format(", {} bytes parameters (PTX names no registers)\n", use.parameters);
  }
  return lines;
}

}  // namespace warpbeam::compiler
