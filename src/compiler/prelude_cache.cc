#include "compiler/prelude_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/cached_program.h"
#include "compiler/compile_cache.h"
#include "compiler/depfile.h"
#include "compiler/split.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kName = "prelude.pch";
constexpr std::string_view kCompiles[] = {"-S", "-c"};

bool contains(const Words& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

// Does a word name a place that depends on the current directory? "-I.", or a value by itself that is no full path.
bool depends_on_directory(const Words& words) {
  for (size_t k = 1; k < words.size(); ++k) {
    const std::string& w = words[k];
    if (w.starts_with("-I") ? w.size() > 2 && w[2] != '/' : w[0] != '-' && w[0] != '/' && !(w == "cuda" && words[k - 1] == "-x"))
      return true;
  }
  return false;
}

std::string key_of(const Words& words) {
  std::error_code ignored;
  Hasher hash;
  hash.add("prelude");
  hash.add(file_identity(find_program(toolchain().clang)));
  if (depends_on_directory(words)) hash.add(fs::current_path(ignored).string());
  for (const char* name : kHeaderVariables) {
    const char* value = std::getenv(name);
    hash.add(value ? value : "");
  }
  for (const auto& word : words) hash.add(word);
  return hash.hex();
}

// The words that come before the source, where the prelude is the first thing that is read; else none.
std::optional<Words> shared_words(const Command& command) {
  const auto end = command.words.begin() + static_cast<std::ptrdiff_t>(command.shared);
  if (std::count(command.words.begin(), end, "-include") != 1) return std::nullopt;
  if (contains(command.words, "-MP")) return std::nullopt;  // rules for every file but the first
  for (auto word = command.words.begin(); word != end; ++word)
    if (word->starts_with("-imacros") || (word->starts_with("-include") && *word != "-include")) return std::nullopt;
  return Words(command.words.begin(), end);
}

struct Making {
  std::string key, directory;
  Command command;
};

std::optional<Making> begin_to_make(CompileCache& cache, const std::string& key, Words words) {
  const std::string directory = cache.begin();
  if (directory.empty()) return std::nullopt;
  const auto include = std::ranges::find(words, "-include");
  words.erase(include, include + 2);
  append(words, {"-w", "-MD", "-MF", directory + "/files", "-MT", "files", "-S", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp",
                 toolchain().include_directory + "/warpbeam/prelude.cu", "-o", directory + "/" + kName});
  return Making{key, directory, {std::move(words), "", 0}};
}

std::vector<Command> with_kept_prelude(std::vector<Command> commands, int at_once) {
  CompileCache ahead = CompileCache::of_toolchain();
  std::optional<CompileCache> cache;
  std::map<std::string, std::optional<CachedProgram>> kept;
  std::vector<std::string> keys(commands.size());
  std::vector<Making> made;
  for (size_t k = 0; k < commands.size(); ++k) {
    auto words = shared_words(commands[k]);
    if (!words) continue;
    keys[k] = key_of(*words);
    if (kept.contains(keys[k]) || (kept[keys[k]] = ahead.find(keys[k]))) continue;
    if (!cache && !(cache = CompileCache::open())) continue;
    if ((kept[keys[k]] = cache->find(keys[k])) || !cache->worth_making(keys[k])) continue;
    if (auto making = begin_to_make(*cache, keys[k], std::move(*words))) made.push_back(std::move(*making));
  }
  std::vector<Command> makers;
  for (const Making& m : made) makers.push_back(m.command);
  const std::vector<Outcome> outcomes = run_commands(makers, at_once);
  for (size_t k = 0; k < made.size(); ++k) {
    const Making& m = made[k];
    const std::string list = m.directory + "/files";
    const std::vector<std::string> files = read_depfile(list);
    std::error_code ignored;
    fs::remove(list, ignored);
    // What is wrong with the words, the compilation itself says.
    if (outcomes[k].status == 0) kept[m.key] = cache->store(m.key, m.directory, kName, files, "", searched_directories(m.command.words));
    if (!kept[m.key]) fs::remove_all(m.directory, ignored);
  }
  for (size_t k = 0; k < commands.size(); ++k) {
    if (keys[k].empty() || !kept[keys[k]]) continue;
    Words& words = commands[k].words;
    const auto include = std::ranges::find(words, "-include");
    include[0] = "-include-pch";
    include[1] = kept[keys[k]]->path;
    // The files that clang read are the source, first as in every make rule, and all that was read before: it leaves out
    // those that it has met under another name.
    const bool all = contains(words, "-MD");
    const auto compile = std::ranges::find_first_of(words, kCompiles);
    if (!(all || contains(words, "-MMD")) || compile == words.end()) continue;
    const std::string source = compile[1];
    append(words, {"-Xclang", "-fdepfile-entry=" + source});
    if (!all) continue;
    for (const auto& file : kept[keys[k]]->files) append(words, {"-Xclang", "-fdepfile-entry=" + file});
  }
  return commands;
}

}  // namespace

std::vector<Outcome> run_with_kept_prelude(const std::vector<Command>& commands, int at_once) {
  const std::vector<Command> quick = with_kept_prelude(commands, at_once);
  std::vector<Outcome> outcomes = run_commands(quick, at_once);
  // Another process may have cleaned the cache in between.
  for (size_t k = 0; k < commands.size(); ++k) {
    const auto kept = std::ranges::find(quick[k].words, "-include-pch");
    std::error_code ignored;
    if (outcomes[k].status != 0 && kept != quick[k].words.end() && !fs::exists(kept[1], ignored))
      outcomes[k] = run_commands({&commands[k], 1}, 1)[0];
  }
  return outcomes;
}

}  // namespace warpbeam::compiler
