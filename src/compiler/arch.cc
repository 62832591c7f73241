#include "compiler/arch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace warpbeam::compiler {

std::string Arch::sm() const { return fmt::format("sm_{}{}", cc, specific ? "a" : ""); }
std::string Arch::compute() const { return fmt::format("compute_{}{}", cc, specific ? "a" : ""); }

std::string CodeTarget::clang_arch() const { return arch.cc < 20 ? "sm_20" : arch.sm(); }

const std::vector<Arch>& known_archs() {
  static const std::vector<Arch> archs = {{10}, {11}, {12}, {13}, {20}, {21}, {30}, {32}, {35}, {37}, {50}, {52},      {53},
                                          {60}, {61}, {62}, {70}, {72}, {75}, {80}, {86}, {87}, {89}, {90}, {90, true}};
  return archs;
}

namespace {

// Splits "sm_90a" into 90 and "a". Fails for anything else.
bool split_arch(std::string_view text, int& cc, std::string_view& suffix) {
  auto underscore = text.find('_');
  if (underscore == text.npos) return false;
  auto prefix = text.substr(0, underscore);
  if (prefix != "sm" && prefix != "compute" && prefix != "lto") return false;
  auto digits = text.substr(underscore + 1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), cc);
  if (error != std::errc()) return false;
  suffix = digits.substr(end - digits.data());
  return suffix.empty() || suffix == "a" || suffix == "f";
}

void add_target(std::vector<CodeTarget>& targets, Arch arch) {
  CodeTarget target{arch};
  if (std::ranges::find(targets, target) == targets.end()) targets.push_back(target);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    auto comma = text.find(',');
    auto item = text.substr(0, comma);
    if (!item.empty()) items.emplace_back(item);
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
  }
  return items;
}

}  // namespace

bool is_newer_arch(std::string_view text) {
  int cc = 0;
  std::string_view suffix;
  return split_arch(text, cc, suffix) && cc > kNewestCc;
}

Result<Arch> parse_arch(std::string_view text) {
  int cc = 0;
  std::string_view suffix;
  if (split_arch(text, cc, suffix)) {
    Arch arch{cc, suffix == "a"};
    if (suffix != "f" && std::ranges::find(known_archs(), arch) != known_archs().end()) return arch;
    if (cc > kNewestCc) return Error{1, fmt::format("architecture '{}' is newer than sm_90a, the newest that clang-19 compiles for", text)};
  }
  return Error{1, fmt::format("unknown architecture '{}'; sm_10 to sm_90a are known (--list-gpu-code)", text)};
}

Result<std::vector<CodeTarget>> targets_of_arch(std::string_view arch, const std::vector<std::string>& code, int default_cc) {
  std::vector<CodeTarget> targets;
  if (arch == "native" || (arch.empty() && code.empty())) {
    add_target(targets, Arch{default_cc});
    return targets;
  }
  if (arch == "all" || arch == "all-major") {
    // The first architecture of each major version from 5.0 on; `all` has the later ones too.
    for (Arch known : known_archs())
      if (known.cc >= 50 && !known.specific && (arch == "all" || known.cc % 10 == 0)) add_target(targets, known);
    return targets;
  }
  // The virtual architecture decides what is compiled; -code alone lets the code decide.
  if (!arch.empty()) {
    auto parsed = parse_arch(arch);
    if (!parsed) return parsed.error();
    add_target(targets, *parsed);
  }
  for (const auto& item : code) {
    auto parsed = parse_arch(item);
    if (!parsed) return parsed.error();
    if (arch.empty()) add_target(targets, *parsed);
    if (!arch.empty() && parsed->cc < targets.front().arch.cc) return Error{1, fmt::format("-code={} is older than -arch={}", item, arch)};
  }
  return targets;
}

Result<std::vector<CodeTarget>> targets_of_gencode(std::string_view spec) {
  // The value of code= may itself hold commas: code=[sm_70,sm_75], code=\"sm_70,sm_75\".
  std::string text;
  for (char c : spec)
    if (c != '[' && c != ']' && c != '"' && c != '\\' && c != ' ') text += c;
  auto arch_at = text.find("arch=");
  if (text.starts_with("code=") && arch_at != text.npos) {
    text = text.substr(arch_at) + "," + text.substr(0, arch_at);
    arch_at = 0;
  }
  auto code_at = text.find("code=");
  if (arch_at != 0) return Error{1, fmt::format("-gencode '{}' needs the form arch=compute_NN,code=sm_NN", spec)};
  std::string arch = text.substr(5, code_at == text.npos ? text.npos : code_at - 5);
  while (!arch.empty() && arch.back() == ',') arch.pop_back();
  std::vector<std::string> code;
  if (code_at != text.npos) code = split_list(std::string_view(text).substr(code_at + 5));
  if (is_newer_arch(arch)) return std::vector<CodeTarget>{};
  std::erase_if(code, [](const std::string& item) { return is_newer_arch(item); });
  return targets_of_arch(arch, code, 0);
}

}  // namespace warpbeam::compiler
