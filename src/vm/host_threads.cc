#include "vm/host_threads.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

namespace warpbeam::vm {
namespace {

// Threads of which something is known, and whether they may act just now.
struct Known {
  std::mutex mutex;
  std::map<pid_t, const std::atomic<bool>*> still;
};

// Never destroyed: threads may go on while the process ends.
Known& known() {
  static auto* known = new Known;
  return *known;
}

// A thread is entered once; from then on a wait costs a store.
struct Self {
  std::atomic<bool> still = false;
  Self() {
    std::lock_guard lock(known().mutex);
    known().still[gettid()] = &still;
  }
  ~Self() {
    std::lock_guard lock(known().mutex);
    known().still.erase(gettid());
  }
};

std::atomic<bool>& still() {
  static thread_local Self self;
  return self.still;
}

}  // namespace

OwnThread::OwnThread() { still() = true; }
OwnThread::~OwnThread() { still() = false; }

AwaitsDevice::AwaitsDevice() : counts_(!still().load(std::memory_order_relaxed)) {
  if (counts_) still().store(true, std::memory_order_relaxed);
}
AwaitsDevice::~AwaitsDevice() {
  if (counts_) still().store(false, std::memory_order_relaxed);
}

bool host_may_act() {
  std::lock_guard lock(known().mutex);
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/task", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    const auto found = known().still.find(thread);
    if (found != known().still.end() && *found->second) continue;
    std::string called;
    if (!std::getline(std::ifstream(it->path() / "comm"), called) || called != kCompilingThread) return true;
  }
  return bool(error);
}

}  // namespace warpbeam::vm
