// Cutting option values into words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::compiler {

// At commas: lists of paths, macros and names, which may hold blanks.
std::vector<std::string> split_commas(std::string_view text);

// At commas and blanks: options for another tool. Quotes keep a word together; a backslash keeps the next character.
std::vector<std::string> split_words(std::string_view text);

// At blanks, as a shell would: options files.
std::vector<std::string> split_shell(std::string_view text);

// A word as a shell reads it back, in quotes where it needs them, and always.
std::string quote(std::string_view word);
std::string in_quotes(std::string_view word);

inline void append(std::vector<std::string>& to, const std::vector<std::string>& items) { to.insert(to.end(), items.begin(), items.end()); }

// NVIDIA's driver takes options from NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS as well: the words between those.
std::vector<std::string> with_environment_flags(const std::vector<std::string>& words);

}  // namespace warpbeam::compiler
