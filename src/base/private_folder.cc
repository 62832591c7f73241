#include "base/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace warpbeam {

bool make_private_folder(const std::string& path) {
  for (size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
    if (mkdir(path.substr(0, end).c_str(), 0700) != 0 && errno != EEXIST && end == path.npos) return false;
    if (end == path.npos) break;
  }
  struct stat facts;
  if (stat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid() || (facts.st_mode & S_IWOTH)) return false;
  if ((facts.st_mode & S_IWGRP) && chmod(path.c_str(), facts.st_mode & 0755) != 0) return false;
  return access(path.c_str(), W_OK) == 0;
}

bool is_trusted_folder(const std::string& path, const std::string& with) {
  struct stat facts, known;
  if (stat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || (facts.st_mode & S_IWOTH)) return false;
  return facts.st_uid == geteuid() || facts.st_uid == 0 || (stat(with.c_str(), &known) == 0 && known.st_uid == facts.st_uid);
}

}  // namespace warpbeam
