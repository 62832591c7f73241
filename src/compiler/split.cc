#include "compiler/split.h"

#include <cstdlib>

namespace warpbeam::compiler {

namespace {

std::vector<std::string> split(std::string_view text, std::string_view separators, bool quoting) {
  std::vector<std::string> words;
  std::string word;
  bool started = false;
  char open = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (quoting && open != '\'' && c == '\\' && at + 1 < text.size()) {
      word += text[++at];
      started = true;
    } else if (open) {
      if (c == open) open = 0;
      else word += c;
    } else if (quoting && (c == '"' || c == '\'')) {
      open = c;
      started = true;
    } else if (separators.find(c) != separators.npos) {
      if (started) words.push_back(word);
      word.clear();
      started = false;
    } else {
      word += c;
      started = true;
    }
  }
  if (started) words.push_back(word);
  return words;
}

}  // namespace

std::vector<std::string> split_commas(std::string_view text) { return split(text, ",", false); }
std::vector<std::string> split_words(std::string_view text) { return split(text, ", \t\n", true); }
std::vector<std::string> split_shell(std::string_view text) { return split(text, " \t\r\n", true); }

std::string quote(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return std::string(word);
  return in_quotes(word);
}

std::string in_quotes(std::string_view word) {
  std::string text = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
    text += c;
  }
  return text + '"';
}

std::vector<std::string> with_environment_flags(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  if (const char* before = std::getenv("NVCC_PREPEND_FLAGS")) append(all, split_shell(before));
  append(all, words);
  if (const char* after = std::getenv("NVCC_APPEND_FLAGS")) append(all, split_shell(after));
  return all;
}

}  // namespace warpbeam::compiler
