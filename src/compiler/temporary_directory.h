// Places for files that nobody needs afterwards.
#pragma once
#include <string>
#include <utility>

#include "base/result.h"

namespace warpbeam::compiler {

// A directory that is removed with all that is in it. Its owner holds a lock on it: whoever makes the next one removes those that nobody holds, which a killed
// process left.
class TemporaryDirectory {
 public:
  enum class For { Files, Programs };  // that are started there: not where file systems are mounted so that nothing is
  static Result<TemporaryDirectory> make(For what = For::Files);  // in TMPDIR, /tmp, /var/tmp or /dev/shm, the first that can be used
  static TemporaryDirectory adopt(std::string path) { return TemporaryDirectory(std::move(path), -1); }
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, "")), lock_(std::exchange(other.lock_, -1)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  TemporaryDirectory(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;
};

}  // namespace warpbeam::compiler
