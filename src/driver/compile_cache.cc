#include "driver/compile_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "driver/object_file.h"
#include "driver/toolchain.h"

namespace warpbeam::driver {

namespace {

namespace fs = std::filesystem;

// Results of one key: a source that is edited back and forth finds its old programs.
constexpr size_t kResultsPerKey = 4;
constexpr uint64_t kDefaultBytes = uint64_t{1} << 30;
// On a disk with less room than this nothing is kept: programs are built where there is room for temporary files.
constexpr uint64_t kLeastRoom = uint64_t{32} << 20;
// Beside a program, which may have any name that a source has.
constexpr const char *kBegan = "/.warpbeam-began", *kMessages = "/.warpbeam-messages";

struct FileState {
  std::string path;
  int64_t size = 0;
  int64_t time = 0;  // modification, in nanoseconds
  std::string hash;
};

struct StoredResult {
  std::string directory;  // under results/
  std::string program;
  int64_t size = 0;  // of the program; a crash of the machine may leave less of it
  std::vector<FileState> files;
};

bool stat_file(const std::string& path, FileState& state) {
  struct stat data {};
  if (stat(path.c_str(), &data) || !S_ISREG(data.st_mode)) return false;
  state.path = path;
  state.size = data.st_size;
  state.time = data.st_mtim.tv_sec * 1'000'000'000 + data.st_mtim.tv_nsec;
  return true;
}

std::string hash_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) return {};
  Hasher hash;
  hash.add(*text);
  return hash.hex();
}

// Manifest: "result DIRECTORY SIZE PROGRAM", then "SIZE TIME HASH PATH" per file; paths come last because of blanks.
std::string write_manifest(const std::vector<StoredResult>& results) {
  std::string text;
  for (const auto& result : results) {
    text += fmt::format("result {} {} {}\n", result.directory, result.size, result.program);
    for (const auto& file : result.files)
      text += fmt::format("{} {} {} {}\n", file.size, file.time, file.hash, file.path);
  }
  return text;
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
  for (std::string_view rest = *text; !rest.empty();) {
    auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (line.starts_with("result ")) {
      next_word(line);
      std::string directory(next_word(line));
      const int64_t size = number(next_word(line));
      results.push_back({directory, std::string(line), size, {}});
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

std::optional<CompileCache> CompileCache::open() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string root;
  if (cache && cache[0] == '/')
    root = std::string(cache) + "/warpbeam";
  else if (home && home[0] == '/')
    root = std::string(home) + "/.cache/warpbeam";
  else
    return std::nullopt;
  std::error_code error;
  for (const char* part : {"/programs/results", "/programs/keys"}) {
    fs::create_directories(root + part, error);
    if (error) return std::nullopt;
  }
  if (access((root + "/programs/results").c_str(), W_OK)) return std::nullopt;
  return CompileCache(root + "/programs");
}

CompileCache CompileCache::of_toolchain() { return CompileCache(toolchain().root + "/ahead/warpbeam/programs"); }

std::optional<CachedProgram> CompileCache::find(const std::string& key) {
  for (const auto& result : read_manifest(root_ + "/keys/" + key)) {
    if (!unchanged(result.files)) continue;
    std::string directory = root_ + "/results/" + result.directory;
    std::string program = directory + "/" + result.program;
    if (FileState now; access(program.c_str(), R_OK) || !stat_file(program, now) || now.size != result.size) continue;
    auto messages = read_file(directory + kMessages);
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

std::string CompileCache::begin() {
  struct statvfs disk {};
  if (statvfs(root_.c_str(), &disk) == 0 && disk.f_bavail * disk.f_frsize < kLeastRoom) return {};
  std::string pattern = root_ + "/results/building.XXXXXX";
  if (!mkdtemp(pattern.data()) || !write_file(pattern + kBegan, "")) return {};
  return pattern;
}

std::optional<CachedProgram> CompileCache::store(const std::string& key, const std::string& directory,
                                                 const std::string& name, const std::vector<std::string>& files,
                                                 const std::string& messages) {
  FileState made;
  if (!stat_file(directory + "/" + name, made)) return std::nullopt;
  StoredResult result{"", name, made.size, {}};
  std::vector<std::string> sorted = files;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Hasher hash;
  hash.add(key);
  // Contents are hashed after the build, so a file that was saved while it was being compiled would give a wrong entry
  // that looks right for ever. Nothing is kept then; the program still runs from where it was built.
  struct stat began {};
  stat((directory + kBegan).c_str(), &began);
  unlink((directory + kBegan).c_str());
  int64_t began_time = began.st_mtim.tv_sec * 1'000'000'000 + began.st_mtim.tv_nsec;
  for (const auto& path : sorted) {
    FileState state;
    std::error_code ignored;
    if (!stat_file(fs::absolute(path, ignored).string(), state)) continue;
    if (state.time >= began_time) return std::nullopt;
    state.hash = hash_file(state.path);
    hash.add(state.path);
    hash.add(state.hash);
    result.files.push_back(std::move(state));
  }
  result.directory = hash.hex();
  if (!messages.empty() && !write_file(directory + kMessages, messages)) return std::nullopt;
  std::string home = root_ + "/results/" + result.directory;
  if (rename(directory.c_str(), home.c_str())) {
    // Someone else has just made the same program, or it is there and damaged.
    std::error_code ignored;
    FileState there;
    if (!stat_file(home + "/" + name, there) || there.size != made.size) {
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
    if (std::ranges::none_of(
            results, [&](const StoredResult& r) { return fs::exists(root_ + "/results/" + r.directory, ignored); }))
      fs::remove(it->path(), ignored);
  }
}

}  // namespace warpbeam::driver
