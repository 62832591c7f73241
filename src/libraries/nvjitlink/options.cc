#include "libraries/nvjitlink/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace warpbeam::nvjitlink {

namespace {

// Options without effect here. Those that end in `=` need a value.
constexpr std::string_view kWithoutEffect[] = {
    "-maxrregcount=",
    "-time",
    "-kernels-used=",
    "-variables-used=",
    "-optimize-unused-variables",
    "-Xptxas=",
    "-Xnvvm=",
    "-split-compile=",
    "-split-compile-extended=",
    "-jump-table-density=",
    "-no-cache",
    "-device-stack-protector",
};

bool without_effect(std::string_view word) {
  return std::ranges::any_of(kWithoutEffect, [&](std::string_view known) {
    return known.ends_with('=') ? word.starts_with(known) && word.size() > known.size() : word == known;
  });
}

// `-ftz=true` and `-ftz=1`.
bool read_switch(std::string_view word, std::string_view name, bool* value) {
  if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=') return false;
  word.remove_prefix(name.size() + 1);
  *value = word == "1" || word == "true";
  return *value || word == "0" || word == "false";
}

// Options for what is compiled while linking.
bool read_code_option(std::string_view word, nvvm::Options* code) {
  if (word == "-O0" || word == "-O3") {
    code->optimize = word == "-O3";
    return true;
  }
  if (word == "-g") return code->debug = true;
  if (word == "-lineinfo") return code->line_info = true;
  return read_switch(word, "-ftz", &code->flush_denormals) || read_switch(word, "-prec-div", &code->exact_division) ||
         read_switch(word, "-prec-sqrt", &code->exact_sqrt) || read_switch(word, "-fma", &code->fuse);
}

// The number of "sm_90a" or "compute_90"; 0 for what has another form.
int number_of(std::string_view arch, std::string_view prefix) {
  if (!arch.starts_with(prefix)) return 0;
  arch.remove_prefix(prefix.size());
  int number = 0;
  auto [end, error] = std::from_chars(arch.begin(), arch.end(), number);
  const std::string_view suffix(end, arch.end());
  return error == std::errc() && (suffix.empty() || suffix == "a" || suffix == "f") ? number : 0;
}

nvJitLinkResult read_arch(std::string_view arch, Options* options, bool* is_virtual, std::string* log) {
  int number = number_of(arch, "sm_");
  *is_virtual = number == 0;
  for (std::string_view prefix : {"compute_", "lto_"})
    if (!number) number = number_of(arch, prefix);
  if (!number) {
    *log += fmt::format("-arch={}: the value must be sm_<number> or compute_<number>\n", arch);
    return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
  }
  if (const model::Device* row = model::find_compute_capability(number / 10, number % 10)) {
    options->code.arch = arch.substr(arch.find('_') + 1);
    options->target = *row;
    options->target->name = row->key;
    return NVJITLINK_SUCCESS;
  }
  *log += fmt::format("-arch={}: there is no such architecture\n", arch);
  return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
}

nvJitLinkResult incompatible(std::string_view message, std::string* log) {
  *log += fmt::format("{}\n", message);
  return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
}

}  // namespace

nvJitLinkResult read_options(std::span<const char* const> words, Options* options, std::string* log) {
  bool is_virtual = false;
  for (const std::string_view word : words) {
    constexpr std::string_view kArch = "-arch=";
    if (word.starts_with(kArch)) {
      const auto result = read_arch(word.substr(kArch.size()), options, &is_virtual, log);
      if (result != NVJITLINK_SUCCESS) return result;
    } else if (word == "-lto" || word == "-dlto") {
      options->lto = true;
    } else if (word == "-ptx") {
      options->ptx = true;
    } else if (word == "-verbose") {
      options->verbose = true;
    } else if (!read_code_option(word, &options->code) && !without_effect(word)) {
      *log += fmt::format("unrecognized option: {}\n", word);
      return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    }
  }
  if (!options->target) {
    *log += "-arch=sm_<number> is missing\n";
    return NVJITLINK_ERROR_MISSING_ARCH;
  }
  if (options->ptx && !options->lto) return incompatible("-ptx needs -lto", log);
  if (is_virtual && !options->ptx) return incompatible("a virtual architecture needs -ptx", log);
  return NVJITLINK_SUCCESS;
}

}  // namespace warpbeam::nvjitlink
