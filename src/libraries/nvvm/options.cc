#include "libraries/nvvm/options.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

namespace warpbeam::nvvm {

namespace {

bool is_arch(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  const std::string_view suffix = text.substr(digits);
  return digits >= 2 && digits <= 3 && (suffix.empty() || suffix == "a" || suffix == "f");
}

// `-name=0` and `-name=1`.
bool read_switch(std::string_view word, std::string_view name, bool* value) {
  if (word.size() != name.size() + 2 || !word.starts_with(name) || word[name.size()] != '=') return false;
  const char digit = word.back();
  if (digit != '0' && digit != '1') return false;
  *value = digit == '1';
  return true;
}

bool read_option(std::string_view word, Options* options) {
  if (word.starts_with("-arch=compute_") || word.starts_with("-arch=lto_")) {
    const std::string_view arch = word.substr(word.find('_') + 1);
    options->arch = arch;
    return is_arch(arch);
  }
  if (word == "-g") return options->debug = true;
  if (word == "-generate-line-info") return options->line_info = true;
  if (word == "-gen-lto") return options->bitcode = true;
  if (word == "-opt=0" || word == "-opt=3") {
    options->optimize = word.back() == '3';
    return true;
  }
  // How long compiling takes, and a protection that is off.
  for (std::string_view without_effect : {"-device-stack-protector=0", "-split-compile"})
    if (word.starts_with(without_effect)) return true;
  return read_switch(word, "-ftz", &options->flush_denormals) || read_switch(word, "-prec-sqrt", &options->exact_sqrt) ||
         read_switch(word, "-prec-div", &options->exact_division) || read_switch(word, "-fma", &options->fuse);
}

}  // namespace

bool read_options(const char* const* words, int count, Options* options, std::string* log) {
  bool fine = true;
  for (int i = 0; i < count; ++i) {
    const std::string_view word = words[i] ? words[i] : "";
    if (read_option(word, options)) continue;
    *log += fmt::format("libnvvm : error: {} is an unsupported option\n", word);
    fine = false;
  }
  return fine;
}

}  // namespace warpbeam::nvvm
