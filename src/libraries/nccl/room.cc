#include "libraries/nccl/room.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace warpbeam::nccl {

namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

[[noreturn]] void refuse_by_system(const std::string& what) {
  throw Failure(ncclSystemError, what + ": " + strerror(errno));
}

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

}  // namespace

struct Room::Head {
  alignas(64) std::atomic<uint32_t> ranks;  // 0 until the room is ready
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
  bool made = true;
  int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) {
    made = false;
    file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0600);
  }
  if (file < 0) refuse_by_system("shared memory for a communicator");
  // Pages that nobody touches cost nothing.
  struct stat info = {};
  bool sized = made ? ftruncate(file, static_cast<off_t>(bytes_)) == 0 : true;
  while (sized && !made && fstat(file, &info) == 0 && info.st_size == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  const bool same = made || static_cast<size_t>(info.st_size) == bytes_;
  void* memory = sized && same ? mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int failed = errno;
  ::close(file);
  if (!same) throw Failure(ncclInvalidArgument, "ranks of one communicator disagree about how many they are");
  if (memory == MAP_FAILED) {
    if (made) shm_unlink(name.c_str());
    errno = failed;
    refuse_by_system("shared memory for a communicator");
  }
  base_ = static_cast<std::byte*>(memory);
  auto& head = *reinterpret_cast<Head*>(base_);
  if (made) head.ranks.store(static_cast<uint32_t>(ranks), std::memory_order_release);
  while (head.ranks.load(std::memory_order_acquire) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  int32_t nobody = Person::kNobody;
  if (!person(rank).state.compare_exchange_strong(nobody, Person::kHere)) {
    munmap(base_, bytes_);
    throw Failure(ncclInvalidUsage, "two ranks of one communicator have the same number");
  }
  person(rank).process = getpid();
  if (++head.came == ranks) shm_unlink(name.c_str());  // nobody will look for it any more
}

Room::~Room() {
  person(rank_).state = Person::kLeft;
  auto& head = *reinterpret_cast<Head*>(base_);
  if (head.came < ranks_) shm_unlink(name_.c_str());
  munmap(base_, bytes_);
}

Room::Person& Room::person(int rank) const { return reinterpret_cast<Person*>(base_ + sizeof(Head))[rank]; }
Wish& Room::wish(int rank) { return person(rank).wish; }
std::byte* Room::slot(int rank) {
  const size_t n = static_cast<size_t>(ranks_);
  return base_ + sizeof(Head) + n * sizeof(Person) + static_cast<size_t>(rank) * kSlotBytes;
}
std::byte* Room::result() { return slot(ranks_); }
Mailbox& Room::mailbox(int from, int to) { return reinterpret_cast<Mailbox*>(slot(ranks_ + 1))[from * ranks_ + to]; }

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
  wait_until([&] { return head.came == ranks_; });
}

void Room::meet() {
  ++meetings_;
  person(rank_).meetings.store(meetings_, std::memory_order_release);
  for (int r = 0; r < ranks_; ++r)
    wait_until([&] { return person(r).meetings.load(std::memory_order_acquire) >= meetings_; });
}

}  // namespace warpbeam::nccl
