#include "compiler/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/cccl.h"
#include "compiler/collected_options.h"
#include "compiler/process.h"
#include "compiler/split.h"

namespace warpbeam::compiler {

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow> rows = {
#define OPTION(id, long_name, short_name, takes, value, group, state, help, how) \
  {OptionId::id, long_name, short_name, Takes::takes, value, Group::group, State::state, help, how},
#include "compiler/options.inc"
#undef OPTION
  };
  return rows;
}

const std::vector<PtxasRow>& ptxas_table() {
  static const std::vector<PtxasRow> rows = {
#define PTXAS(id, long_name, short_name, takes, state, how) {PtxasId::id, long_name, short_name, Takes::takes, State::state, how},
#include "compiler/ptxas_options.inc"
#undef PTXAS
  };
  return rows;
}

bool is_runtime_library(std::string_view name) {
  return name == "cudart" || name == "cudart_static" || name == "cudadevrt" || name == "cuda";
}

namespace {

// One option as it stood on the command line.
template <class Row>
struct Occurrence {
  const Row* row;
  std::string value;
};

// Names that take their value joined: -Ifoo, -DX=1, -lm, -O3, -t4.
constexpr std::string_view kJoined = "IDULlOt";

template <class Row>
const Row* find_row(const std::vector<Row>& table, std::string_view name) {
  for (const Row& row : table)
    if (name == row.long_name || name == row.short_name) return &row;
  return nullptr;
}

// Reads the option at `arguments[at]` and its value, moving `at` to its last word. An unknown option gives a null row.
template <class Row>
Result<Occurrence<Row>> read_option(const std::vector<Row>& table, const std::vector<std::string>& arguments, size_t& at) {
  const std::string& word = arguments[at];
  std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
  const Row* row = nullptr;
  std::string value;
  bool has_value = false;
  if (auto equals = name.find('='); equals != name.npos) {
    row = find_row(table, name.substr(0, equals));
    value = name.substr(equals + 1);
    has_value = row != nullptr;
  } else {
    row = find_row(table, name);
  }
  // The one-letter names: -DNAME=x reads as D with NAME=x, and -O3 as O with 3.
  if (!row && !word.starts_with("--") && name.size() > 1 && kJoined.find(name[0]) != kJoined.npos) {
    row = find_row(table, name.substr(0, 1));
    value = name.substr(1);
    has_value = row != nullptr;
  }
  if (!row) return Occurrence<Row>{nullptr, word};
  if (row->takes == Takes::Nothing) {
    if (has_value) return Error{1, fmt::format("option '{}' takes no value", word)};
    return Occurrence<Row>{row, ""};
  }
  if (!has_value) {
    if (at + 1 >= arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
    value = arguments[++at];
  }
  if (row->takes == Takes::Truth && value != "true" && value != "false")
    return Error{1, fmt::format("'{}': expected true or false after '{}'", value, word)};
  return Occurrence<Row>{row, value};
}

Result<Language> language_of(const std::string& path, const std::string& forced) {
  auto dot = path.rfind('.');
  auto slash = path.rfind('/');
  std::string extension = dot == path.npos || (slash != path.npos && dot < slash) ? "" : path.substr(dot + 1);
  if (extension == "o" || extension == "obj") return Language::Object;
  if (extension == "a" || extension == "lib") return Language::Archive;
  if (extension == "so" || path.find(".so.") != path.npos) return Language::SharedLibrary;
  if (forced == "cu") return Language::Cuda;
  if (forced == "c++") return Language::Cxx;
  if (forced == "c") return Language::C;
  if (extension == "cu" || extension == "cuh") return Language::Cuda;
  if (extension == "cpp" || extension == "cc" || extension == "cxx" || extension == "C" || extension == "c++" || extension == "CPP" ||
      extension == "ii")
    return Language::Cxx;
  if (extension == "c" || extension == "i") return Language::C;
  if (extension == "ptx") return Language::Ptx;
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return Error{1, fmt::format("'{}' is a directory", path)};
  for (const char* end : {".cu", "cu"})
    if (std::filesystem::is_regular_file(path + end, none))
      return Error{1, fmt::format("Don't know what to do with '{}'; did you mean '{}{}'?", path, path, end)};
  return Error{1, fmt::format("Don't know what to do with '{}': sources end in .cu .cpp .cc .cxx .c .ptx, "
                              "link inputs in .o .a .so; -x names another language",
                              path)};
}

Result<void> apply_ptxas(Options& o, const std::vector<std::string>& words) {
  for (size_t at = 0; at < words.size(); ++at) {
    if (!words[at].starts_with("-"))
      return Error{1, fmt::format("-Xptxas '{}': an option of the PTX assembler starts with '-'", words[at])};
    auto read = read_option(ptxas_table(), words, at);
    if (!read) return Error{1, "-Xptxas: " + read.error().message};
    const auto& [row, value] = *read;
    if (!row) return Error{1, fmt::format("-Xptxas: Unknown option '{}'", value)};
    if (row->state == State::Refused) return Error{1, fmt::format("-Xptxas {} is not supported: {}", words[at], row->how)};
    auto one_of = [&](std::string& field, std::vector<std::string_view> allowed) -> Result<void> {
      if (std::ranges::find(allowed, value) == allowed.end())
        return Error{1, fmt::format("-Xptxas -{}={}: allowed are {}", row->short_name, value, fmt::join(allowed, ", "))};
      field = value;
      return {};
    };
    switch (row->id) {
      case PtxasId::Verbose: o.resource_usage = true; break;
      case PtxasId::LoadCache: WB_TRY(one_of(o.load_cache, {"ca", "cg", "cs", "cv"})); break;
      case PtxasId::StoreCache: WB_TRY(one_of(o.store_cache, {"wb", "cg", "cs", "wt"})); break;
      case PtxasId::MaxRegisters: {
        auto number = read_number(value, "-Xptxas -maxrregcount");
        if (!number) return number.error();
        o.max_registers = *number;
        break;
      }
      default: break;
    }
  }
  return {};
}

std::string unknown_option(const std::string& word) {
  std::string text = fmt::format("Unknown option '{}'", word);
  static const std::vector<std::string_view> host_only = {"-W",    "-f",    "-pthread",  "-march", "-mavx",
                                                          "-msse", "-mfma", "-pedantic", "-ansi"};
  for (auto prefix : host_only)
    if (word.starts_with(prefix) && !word.starts_with("-Wl,"))
      return text + fmt::format("; an option of the host compiler is given as -Xcompiler {}", word);
  if (word.starts_with("-Wl,")) return text + fmt::format("; an option of the linker is given as -Xlinker {}", word.substr(4));
  std::vector<std::string_view> names;
  for (const auto& row : option_table()) {
    names.push_back(row.long_name);
    names.push_back(row.short_name);
  }
  std::string_view name = word;
  while (name.starts_with('-')) name.remove_prefix(1);
  if (auto near = nearest_name(name.substr(0, name.find('=')), names); !near.empty())
    text += fmt::format("; did you mean '{}{}'?", near.size() > 2 ? "--" : "-", near);
  return text;
}

constexpr size_t kLongestOptions = 1 << 20;  // of all options files together

// Replaces each @file and --options-file by the words of the file. `left`: characters that files may still have.
Result<std::vector<std::string>> expand_files(const std::vector<std::string>& arguments, size_t& left, int depth = 0) {
  if (depth > 8) return Error{1, "options files name each other without end"};
  std::vector<std::string> words;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string_view word = arguments[at];
    std::vector<std::string> files;
    bool by_name = word == "--options-file" || word == "-optf";
    if (by_name && at + 1 < arguments.size()) files = split_commas(arguments[++at]);
    else if (word.starts_with("--options-file=") || word.starts_with("-optf=")) files = split_commas(word.substr(word.find('=') + 1));
    else if (word.size() > 1 && word[0] == '@') files = {std::string(word.substr(1))};
    else words.emplace_back(word);
    for (const auto& file : files) {
      std::ifstream in(file);
      if (!in) return Error{1, fmt::format("cannot read the options file '{}'", file)};
      std::string text;
      for (char part[4096]; text.size() <= left && (in.read(part, sizeof part), in.gcount() > 0);)
        text.append(part, static_cast<size_t>(in.gcount()));
      if (text.size() > left) return Error{1, fmt::format("options files hold more than {} bytes, with '{}'", kLongestOptions, file)};
      left -= text.size();
      auto inner = expand_files(split_shell(text), left, depth + 1);
      if (!inner) return inner.error();
      append(words, *inner);
    }
  }
  return words;
}

Result<void> choose_targets(Collected& all, int default_cc) {
  Options& o = all.options;
  if (!all.gencode.empty() && all.arch.empty() && !all.code.empty())
    return Error{1, "-code needs -arch; with -gencode the code is part of it"};
  if (all.gencode.empty() || !all.arch.empty()) {
    auto targets = targets_of_arch(all.arch, all.code, default_cc);
    if (!targets) return targets.error();
    o.targets = *targets;
  }
  std::string newer;
  for (const auto& spec : all.gencode) {
    auto targets = targets_of_gencode(spec);
    if (!targets) return targets.error();
    if (targets->empty()) newer = spec;
    for (auto& target : *targets)
      if (std::ranges::find(o.targets, target) == o.targets.end()) o.targets.push_back(target);
  }
  if (o.targets.empty()) return Error{1, fmt::format("-gencode {}: newer than sm_90a, the newest that clang-19 compiles for", newer)};
  if (!newer.empty())
    o.warnings.push_back(fmt::format("-gencode {} is left out: newer than sm_90a, the newest that clang-19 compiles for", newer));
  return {};
}

// Makefiles name the directory of NVIDIA's headers, which cannot be mixed with ours.
void leave_out_vendor_headers(Options& o) {
  auto is_vendor = [](const std::string& directory) {
    std::error_code ignored;
    return std::filesystem::exists(directory + "/cuda_runtime.h", ignored) &&
           !std::filesystem::exists(directory + "/warpbeam/prelude.h", ignored);
  };
  std::vector<std::string> kept;
  for (size_t at = 0; at < o.preprocessor.size(); ++at) {
    const std::string& word = o.preprocessor[at];
    bool two_words = (word == "-isystem" || word == "-include") && at + 1 < o.preprocessor.size();
    std::string directory = word == "-isystem" && two_words ? o.preprocessor[at + 1] : word.starts_with("-I") ? word.substr(2) : "";
    if (!directory.empty() && is_vendor(directory)) {
      o.warnings.push_back(
          fmt::format("the include path '{}' is left out: it holds NVIDIA's headers, and Warpbeam has "
                      "its own",
                      directory));
    } else {
      kept.push_back(word);
      if (two_words) kept.push_back(o.preprocessor[at + 1]);
    }
    at += two_words;
  }
  o.preprocessor = std::move(kept);
}

}  // namespace

Result<int> read_number(std::string_view text, std::string_view option) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return Error{1, fmt::format("'{}': expected a number after '{}'", text, option)};
  return number;
}

std::string option_meant(std::string_view word, const std::vector<std::string_view>& own) {
  if (!word.starts_with("--")) return {};
  const std::string_view name = word.substr(2, word.find('=') - 2);
  if (find_row(option_table(), name) || std::ranges::find(own, name) != own.end()) return {};
  std::string near = nearest_name(name, own);
  return near.empty() ? near : fmt::format("Unknown option '{}'; did you mean '--{}'?", word, near);
}

bool shows_commands(const std::vector<std::string>& arguments) {
  for (size_t at = 0; at < arguments.size(); ++at) {
    if (arguments[at].size() < 2 || arguments[at][0] != '-') continue;
    auto read = read_option(option_table(), arguments, at);
    if (read && read->row && (read->row->id == OptionId::DryRun || read->row->id == OptionId::Verbose)) return true;
  }
  return false;
}

bool takes_next_word(const std::vector<std::string>& arguments, size_t at) {
  const size_t before = at;
  if (arguments[at].size() < 2 || arguments[at][0] != '-') return false;
  auto read = read_option(option_table(), arguments, at);
  return read && read->row && at > before;
}

Result<Options> parse_options(const std::vector<std::string>& arguments, int default_cc) {
  Collected all;
  size_t left = kLongestOptions;
  auto words = expand_files(arguments, left);
  if (!words) return words.error();
  std::vector<std::string> unknown;
  for (size_t at = 0; at < words->size(); ++at) {
    const std::string word = (*words)[at];
    if (word.size() < 2 || word[0] != '-') {
      all.paths.push_back(word);
      continue;
    }
    auto read = read_option(option_table(), *words, at);
    if (!read) return read.error();
    if (!read->row) {
      unknown.push_back(word);
      continue;
    }
    if (read->row->state == State::Refused) return Error{1, fmt::format("option '{}' is not supported: {}", word, read->row->how)};
    WB_TRY(apply(all, *read->row, read->value));
  }
  Options& o = all.options;
  for (const auto& word : unknown) {
    if (!all.forward_compiler && !all.forward_linker) return Error{1, unknown_option(word)};
    if (all.forward_compiler) o.host.push_back(word);
    else o.linker.push_back(word);
  }
  if (o.show_help || o.show_version || o.list_arch || o.list_code) return o;
  if (o.phase == Phase::Preprocess && o.dependencies.while_compiling)
    return Error{1, "-MD and -MMD are for compiling; with -E use -M or -MM"};
  if (!o.dependencies.file.empty() && !o.dependencies.while_compiling && o.phase != Phase::Dependencies)
    return Error{1, "-MF says where the dependencies go and needs one of -M, -MM, -MD and -MMD"};
  WB_TRY(apply_ptxas(o, all.ptxas));
  WB_TRY(choose_targets(all, default_cc));
  leave_out_vendor_headers(o);
  WB_TRY(use_cccl(o));
  for (const auto& path : all.paths) {
    if (path.starts_with("-l")) {
      o.inputs.push_back({path, Language::SharedLibrary});
      continue;
    }
    // `nvcc --run program`, through a shell: build systems ask so whether the compiler's programs run, and quote the name.
    const std::string bare = path.size() > 2 && path.front() == '"' && path.back() == '"' ? path.substr(1, path.size() - 2) : path;
    if (o.run && all.paths.size() == 1 && is_program(bare)) {
      o.program = bare;
      break;
    }
    auto language = language_of(path, all.language);
    if (!language) return language.error();
    o.inputs.push_back({path, *language});
  }
  return o;
}

}  // namespace warpbeam::compiler
