#include "compiler/temporary_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "compiler/process.h"

namespace warpbeam::compiler {

namespace fs = std::filesystem;

namespace {

// Locks may be known to one machine only, while others see the same folder: names tell which start of which machine theirs are of. Containers of a machine share
// its locks and this number, but not their numbers of processes. Python's folders have the same names (package/python/warpbeam/__init__.py).
const std::string& name_of_ours() {
  static const std::string name = [] {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return "warpbeam." + (boot.size() < 8 ? "" : boot.substr(0, 8) + ".");
  }();
  return name;
}

int open_directory(const std::string& path) { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

void remove_abandoned(const std::string& place) {
  if (name_of_ours() == "warpbeam.") return;
  std::error_code error;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().native().starts_with(name_of_ours())) continue;
    const int folder = open_directory(it->path());
    if (folder < 0) continue;
    struct stat state;
    std::error_code ignored;
    if (!fstat(folder, &state) && state.st_uid == geteuid() && !flock(folder, LOCK_EX | LOCK_NB)) fs::remove_all(it->path(), ignored);
    close(folder);
  }
}

// Its path, and the lock; an empty path with errno where there is none. Where there are no locks, nobody takes it for abandoned either.
std::string make_in(const std::string& place, int& lock) {
  for (;;) {
    std::string path = place + "/" + name_of_ours() + "XXXXXX";
    if (!mkdtemp(path.data())) return {};
    // Before it is locked, another process may take it for abandoned: it is gone, or locked by that one, or about to go.
    lock = open_directory(path);
    if (lock < 0 && errno == ENOENT) continue;
    struct stat state;
    const bool taken =
        lock >= 0 && ((flock(lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || (!fstat(lock, &state) && state.st_nlink == 0));
    if (!taken) return path;
    close(lock);
  }
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::make(For what) {
  const char* set = getenv("TMPDIR");
  std::vector<std::string> places = {"/tmp", "/var/tmp", "/dev/shm"};
  if (set && *set && set != places[0]) places.insert(places.begin(), set);
  std::string tried;
  for (const std::string& place : places) {
    std::string why = "is mounted noexec";
    if (what == For::Files || starts_programs(place)) {
      int lock = -1;
      if (std::string path = make_in(place, lock); !path.empty()) {
        static const bool once = (remove_abandoned(place), true);
        (void)once;
        return TemporaryDirectory(std::move(path), lock);
      }
      why = strerror(errno);
    }
    tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", place, why);
  }
  return Error{1, fmt::format("cannot make a temporary directory in {}; TMPDIR names another folder for {}", tried,
                              what == For::Files ? "temporary files" : "programs that are compiled")};
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace warpbeam::compiler
