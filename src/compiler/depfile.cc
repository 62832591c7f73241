#include "compiler/depfile.h"

#include "compiler/object_file.h"

namespace warpbeam::compiler {

std::vector<std::string> parse_depfile(std::string_view text) {
  std::vector<std::string> files;
  std::string word;
  bool in_target = true;
  auto finish = [&] {
    if (!word.empty() && !in_target) files.push_back(word);
    word.clear();
  };
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '\\' && next == '\n') {
      finish();
      ++at;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++at;
    } else if (c == ':' && in_target && (next == ' ' || next == '\n' || next == '\\')) {
      word.clear();
      in_target = false;
    } else if (c == ' ' || c == '\t') {
      finish();
    } else if (c == '\n') {
      finish();
      if (!in_target) break;
    } else {
      word += c;
    }
  }
  finish();
  return files;
}

std::vector<std::string> read_depfile(const std::string& path) {
  auto text = read_file(path);
  return text ? parse_depfile(*text) : std::vector<std::string>{};
}

}  // namespace warpbeam::compiler
