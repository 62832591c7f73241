#include "cuda/memory/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace warpbeam::cuda {

namespace {

const char* name_of(SharedKind kind) {
  switch (kind) {
    case SharedKind::Memory: return "warpbeam memory";
    case SharedKind::Event: return "warpbeam event";
    case SharedKind::Physical: return "warpbeam physical";
    case SharedKind::Pool: return "warpbeam pool";
  }
  return "";
}

int seals_of(SharedKind kind) { return F_SEAL_SEAL | F_SEAL_SHRINK | (kind == SharedKind::Pool ? 0 : F_SEAL_GROW); }

// Looked at before it is opened: opening a device or a pipe does something, or waits.
bool has_name(SharedKind kind, const std::string& link) {
  char target[64];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 && std::string_view(target, static_cast<size_t>(length)) == fmt::format("/memfd:{} (deleted)", name_of(kind));
}

}  // namespace

int make_shared_file(SharedKind kind, uint64_t bytes) {
  const int file = memfd_create(name_of(kind), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fcntl(file, F_ADD_SEALS, seals_of(kind)) == 0) return file;
  close(file);
  return -1;
}

bool is_shared_file(SharedKind kind, int file, uint64_t* bytes) {
  struct stat facts;
  if (!has_name(kind, fmt::format("/proc/self/fd/{}", file)) || fcntl(file, F_GET_SEALS) != seals_of(kind)) return false;
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size <= 0) return false;
  *bytes = static_cast<uint64_t>(facts.st_size);
  return true;
}

int open_shared_file(SharedKind kind, pid_t process, int number, uint64_t* bytes) {
  if (process <= 0 || number < 0) return -1;
  const std::string link = fmt::format("/proc/{}/fd/{}", process, number);
  if (!has_name(kind, link)) return -1;
  const int file = open(link.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file >= 0 && is_shared_file(kind, file, bytes)) return file;
  if (file >= 0) close(file);
  return -1;
}

}  // namespace warpbeam::cuda
