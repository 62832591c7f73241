#include "observe/clock/shared_time.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/machine_word.h"

namespace warpbeam::observe {
namespace {

constexpr uint32_t kReady = 0x57420001;  // it has this form
constexpr const char* kFolder = "/dev/shm";

std::string prefix() { return fmt::format("warpbeam-clock-{}-", geteuid()); }

void make(SharedTime& fresh, int64_t (*now)(int)) {
  pthread_mutexattr_t how;
  pthread_mutexattr_init(&how);
  pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&fresh.mutex, &how);
  pthread_mutexattr_destroy(&how);
  for (int k = 0; k < SharedTime::kClocks; ++k) fresh.started[k] = now(k);
  fresh.begun = fresh.seen = fresh.looked = now(CLOCK_MONOTONIC);
  fresh.ready.store(kReady, std::memory_order_release);
}

SharedTime* map(int file) {
  void* const at = mmap(nullptr, sizeof(SharedTime), PROT_READ | PROT_WRITE, file < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<SharedTime*>(at);
}

// Files that processes which were killed have left: nobody holds them.
void sweep() {
  std::error_code ignored;
  const std::string begin = prefix();
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, ignored)) {
    if (!entry.path().filename().native().starts_with(begin)) continue;
    const int file = open(entry.path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(entry.path().c_str());
    close(file);
  }
}

std::string path_here;  // of the file
int file_here = -1;

// Whoever is the last one takes the name away.
void end() {
  if (file_here < 0) return;
  if (flock(file_here, LOCK_EX | LOCK_NB) == 0) unlink(path_here.c_str());
  close(file_here);
  file_here = -1;
}

// Who holds the file has a lock that others may have too; who makes it, or takes it away, one of his own.
SharedTime* join(const std::string& path, int64_t (*now)(int)) {
  for (int tries = 0; tries < 100; ++tries) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return nullptr;
    struct stat facts{}, named{};
    const bool alone = flock(file, LOCK_EX | LOCK_NB) == 0;
    const bool held = alone || flock(file, LOCK_SH) == 0;
    const bool ours = held && fstat(file, &facts) == 0 && facts.st_uid == geteuid() && S_ISREG(facts.st_mode);
    // It may have lost its name meanwhile.
    if (ours && (lstat(path.c_str(), &named) != 0 || named.st_ino != facts.st_ino)) {
      close(file);
      continue;
    }
    SharedTime* shared = nullptr;
    if (ours && (!alone || ftruncate(file, 0) == 0) && (!alone || ftruncate(file, sizeof(SharedTime)) == 0) &&
        (alone || facts.st_size == static_cast<off_t>(sizeof(SharedTime))))
      shared = map(file);
    if (shared && alone) make(*shared, now);
    if (shared && shared->ready.load(std::memory_order_acquire) != kReady) munmap(shared, sizeof(SharedTime)), shared = nullptr;
    if (!shared) {
      close(file);
      return nullptr;
    }
    if (alone) flock(file, LOCK_SH);
    path_here = path;
    file_here = file;
    std::atexit(end);
    return shared;
  }
  return nullptr;
}

}  // namespace

void SharedTime::lock() {
  if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);  // what is in here is right after every step
}

void SharedTime::tell() {
  changed.fetch_add(1, std::memory_order_release);
  if (waiters.load(std::memory_order_acquire)) syscall(SYS_futex, &changed, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void SharedTime::wait(uint32_t since, int64_t nanoseconds) {
  const timespec longest{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  waiters.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &changed, FUTEX_WAIT, since, &longest, nullptr, 0);
  waiters.fetch_sub(1, std::memory_order_acq_rel);
}

SharedTime::Process* SharedTime::enter_process(int64_t fresh) {
  // It was forked off by one of this machine, and executes another program now.
  for (size_t k = 0; k < most_processes; ++k)
    if (processes[k].id == getpid()) leave_process(getpid());
  const auto free = [&](bool unused) -> Process* {
    for (size_t k = 0; k < (unused ? kProcesses : most_processes); ++k)
      if (!processes[k].id && (!unused || k >= most_processes)) return most_processes = std::max(most_processes, k + 1), &processes[k];
    return nullptr;
  };
  // What those that have ended kept busy counts a while.
  Process* mine = free(true);
  if (!mine) mine = free(false);
  if (!mine) remove_dead(), mine = free(false);
  ++came;
  if (!mine) return nullptr;
  *mine = {};
  mine->id = getpid();
  mine->fresh = fresh;
  if (fresh) forked.store(fresh);
  else alive.fetch_add(1);
  return mine;
}

void SharedTime::not_fresh(Process& process) {
  if (std::exchange(process.fresh, 0)) alive.fetch_add(1);
}

SharedTime::Thread* SharedTime::enter_thread(int rank) {
  for (size_t k = 0; k < kThreads; ++k) {
    if (threads[k].id) continue;
    most_threads = std::max(most_threads, k + 1);
    threads[k] = {};
    threads[k].process = getpid();
    threads[k].id = gettid();
    threads[k].rank = rank;
    ++live;
    return &threads[k];
  }
  return nullptr;
}

void SharedTime::leave_thread(Thread& thread) {
  if (thread.inside) --inside;
  thread = {};
  --live;
}

void SharedTime::leave_process(pid_t id) {
  for (size_t k = 0; k < most_threads; ++k)
    if (threads[k].process == id) leave_thread(threads[k]);
  for (size_t k = 0; k < most_processes; ++k) {
    Process& process = processes[k];
    if (process.id != id) continue;
    process.id = 0;
    if (!std::exchange(process.fresh, 0)) alive.fetch_sub(1);
    // The devices forget what they had not done.
    for (auto& device : process.busy)
      for (Busy& busy : device)
        for (uint32_t s = 0; s < busy.count; ++s) busy.spans[s].end = std::min(busy.spans[s].end, std::max(time, busy.spans[s].begin));
    ++version;
  }
}

void SharedTime::remove_dead() {
  const auto is_dead = [](pid_t id) {
    if (kill(id, 0) != 0 && errno == ESRCH) return true;
    // Nobody has asked yet how it ended.
    std::ifstream file(fmt::format("/proc/{}/stat", id));
    const std::string all((std::istreambuf_iterator<char>(file)), {});
    const size_t name_ends = all.rfind(')');
    return name_ends != all.npos && name_ends + 2 < all.size() && (all[name_ends + 2] == 'Z' || all[name_ends + 2] == 'X');
  };
  for (size_t k = 0; k < most_processes; ++k)
    if (const pid_t id = processes[k].id; id && id != getpid() && is_dead(id)) leave_process(id);
}

SharedTime& shared_time(int64_t (*now)(int clock)) {
  const std::string word = machine_word();
  setenv("WARPBEAM_MACHINE", word.c_str(), 1);
  sweep();
  if (SharedTime* shared = join(fmt::format("{}/{}{}", kFolder, prefix(), word), now)) return *shared;
  SharedTime* const alone = map(-1);
  if (!alone) std::abort();
  make(*alone, now);
  return *alone;
}

// Its parent's lock is not its own.
void forked_from_shared_time() {
  if (file_here < 0) return;
  close(file_here);
  file_here = open(path_here.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file_here >= 0) flock(file_here, LOCK_SH);
}

}  // namespace warpbeam::observe
