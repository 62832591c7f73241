#include "compiler/prelude_cache.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/cached_program.h"
#include "compiler/cccl.h"
#include "compiler/compile_cache.h"
#include "compiler/depfile.h"
#include "compiler/first_headers.h"
#include "compiler/hash.h"
#include "compiler/object_file.h"
#include "compiler/split.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kName = "prelude.pch";
constexpr std::string_view kCompiles[] = {"-S", "-c"};

// What is read ahead of a source.
enum class Ahead { Prelude, Libraries };

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

std::string key_of(const Words& words, Ahead ahead) {
  std::error_code ignored;
  Hasher hash;
  hash.add(ahead == Ahead::Prelude ? "prelude" : "libraries");
  hash.add(file_identity(find_program(toolchain().clang)));
  if (depends_on_directory(words)) hash.add(fs::current_path(ignored).string());
  for (const char* name : kHeaderVariables) {
    const char* value = std::getenv(name);
    hash.add(value ? value : "");
  }
  for (const auto& word : words) hash.add(word);
  return hash.hex();
}

// Without the folders of the CCCL that was fetched, in which the prelude reads nothing: with it and before it the same is kept.
Words without_cccl(Words words) {
  if (const std::string fetched = fetched_cccl(); !fetched.empty()) leave_out_cccl(words, fetched);
  return words;
}

// The words that come before the source, where the prelude is the first thing that is read; else none.
std::optional<Words> shared_words(const Command& command, Ahead ahead) {
  const auto end = command.words.begin() + static_cast<std::ptrdiff_t>(command.shared);
  if (std::count(command.words.begin(), end, "-include") != 1) return std::nullopt;
  if (contains(command.words, "-MP")) return std::nullopt;  // rules for every file but the first
  for (auto word = command.words.begin(); word != end; ++word)
    if (word->starts_with("-imacros") || (word->starts_with("-include") && *word != "-include")) return std::nullopt;
  Words words(command.words.begin(), end);
  return ahead == Ahead::Prelude ? without_cccl(std::move(words)) : words;
}

std::vector<std::string>::const_iterator source_of(const Words& words) {
  const auto compile = std::ranges::find_first_of(words, kCompiles);
  return compile == words.end() ? compile : compile + 1;
}

Ahead ahead_of(const Command& command) {
  const auto source = source_of(command.words);
  if (!command.shared || source == command.words.end()) return Ahead::Prelude;
  const auto text = read_file(*source);
  return text && begins_with_libraries(*text) ? Ahead::Libraries : Ahead::Prelude;
}

struct Making {
  std::string key, directory;
  Command command;
};

std::optional<Making> begin_to_make(CompileCache& cache, const std::string& key, Words words, Ahead ahead) {
  const std::string directory = cache.begin();
  if (directory.empty()) return std::nullopt;
  const auto include = std::ranges::find(words, "-include");
  words.erase(include, include + 2);
  append(words, {"-w", "-MD", "-MF", directory + "/files", "-MT", "files", "-S", "-Xclang", "-emit-pch", "-Xclang", "-fno-pch-timestamp",
                 toolchain().include_directory + (ahead == Ahead::Prelude ? "/warpbeam/prelude.cu" : "/warpbeam/libraries.cu"), "-o",
                 directory + "/" + kName});
  return Making{key, directory, {std::move(words), "", 0}};
}

// Files away what was made. What cannot be had is kept as an empty file: nobody tries again.
std::optional<CachedProgram> finish(CompileCache& cache, const Making& m, const Outcome& outcome) {
  const std::string list = m.directory + "/files";
  const std::vector<std::string> files = outcome.status == 0 ? read_depfile(list) : std::vector<std::string>();
  std::error_code ignored;
  fs::remove(list, ignored);
  std::optional<CachedProgram> kept;
  if (outcome.status == 0 || (outcome.status == 1 && cache.has_room() && write_file(m.directory + "/" + kName, "")))
    kept = cache.store(m.key, m.directory, kName, files, "", searched_directories(without_cccl(m.command.words)));
  if (!kept) fs::remove_all(m.directory, ignored);
  return kept;
}

std::vector<Command> with_kept_prelude(std::vector<Command> commands, const std::vector<Ahead>& aheads, int at_once) {
  CompileCache of_build = CompileCache::of_toolchain();
  std::optional<CompileCache> cache;
  std::map<std::string, std::optional<CachedProgram>> kept;
  std::vector<std::string> keys(commands.size());
  std::vector<Making> made;
  for (size_t k = 0; k < commands.size(); ++k) {
    auto words = shared_words(commands[k], aheads[k]);
    if (!words) continue;
    keys[k] = key_of(*words, aheads[k]);
    if (kept.contains(keys[k]) || (kept[keys[k]] = of_build.find(keys[k]))) continue;
    if (!cache && !(cache = CompileCache::open())) continue;
    if ((kept[keys[k]] = cache->find(keys[k]))) continue;
    // Reading the libraries is most of a compilation: even the first does not wait much longer for what all later ones have of it.
    if (aheads[k] == Ahead::Prelude && !cache->worth_making(keys[k])) continue;
    if (auto making = begin_to_make(*cache, keys[k], std::move(*words), aheads[k])) made.push_back(std::move(*making));
  }
  std::vector<Command> makers;
  for (const Making& m : made) makers.push_back(m.command);
  const std::vector<Outcome> outcomes = run_commands(makers, at_once);
  // What is wrong with the words, the compilation itself says.
  for (size_t k = 0; k < made.size(); ++k) kept[made[k].key] = finish(*cache, made[k], outcomes[k]);
  for (size_t k = 0; k < commands.size(); ++k) {
    std::error_code ignored;
    if (keys[k].empty() || !kept[keys[k]] || fs::file_size(kept[keys[k]]->path, ignored) == 0) continue;
    Words& words = commands[k].words;
    const auto include = std::ranges::find(words, "-include");
    include[0] = "-include-pch";
    include[1] = kept[keys[k]]->path;
    // The files that clang read are the source, first as in every make rule, and all that was read before: it leaves out
    // those that it has met under another name.
    const bool all = contains(words, "-MD");
    const auto source = source_of(words);
    if (!(all || contains(words, "-MMD")) || source == words.end()) continue;
    append(words, {"-Xclang", "-fdepfile-entry=" + *source});
    if (!all) continue;
    for (const auto& file : kept[keys[k]]->files) append(words, {"-Xclang", "-fdepfile-entry=" + file});
  }
  return commands;
}

}  // namespace

std::vector<Outcome> run_with_kept_prelude(const std::vector<Command>& commands, int at_once) {
  std::vector<Ahead> aheads;
  for (const Command& command : commands) aheads.push_back(ahead_of(command));
  const std::vector<Command> quick = with_kept_prelude(commands, aheads, at_once);
  std::vector<Outcome> outcomes = run_commands(quick, at_once);
  std::vector<Command> again;
  std::vector<size_t> places;
  for (size_t k = 0; k < commands.size(); ++k) {
    const auto kept = std::ranges::find(quick[k].words, "-include-pch");
    if (interrupted() || outcomes[k].status == 0 || kept == quick[k].words.end()) continue;
    std::error_code ignored;
    // Another process may have cleaned the cache in between. And names of libraries that the source did not ask for may have been in
    // its way; if they were not, its mistakes are told as they are without them.
    if (aheads[k] == Ahead::Prelude && fs::exists(kept[1], ignored)) continue;
    again.push_back(commands[k]);
    places.push_back(k);
  }
  std::vector<Outcome> second = run_commands(with_kept_prelude(again, std::vector<Ahead>(again.size(), Ahead::Prelude), at_once), at_once);
  for (size_t k = 0; k < second.size(); ++k) outcomes[places[k]] = std::move(second[k]);
  return outcomes;
}

}  // namespace warpbeam::compiler
