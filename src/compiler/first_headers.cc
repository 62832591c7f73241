#include "compiler/first_headers.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "compiler/object_file.h"
#include "compiler/source_scan.h"

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;
using std::string_view;

constexpr size_t kMostHeaders = 2000;

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

// What the directives of a text include, as written between quotes or angles.
std::vector<std::string> included(string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    string_view line = without_blanks(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    if (!takes_word(line, "include") || line.empty() || (line[0] != '<' && line[0] != '"')) continue;
    const size_t close = line.find(line[0] == '<' ? '>' : '"', 1);
    if (close != line.npos) names.emplace_back(line.substr(1, close - 1));
  }
  return names;
}

std::vector<fs::path> folders_of_program(const Options& options) {
  std::vector<fs::path> folders;
  for (const std::string& word : options.preprocessor)
    if (word.starts_with("-I")) folders.emplace_back(word.substr(2));
  return folders;
}

}  // namespace

bool asks_for_libraries(const Options& options) {
  const std::vector<fs::path> folders = folders_of_program(options);
  std::set<fs::path> seen;
  std::vector<fs::path> left;
  auto look_at = [&](const fs::path& file) {
    std::error_code ignored;
    const fs::path place = file.lexically_normal();
    if (seen.size() < kMostHeaders && fs::is_regular_file(place, ignored) && seen.insert(place).second) left.push_back(place);
  };
  for (const Input& input : options.inputs)
    if (input.language == Language::Cuda || input.language == Language::Cxx || input.language == Language::C) look_at(input.path);
  while (!left.empty()) {
    const fs::path file = left.back();
    left.pop_back();
    const auto text = read_file(file);
    if (!text) continue;
    for (const std::string& name : included(*text)) {
      if (is_of_libraries(name)) return true;
      look_at(file.parent_path() / name);
      for (const fs::path& folder : folders) look_at(folder / name);
    }
  }
  return false;
}

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
