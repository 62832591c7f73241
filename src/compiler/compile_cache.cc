#include "compiler/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <thread>

#include "base/private_folder.h"
#include "compiler/cached_program.h"
#include "compiler/cccl.h"
#include "compiler/check_facts.h"
#include "compiler/object_file.h"
#include "compiler/process.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

namespace fs = std::filesystem;

// Results of one key: a source that is edited back and forth finds its old programs.
constexpr size_t kResultsPerKey = 4;
constexpr uint64_t kDefaultBytes = uint64_t{1} << 30;
// On a disk with less room than this nothing is kept: programs are built where there is room for temporary files.
constexpr uint64_t kLeastRoom = uint64_t{32} << 20;
// Most milliseconds to wait for the clock of the files.
constexpr int kLongestStep = 20;
// Beside a program, which may have any name that a source has.
constexpr const char *kBegan = "/.warpbeam-began", *kMessages = "/.warpbeam-messages";

struct FileState {
  std::string path;
  int64_t size = 0;
  int64_t time = 0;  // modification, in nanoseconds
  std::string hash;
};

// A directory in which the compiler looked for files, and what it may have met there.
struct Searched {
  std::string directory, met;
};

struct StoredResult {
  std::string directory;  // under results/
  std::string program;
  std::string hash;  // of the program and the messages; a crash of the machine may leave anything in their place
  std::vector<FileState> files;
  std::vector<Searched> searched;
};

bool stat_file(const std::string& path, FileState& state) {
  struct stat data{};
  if (stat(path.c_str(), &data) || !S_ISREG(data.st_mode)) return false;
  state.path = path;
  state.size = data.st_size;
  state.time = data.st_mtim.tv_sec * 1'000'000'000 + data.st_mtim.tv_nsec;
  return true;
}

// Measured: hashing takes 1.5 ms for the six megabytes of a kept prelude.
bool add_file(Hasher& hash, const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::vector<char> part(1 << 18);
  size_t filled = 0;
  ssize_t count;
  while ((count = read(file, part.data() + filled, part.size() - filled)) > 0) {
    if ((filled += count) < part.size()) continue;
    hash.add({part.data(), filled});
    filled = 0;
  }
  close(file);
  hash.add({part.data(), filled});
  return count == 0;
}

std::string hash_file(const std::string& path) {
  Hasher hash;
  return add_file(hash, path) ? hash.hex() : std::string();
}

std::string hash_result(const std::string& program, std::string_view messages) {
  Hasher hash;
  if (!add_file(hash, program)) return {};
  hash.add(messages);
  add_file(hash, facts_file_of(program));
  return hash.hex();
}

std::string hash_text(std::string_view text) {
  Hasher hash;
  hash.add(text);
  return hash.hex();
}

// A file that appears in one of the directories under a name that was looked for further on would be read from now on.
std::vector<Searched> look_around(std::vector<std::string> directories, const std::vector<FileState>& files) {
  std::set<std::string> names;
  for (const auto& file : files)
    for (const auto& part : fs::path(file.path).relative_path()) names.insert(part);
  std::ranges::sort(directories);
  directories.erase(std::unique(directories.begin(), directories.end()), directories.end());
  std::vector<Searched> all;
  for (auto& directory : directories) {
    Hasher met;
    if (const int place = open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); place >= 0) {
      for (const auto& name : names)
        if (faccessat(place, name.c_str(), F_OK, 0) == 0) met.add(name);
      close(place);
    }
    all.push_back({std::move(directory), met.hex()});
  }
  return all;
}

// Manifest: the hash of all that follows; per result "result DIRECTORY HASH PROGRAM", then "SIZE TIME HASH PATH" per file
// and "searched HASH PATH" per directory. Paths come last because of blanks.
std::string write_manifest(const std::vector<StoredResult>& results) {
  std::string text;
  for (const auto& result : results) {
    text += fmt::format("result {} {} {}\n", result.directory, result.hash, result.program);
    for (const auto& file : result.files) text += fmt::format("{} {} {} {}\n", file.size, file.time, file.hash, file.path);
    for (const auto& place : result.searched) text += fmt::format("searched {} {}\n", place.met, place.directory);
  }
  return hash_text(text) + "\n" + text;
}

std::string_view next_word(std::string_view& line) {
  auto blank = line.find(' ');
  auto word = line.substr(0, blank);
  line = blank == line.npos ? std::string_view{} : line.substr(blank + 1);
  return word;
}

int64_t number(std::string_view text) {
  int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<StoredResult> read_manifest(const std::string& path) {
  std::vector<StoredResult> results;
  auto text = read_file(path);
  if (!text) return results;
  const size_t first = std::min(text->find('\n'), text->size() - 1) + 1;
  if (text->empty() || text->substr(0, first) != hash_text(std::string_view(*text).substr(first)) + "\n") return results;
  for (std::string_view rest = std::string_view(*text).substr(first); !rest.empty();) {
    auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (line.starts_with("result ")) {
      next_word(line);
      std::string directory(next_word(line)), hash(next_word(line));
      results.push_back({std::move(directory), std::string(line), std::move(hash), {}, {}});
    } else if (line.starts_with("searched ") && !results.empty()) {
      next_word(line);
      std::string met(next_word(line));
      results.back().searched.push_back({std::string(line), std::move(met)});
    } else if (!results.empty()) {
      FileState file;
      file.size = number(next_word(line));
      file.time = number(next_word(line));
      file.hash = next_word(line);
      file.path = line;
      results.back().files.push_back(std::move(file));
    }
  }
  return results;
}

bool unchanged(const std::vector<FileState>& files) {
  for (const auto& file : files) {
    FileState now;
    if (!stat_file(file.path, now) || now.size != file.size) return false;
    if (now.time != file.time && hash_file(file.path) != file.hash) return false;
  }
  return true;
}

bool unchanged(const StoredResult& result) {
  if (!unchanged(result.files)) return false;
  std::vector<std::string> directories;
  for (const auto& place : result.searched) directories.push_back(place.directory);
  const std::vector<Searched> now = look_around(std::move(directories), result.files);
  return std::ranges::equal(now, result.searched,
                            [](const Searched& a, const Searched& b) { return a.directory == b.directory && a.met == b.met; });
}

// Where a file of the user's lies, the files that it includes are looked for first.
bool is_of_system(const std::string& path) {
  static const std::string libraries = fetched_cccl() + "/";
  return path.starts_with("/usr/") || path.starts_with(toolchain().include_directory + "/") ||
         (libraries.size() > 1 && path.starts_with(libraries));
}

bool replace_file(const std::string& path, const std::string& contents) {
  std::string temporary = fmt::format("{}.{}", path, getpid());
  if (!write_file(temporary, contents)) return false;
  if (rename(temporary.c_str(), path.c_str()) == 0) return true;
  unlink(temporary.c_str());
  return false;
}

// When a result was last used: its directory's modification time.
void touch(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

uint64_t allowed_bytes() {
  const char* set = std::getenv("WARPBEAM_CACHE_BYTES");
  if (!set) return kDefaultBytes;
  int64_t bytes = number(set);
  return bytes < 0 ? kDefaultBytes : bytes;
}

}  // namespace

std::vector<std::string> searched_directories(const std::vector<std::string>& words) {
  std::vector<std::string> places;
  auto add = [&](std::string_view place) {
    std::error_code failed;
    const std::string full = fs::absolute(place.empty() ? "." : place, failed).lexically_normal();
    if (!failed && full != toolchain().include_directory) places.push_back(full);
  };
  for (size_t k = 0; k < words.size(); ++k)
    for (std::string_view option : {"-isystem", "-iquote", "-idirafter", "-I", "-L"}) {
      if (!words[k].starts_with(option)) continue;
      if (words[k].size() > option.size()) add(std::string_view(words[k]).substr(option.size()));
      else if (k + 1 < words.size()) add(words[++k]);
      break;
    }
  for (const char* name : kHeaderVariables)
    if (const char* value = std::getenv(name); value && *value)
      for (std::string_view rest = value;;) {
        const auto colon = rest.find(':');
        add(rest.substr(0, colon));
        if (colon == rest.npos) break;
        rest.remove_prefix(colon + 1);
      }
  return places;
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache && cache[0] == '/') return std::string(cache) + "/warpbeam";
  if (home && home[0] == '/') return std::string(home) + "/.cache/warpbeam";
  return {};
}

std::optional<CompileCache> CompileCache::open() {
  const std::string root = cache_folder();
  if (root.empty()) return std::nullopt;
  // Programs are run from here: whoever can write to it runs what he likes.
  for (const char* part : {"/programs", "/programs/results", "/programs/keys"})
    if (!make_private_folder(root + part)) return std::nullopt;
  return CompileCache(root + "/programs");
}

CompileCache CompileCache::of_toolchain() {
  const std::string place = toolchain().root + "/ahead/warpbeam/programs";
  return CompileCache(is_trusted_folder(place, toolchain().driver) ? place : "/dev/null");
}

bool CompileCache::can_start_programs() const { return starts_programs(root_); }

bool CompileCache::has_room() const {
  struct statvfs disk{};
  return statvfs(root_.c_str(), &disk) != 0 || disk.f_bavail * disk.f_frsize >= kLeastRoom;
}

std::optional<CachedProgram> CompileCache::find(const std::string& key) {
  for (const auto& result : read_manifest(root_ + "/keys/" + key)) {
    if (!unchanged(result)) continue;
    std::string directory = root_ + "/results/" + result.directory;
    std::string program = directory + "/" + result.program;
    auto messages = read_file(directory + kMessages);
    if (hash_result(program, messages ? *messages : "") != result.hash) continue;
    touch(directory);
    CachedProgram found{program, messages ? *messages : "", {}};
    for (const auto& file : result.files) found.files.push_back(file.path);
    return found;
  }
  return std::nullopt;
}

bool CompileCache::asked_before(const std::string& key) {
  const std::string manifest = root_ + "/keys/" + key;
  if (access(manifest.c_str(), F_OK) == 0) return true;
  replace_file(manifest, "");
  return false;
}

bool CompileCache::worth_making(const std::string& key) {
  std::error_code ignored;
  static const bool is_first = !fs::exists(toolchain().root + "/ahead", ignored) && [this] {
    Hasher hash;
    hash.add("first program");
    hash.add(file_identity(toolchain().driver));
    return !asked_before(hash.hex());
  }();
  return asked_before(key) || is_first;
}

std::string CompileCache::begin() {
  if (!has_room()) return {};
  std::string pattern = root_ + "/results/building.XXXXXX";
  if (!mkdtemp(pattern.data())) return {};
  // Times of files go in steps of some milliseconds. A source that was saved in this very step, as scripts do that write
  // a program and run it, is to count as older than the build.
  FileState first, now;
  for (int waited = 0; waited <= kLongestStep; ++waited) {
    if (!write_file(pattern + kBegan, "") || !stat_file(pattern + kBegan, now)) return {};
    if (waited == 0) first = now;
    if (now.time > first.time) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return pattern;
}

std::optional<CachedProgram> CompileCache::store(const std::string& key, const std::string& directory, const std::string& name,
                                                 const std::vector<std::string>& files, const std::string& messages,
                                                 std::vector<std::string> searched) {
  StoredResult result{"", name, hash_result(directory + "/" + name, messages), {}, {}};
  if (result.hash.empty()) return std::nullopt;
  std::vector<std::string> sorted = files;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Hasher hash;
  hash.add(key);
  hash.add(result.hash);
  // Contents are hashed after the build, so a file that was saved while it was being compiled would give a wrong entry
  // that looks right for ever. Nothing is kept then; the program still runs from where it was built.
  FileState began;
  stat_file(directory + kBegan, began);
  unlink((directory + kBegan).c_str());
  for (const auto& path : sorted) {
    FileState state;
    std::error_code ignored;
    if (!stat_file(fs::absolute(path, ignored).string(), state)) continue;
    if (state.time >= began.time) return std::nullopt;
    state.hash = hash_file(state.path);
    hash.add(state.path);
    hash.add(state.hash);
    if (!is_of_system(state.path)) searched.push_back(fs::path(state.path).parent_path());
    result.files.push_back(std::move(state));
  }
  result.searched = look_around(std::move(searched), result.files);
  for (const auto& place : result.searched) hash.add(place.directory + place.met);
  result.directory = hash.hex();
  if (!messages.empty() && !write_file(directory + kMessages, messages)) return std::nullopt;
  std::string home = root_ + "/results/" + result.directory;
  if (rename(directory.c_str(), home.c_str())) {
    // Someone else has just made the same program, or it is there and damaged.
    std::error_code ignored;
    if (auto there = read_file(home + kMessages); hash_result(home + "/" + name, there ? *there : "") != result.hash) {
      fs::remove_all(home, ignored);
      if (rename(directory.c_str(), home.c_str())) return std::nullopt;
    } else {
      fs::remove_all(directory, ignored);
    }
  }
  touch(home);
  std::string manifest = root_ + "/keys/" + key;
  std::vector<StoredResult> results = {result};
  for (auto& older : read_manifest(manifest))
    if (older.directory != result.directory && results.size() < kResultsPerKey) results.push_back(std::move(older));
  replace_file(manifest, write_manifest(results));
  shrink();
  return CachedProgram{home + "/" + name, messages, files};
}

// Removes the results that were used least recently until the rest fits, and half-built ones that were left behind.
void CompileCache::shrink() {
  struct Entry {
    std::string path;
    uint64_t bytes;
    fs::file_time_type used;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(root_ + "/results", error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    Entry entry{it->path(), 0, fs::last_write_time(it->path(), ignored)};
    if (it->path().filename().string().starts_with("building.")) {
      if (now - entry.used > std::chrono::hours(1)) fs::remove_all(entry.path, ignored);
      continue;
    }
    for (fs::directory_iterator file(it->path(), ignored), last; !ignored && file != last; file.increment(ignored))
      entry.bytes += file->file_size(ignored);
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  uint64_t allowed = allowed_bytes();
  if (total <= allowed) return;
  std::ranges::sort(entries, {}, &Entry::used);
  // Down to nine tenths, so that not every build has to do this again. The newest stays: it is about to run.
  for (size_t at = 0; at + 1 < entries.size() && total > allowed / 10 * 9; ++at) {
    std::error_code ignored;
    fs::remove_all(entries[at].path, ignored);
    total -= entries[at].bytes;
  }
  // Keys whose results are all gone.
  for (fs::directory_iterator it(root_ + "/keys", error), end; !error && it != end; it.increment(error)) {
    auto results = read_manifest(it->path());
    std::error_code ignored;
    if (std::ranges::none_of(results, [&](const StoredResult& r) { return fs::exists(root_ + "/results/" + r.directory, ignored); }))
      fs::remove(it->path(), ignored);
  }
}

}  // namespace warpbeam::compiler
