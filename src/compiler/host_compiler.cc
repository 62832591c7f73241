#include "compiler/host_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "compiler/process.h"

namespace warpbeam::compiler {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The program's words on a line that it prints, with `"` and `'` gone; nothing where it fails.
std::optional<std::string> answer(const std::string& program, const std::string& arguments) {
  Command question{{program}, "", 0, {}, true};
  for (std::string& word : words_of(arguments)) question.words.push_back(std::move(word));
  Outcome outcome = run_commands({&question, 1}, 1)[0];
  if (outcome.status != 0) return std::nullopt;
  std::erase_if(outcome.messages, [](char c) { return c == '"' || c == '\''; });
  return std::move(outcome.messages);
}

// Sorts words of a compiler's command line; those that say nothing here are left out.
void sort_in(const Words& words, WrapperFlags& flags) {
  constexpr std::string_view kTwo[] = {"-I", "-D", "-U", "-L", "-isystem", "-include", "-l"};
  for (size_t at = 0; at < words.size(); ++at) {
    Words flag = {words[at]};
    if (std::ranges::find(kTwo, words[at]) != std::end(kTwo) && at + 1 < words.size()) flag.push_back(words[++at]);
    const auto begins = [&](std::string_view with) { return flag[0].starts_with(with); };
    Words* to = nullptr;
    if (begins("-I") || begins("-D") || begins("-U") || begins("-isystem") || begins("-include")) to = &flags.preprocessor;
    else if (begins("-L") || begins("-l") || begins("-Wl,")) to = &flags.linker;
    else if (begins("-pthread") || begins("-fopenmp")) to = &flags.host;
    if (to) to->insert(to->end(), flag.begin(), flag.end());
  }
}

// What `words` has more than `plain`.
Words added(Words words, const Words& plain) {
  std::erase_if(words, [&](const std::string& word) { return std::ranges::find(plain, word) != plain.end(); });
  return words;
}

// Any other wrapper shows, with -###, the command of the compiler that it calls: what that compiler would not do by itself is its own.
std::optional<WrapperFlags> flags_of_any(const std::string& path) {
  const auto version = answer(path, "--version");
  if (!version) return std::nullopt;
  const std::string compiler = version->find("clang") != std::string::npos ? "clang++-19" : "g++";
  if (compiler == "g++" && version->find("g++") == std::string::npos && version->find("gcc") == std::string::npos &&
      version->find("GCC") == std::string::npos)
    return std::nullopt;
  const auto shown = [&](const char* step) -> std::optional<WrapperFlags> {
    const auto said = answer(path, step);
    if (!said) return std::nullopt;
    WrapperFlags flags;
    // Where there is no such compiler, all that is said is taken: it only repeats what clang does.
    sort_in(added(words_of(*said), words_of(answer(compiler, step).value_or(""))), flags);
    return flags;
  };
  auto compile = shown("-### -c -x c++ /dev/null");
  const auto link = shown("-### -x none /dev/null");
  if (!compile || !link) return std::nullopt;
  compile->linker = link->linker;
  return compile;
}

}  // namespace

bool is_replaceable_compiler(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return true;
  std::string name = std::filesystem::path(path).filename();
  if (name.starts_with("x86_64-linux-gnu-")) name = name.substr(17);
  name = name.substr(0, name.find_last_not_of("0123456789.-") + 1);
  return name == "gcc" || name == "g++" || name == "clang" || name == "clang++" || name == "cc" || name == "c++";
}

Result<WrapperFlags> flags_of_wrapper(const std::string& path) {
  std::error_code ignored;
  const bool there = path.find('/') == path.npos ? !find_program(path).empty() : std::filesystem::exists(path, ignored);
  if (!there) return Error{1, fmt::format("-ccbin '{}': there is no such program", path)};
  WrapperFlags flags;
  struct Question {
    const char *compile, *link;
  };
  for (const Question& q :
       {Question{"--showme:compile", "--showme:link"}, {"-show", nullptr}, {"--cray-print-opts=cflags", "--cray-print-opts=libs"}}) {
    const auto compile = answer(path, q.compile), link = q.link ? answer(path, q.link) : std::string();
    if (!compile || !link || compile->find(q.compile) != std::string::npos) continue;  // which echo would answer
    const Words words = words_of(*compile);
    if (words.empty() || (!q.link && !is_replaceable_compiler(words[0]))) continue;
    sort_in(words, flags);
    sort_in(words_of(*link), flags);
    return flags;
  }
  if (auto any = flags_of_any(path)) return *any;
  return Error{
      1, fmt::format(
             "-ccbin '{}': host code is compiled by clang-19, which can stand in for gcc, g++, clang and clang++ and for what calls them",
             path)};
}

}  // namespace warpbeam::compiler
