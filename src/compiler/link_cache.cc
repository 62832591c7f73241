#include "compiler/link_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/cached_program.h"
#include "compiler/compile_cache.h"
#include "compiler/object_file.h"
#include "compiler/split.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kName = "linker";
// Where clang looks for the linker and for libraries, beside what options say.
constexpr const char* kVariables[] = {
    "PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS", "CLANG_NO_DEFAULT_CONFIG"};
// With these a link is more than one command, or clang writes files of its own for it.
constexpr std::string_view kMore[] = {"-flto", "-B", "-v", "-###", "-save-temps", "--save-temps", "-fopenmp-targets", "--offload"};
constexpr char kMark = '\1';

// The words with a mark in the place of each file's name. What a file is, its name tells clang.
Words marked(const Words& words, const Words& files) {
  Words all = words;
  for (std::string& word : all)
    for (size_t k = 0; k < files.size(); ++k) {
      const bool whole = word == files[k];
      if (!whole && !word.ends_with("=" + files[k])) continue;
      word.resize(word.size() - files[k].size());
      word += kMark + std::to_string(k) + kMark + fs::path(files[k]).extension().string();
      break;
    }
  return all;
}

Words filled(Words words, const Words& files) {
  for (std::string& word : words) {
    const size_t mark = word.find(kMark);
    if (mark != word.npos) word = word.substr(0, mark) + files[std::stoul(word.substr(mark + 1))];
  }
  return words;
}

Words marks_in(const Words& words) {
  Words all;
  for (const std::string& word : words)
    if (const size_t mark = word.find(kMark); mark != word.npos) all.push_back(word.substr(mark));
  std::ranges::sort(all);
  return all;
}

// Nothing where the words are not all that decides about the linker's.
bool is_plain(const Command& link) {
  for (size_t k = 1; k < link.words.size(); ++k) {
    const std::string& word = link.words[k];
    if (word.starts_with("@") || word.find_first_of("\1\n") != word.npos) return false;
    if (std::ranges::any_of(kMore, [&](std::string_view more) { return word.starts_with(more); })) return false;
  }
  return true;
}

std::string key_of(const Words& words) {
  Hasher hash;
  hash.add("link");
  hash.add(file_identity(find_program(words[0])));
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    hash.add(value ? value : "");
  }
  for (const auto& word : words) hash.add(word);
  return hash.hex();
}

// A command as `clang -###` prints it: each word between quotation marks, with a backslash before some characters.
std::optional<Words> read_command(std::string_view line) {
  Words words;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == ' ') continue;
    if (line[at] != '"') return std::nullopt;
    std::string word;
    for (++at; at < line.size() && line[at] != '"'; ++at) {
      if (line[at] == '\\' && at + 1 < line.size()) ++at;
      word += line[at];
    }
    if (at == line.size()) return std::nullopt;
    words.push_back(std::move(word));
  }
  return words;
}

// The linker's words, marked, if clang would do nothing but start it.
std::optional<Words> ask_clang(const Command& link) {
  Command question{link.words, "", 0, {}};
  question.words.insert(question.words.begin() + 1, "-###");
  const Outcome answer = run_commands({&question, 1}, 1)[0];
  if (answer.status != 0) return std::nullopt;
  std::optional<Words> linker;
  for (std::string_view rest = answer.messages; !rest.empty();) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (!line.starts_with(" \"")) {
      if (line.find("warning:") != line.npos) return std::nullopt;
      continue;
    }
    if (linker) return std::nullopt;
    linker = read_command(line);
    if (!linker) return std::nullopt;
  }
  if (!linker || linker->empty() || (*linker)[0][0] != '/') return std::nullopt;
  for (const std::string& word : *linker)
    if (word.starts_with("@") || word.find_first_of("\1\n") != word.npos) return std::nullopt;
  *linker = marked(*linker, link.varying);
  // Each file where it was in clang's words, and nowhere else: a name may be a word of the linker's, too.
  if (marks_in(*linker) != marks_in(marked(link.words, link.varying))) return std::nullopt;
  return linker;
}

// Kept with the files that it names: the linker, and what clang adds to every program.
std::optional<CachedProgram> keep(CompileCache& cache, const std::string& key, const Words& linker) {
  const std::string directory = cache.begin();
  if (directory.empty()) return std::nullopt;
  std::string text;
  Words files;
  for (const std::string& word : linker) {
    text += word + "\n";
    std::error_code ignored;
    if (word[0] == '/' && word.find(kMark) == word.npos && fs::is_regular_file(word, ignored)) files.push_back(word);
  }
  std::optional<CachedProgram> kept;
  if (write_file(directory + "/" + kName, text)) kept = cache.store(key, directory, kName, files, "", {});
  std::error_code ignored;
  if (!kept) fs::remove_all(directory, ignored);
  return kept;
}

// The linker's command, where it is known or worth asking for.
std::optional<Command> linker_command(const Command& link) {
  if (!is_plain(link)) return std::nullopt;
  auto cache = CompileCache::open();
  if (!cache) return std::nullopt;
  const std::string key = key_of(marked(link.words, link.varying));
  std::optional<Words> linker;
  if (const auto kept = cache->find(key)) {
    const auto text = read_file(kept->path);
    if (!text) return std::nullopt;
    linker.emplace();
    for (std::string_view rest = *text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
      linker->emplace_back(rest.substr(0, rest.find('\n')));
  } else if (cache->worth_making(key)) {
    if ((linker = ask_clang(link))) keep(*cache, key, *linker);
  }
  if (!linker) return std::nullopt;
  return Command{filled(std::move(*linker), link.varying), "", 0, {}};
}

// The linker is the one that comes with the system: nothing names another.
bool usual_linker() {
  for (const char* name : {"COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS"})
    if (std::getenv(name)) return false;
  if (const fs::path own = toolchain().clang; own.is_absolute()) return !find_program(own.parent_path() / "ld.gold").empty();
  const std::string gold = find_program("ld.gold"), usual = find_program("ld");
  return !gold.empty() && fs::path(gold).parent_path() == fs::path(usual).parent_path();
}

// gold takes 70 ms where ld takes 190, but is not ld to the last option: it gets links that say nothing of their own about how
// they are to be made.
std::optional<Command> quick_link(const Command& link) {
  constexpr std::string_view kOurs[] = {"-Wl,--start-group", "-Wl,--end-group", "-Wl,-rpath,",
                                        "-Wl,--dependency-file=", "-static-libstdc++"};
  constexpr std::string_view kOwn[] = {"-Wl,", "-Xlinker", "-fuse-ld", "--ld-path", "-T", "-static", "-nostdlib", "-z", "-r"};
  if (!is_plain(link) || !usual_linker()) return std::nullopt;
  const auto begins = [](std::string_view word) { return [word](std::string_view with) { return word.starts_with(with); }; };
  for (const std::string& word : link.words)
    if (std::ranges::any_of(kOwn, begins(word)) && std::ranges::none_of(kOurs, begins(word))) return std::nullopt;
  Command quick = link;
  quick.words.insert(quick.words.begin() + 1, "-fuse-ld=gold");
  return quick;
}

Outcome link_once(const Command& link) {
  if (const auto direct = linker_command(link)) {
    Outcome outcome = run_commands({&*direct, 1}, 1)[0];
    if (outcome.status == 0 || interrupted()) return outcome;
  }
  // What is wrong, clang has a word on.
  return run_commands({&link, 1}, 1)[0];
}

}  // namespace

Outcome run_link(const Command& link) {
  if (const auto quick = quick_link(link)) {
    Outcome outcome = link_once(*quick);
    if (outcome.status == 0 || interrupted()) return outcome;
  }
  return link_once(link);
}

}  // namespace warpbeam::compiler
