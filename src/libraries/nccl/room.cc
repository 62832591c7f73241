// The room is a file of shared memory. Whoever comes first makes it, and may be killed at any moment: a lock on its first byte, which
// ends with the process, says that somebody is making it, and the next one goes on where he stopped. Everybody inside holds a
// lock on the second byte, so a file without one is a leftover, which whoever makes a room takes away.
#include "libraries/nccl/room.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace warpbeam::nccl {

namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
constexpr long kLongestSeconds = 600;
constexpr time_t kLeftoverSeconds = 60;  // a younger file may be somebody's who has not come to his lock yet
constexpr char kSharedMemory[] = "/dev/shm", kWithoutSharedMemory[] = "/tmp";
constexpr off_t kBeingMade = 0, kInside = 1;  // bytes that are locked

[[noreturn]] void refuse_by_system(const std::string& what) { throw Failure(ncclSystemError, what + ": " + strerror(errno)); }

// A process that has ended, but that nobody has waited for, still has a number.
bool is_gone(int process) {
  if (kill(process, 0) != 0) return errno == ESRCH;
  char path[40], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  if (FILE* file = fopen(path, "re")) {
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    fclose(file);
  }
  return state == 'Z' || state == 'X';
}

// Of an open file, not of a process: ranks may be threads.
bool lock(int file, short type, off_t byte, bool wait) {
  struct flock range = {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  int answer;
  do answer = fcntl(file, wait ? F_OFD_SETLKW : F_OFD_SETLK, &range);
  while (answer < 0 && errno == EINTR && wait);
  return answer == 0;
}

int open_file(const std::string& name) {
  for (const char* folder : {kSharedMemory, kWithoutSharedMemory}) {
    const int file = open((folder + name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) return file;
  }
  refuse_by_system("shared memory for a communicator");
}

void remove(const std::string& name) {
  for (const char* folder : {kSharedMemory, kWithoutSharedMemory}) unlink((folder + name).c_str());
}

void remove_leftovers() {
  for (const char* folder : {kSharedMemory, kWithoutSharedMemory}) {
    DIR* entries = opendir(folder);
    if (!entries) continue;
    while (const dirent* entry = readdir(entries)) {
      const std::string name = std::string("/") + entry->d_name;
      struct stat info;
      if (!name.starts_with(kRoomPrefix) || fstatat(dirfd(entries), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || time(nullptr) - info.st_mtime < kLeftoverSeconds) continue;
      const int file = openat(dirfd(entries), entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      if (file < 0) continue;
      if (lock(file, F_WRLCK, kInside, false)) unlinkat(dirfd(entries), entry->d_name, 0);
      ::close(file);
    }
    closedir(entries);
  }
}

}  // namespace

struct Room::Head {
  alignas(64) std::atomic<uint32_t> closed;
  alignas(64) std::atomic<int> came;
};

struct Room::Person {
  enum : int32_t { kNobody, kHere, kLeft };
  alignas(64) std::atomic<int32_t> state;
  std::atomic<int32_t> process;
  std::atomic<uint64_t> meetings;
  Wish wish;
};

Room::Room(const std::string& name, int ranks, int rank) : name_(name), ranks_(ranks), rank_(rank) {
  const size_t n = static_cast<size_t>(ranks);
  bytes_ = sizeof(Head) + n * sizeof(Person) + (n + 1) * kSlotBytes + n * n * sizeof(Mailbox);
  has_mailbox_.resize(n * n);
  try {
    enter();
  } catch (...) {
    if (base_) munmap(base_, bytes_);
    if (file_ >= 0) ::close(file_);
    throw;
  }
}

void Room::enter() {
  file_ = open_file(name_);
  lock(file_, F_WRLCK, kBeingMade, true);
  struct stat info = {};
  if (fstat(file_, &info) != 0) refuse_by_system("shared memory for a communicator");
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid())
    throw Failure(ncclSystemError, "the communicator's shared memory is another user's");
  const bool empty = info.st_size == 0;
  if (empty) remove_leftovers();
  if (empty && ftruncate(file_, static_cast<off_t>(bytes_)) != 0) refuse_by_system("shared memory for a communicator");
  if (!empty && static_cast<size_t>(info.st_size) != bytes_)
    throw Failure(ncclInvalidArgument, "ranks of one communicator disagree about how many they are");
  // Pages that nobody touches cost nothing; mailboxes get theirs when they are used.
  reserve(0, sizeof(Head) + static_cast<size_t>(ranks_) * sizeof(Person) + static_cast<size_t>(ranks_ + 1) * kSlotBytes);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) refuse_by_system("shared memory for a communicator");
  base_ = static_cast<std::byte*>(memory);
  auto& head = *reinterpret_cast<Head*>(base_);
  int32_t nobody = Person::kNobody;
  if (!person(rank_).state.compare_exchange_strong(nobody, Person::kHere))
    throw Failure(ncclInvalidUsage, "two ranks of one communicator have the same number");
  person(rank_).process = getpid();
  lock(file_, F_RDLCK, kInside, true);
  const bool all_here = ++head.came == ranks_;
  if (all_here) remove(name_);  // nobody will look for it any more
  lock(file_, F_UNLCK, kBeingMade, false);
}

Room::~Room() {
  person(rank_).state = Person::kLeft;
  auto& head = *reinterpret_cast<Head*>(base_);
  if (head.came < ranks_) remove(name_);
  munmap(base_, bytes_);
  ::close(file_);
}

void Room::reserve(size_t offset, size_t bytes) {
  const int error = posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error == ENOSPC || error == ENOMEM)
    throw Failure(ncclSystemError, "shared memory for a communicator: /dev/shm is full (containers: --shm-size)");
}

Room::Person& Room::person(int rank) const { return reinterpret_cast<Person*>(base_ + sizeof(Head))[rank]; }
Wish& Room::wish(int rank) { return person(rank).wish; }
std::byte* Room::slot(int rank) {
  const size_t n = static_cast<size_t>(ranks_);
  return base_ + sizeof(Head) + n * sizeof(Person) + static_cast<size_t>(rank) * kSlotBytes;
}
std::byte* Room::result() { return slot(ranks_); }

Mailbox& Room::mailbox(int from, int to) {
  const size_t which = static_cast<size_t>(from * ranks_ + to);
  Mailbox& box = reinterpret_cast<Mailbox*>(slot(ranks_ + 1))[which];
  if (!has_mailbox_[which]) reserve(static_cast<size_t>(reinterpret_cast<std::byte*>(&box) - base_), sizeof box);
  has_mailbox_[which] = true;
  return box;
}

void Room::close() { reinterpret_cast<Head*>(base_)->closed = 1; }

void Room::look_for_the_gone() {
  for (int r = 0; r < ranks_; ++r)
    if (person(r).state == Person::kHere && person(r).process != getpid() && is_gone(person(r).process)) close();
}

// Answers usually come within microseconds; where there are more ranks than processors they come when the others have
// run.
void Room::wait_until(const std::function<bool()>& ready) {
  auto looked = std::chrono::steady_clock::now();
  for (unsigned tries = 0; !ready(); ++tries) {
    if (reinterpret_cast<Head*>(base_)->closed) throw Failure(ncclRemoteError, "another rank has left or was aborted");
    if (tries < 200) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(tries < 2000 ? 20 : 500));
    if (const auto now = std::chrono::steady_clock::now(); now - looked > kBetweenLooks) {
      looked = now;
      look_for_the_gone();
    }
  }
}

void Room::wait_for_all() {
  auto& head = *reinterpret_cast<Head*>(base_);
  const char* word = getenv("WARPBEAM_NCCL_TIMEOUT");
  const long seconds = word && atol(word) > 0 ? atol(word) : kLongestSeconds;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  wait_until([&] {
    if (head.came == ranks_) return true;
    if (std::chrono::steady_clock::now() > end)
      throw Failure(ncclSystemError, std::to_string(head.came) + " of " + std::to_string(ranks_) + " ranks have come within " +
                                         std::to_string(seconds) + " seconds (WARPBEAM_NCCL_TIMEOUT)");
    return false;
  });
}

void Room::meet() {
  ++meetings_;
  person(rank_).meetings.store(meetings_, std::memory_order_release);
  for (int r = 0; r < ranks_; ++r) wait_until([&] { return person(r).meetings.load(std::memory_order_acquire) >= meetings_; });
}

}  // namespace warpbeam::nccl
