#include "observe/clock/host_clock.h"

#include <fmt/format.h>
#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace warpbeam::observe {

namespace {

constexpr double kRead = 25;  // nanoseconds that reading a clock takes where time stands still otherwise: loops that poll one end
constexpr int64_t kSlice = 100'000;
// Real time after which a thread that may go on at last does so whatever others do: they run but call nothing (where a run is to be
// like the next one, as long as a busy machine may keep them from running); they are inside a call.
constexpr int64_t kPatience = 5'000'000, kPatienceForOrder = 400'000'000, kPatienceWithCalls = 2'000'000'000;
constexpr std::chrono::microseconds kLook{50};
constexpr int kQuietLooks = 6;  // in a row: a thread that starts another one sleeps for moments

int64_t read(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

double scale_asked_for() {
  const char* text = std::getenv("WARPBEAM_HOST_SCALE");
  if (!text || !*text) return 1;
  char* end = nullptr;
  const double scale = std::strtod(text, &end);
  if (!*end && scale >= 0 && scale <= 1e6) return scale;
  fmt::print(stderr, "warpbeam: WARPBEAM_HOST_SCALE={}: a number from 0 to 1000000 was needed; host code counts once\n", text);
  return 1;
}

bool asked_for() {
  const char* text = std::getenv("WARPBEAM_CLOCK");
  if (!text || !*text || std::string_view(text) == "host") return false;
  if (std::string_view(text) == "device") return true;
  fmt::print(stderr, "warpbeam: WARPBEAM_CLOCK={}: host or device; it is the host's\n", text);
  return false;
}

}  // namespace

struct HostClock::Thread {
  ~Thread();
  bool seen = false, in_function = false;
  bool waiting = false;      // for its turn, at
  double until = 0;
  pid_t id = 0;
  int number = 0;
  int depth = 0;
  uint64_t looks = 0;
  double here = 0;           // inside the runtime
  double function_begun = 0, function_time = 0;  // on the program's clock; the second grows with what its function sleeps
  int64_t function_real = 0;
};

HostClock::Thread::~Thread() {
  if (!seen) return;
  HostClock& clock = *instance();
  std::lock_guard lock(clock.mutex_);
  std::erase(clock.all_, this);
  clock.changed_.notify_all();
}

HostClock::Thread& HostClock::self() {
  static thread_local Thread self;
  return self;
}

// With the mutex held.
HostClock::Thread& HostClock::register_self() {
  Thread& thread = self();
  if (thread.seen) return thread;
  thread.seen = true;
  thread.id = gettid();
  ++threads_;
  all_.push_back(&thread);
  return thread;
}

int HostClock::thread() {
  Thread& thread = self();
  if (scale_ != 0) return gettid();
  if (!thread.number) thread.number = ++numbered_;
  return thread.number;
}

// Never destroyed: a program's last destructors may ask for the time.
HostClock* HostClock::instance() {
  static HostClock* const clock = asked_for() ? new HostClock(scale_asked_for()) : nullptr;
  return clock;
}

HostClock::HostClock(double scale) : scale_(scale), begun_(real()), seen_(begun_) {}

int64_t HostClock::real() { return read(CLOCK_MONOTONIC); }

// Where host code is free, a run is like the next one: clocks begin at fixed moments too.
int64_t HostClock::started(int clock_id) {
  constexpr int64_t kSecond = 1'000'000'000, kDate = 1'704'067'200 * kSecond;  // 2024
  const bool wall = clock_id == CLOCK_REALTIME || clock_id == CLOCK_REALTIME_COARSE || clock_id == CLOCK_TAI;
  const bool cpu = clock_id == CLOCK_PROCESS_CPUTIME_ID || clock_id == CLOCK_THREAD_CPUTIME_ID;
  if (cpu) return 1'000'000;
  if (scale_ == 0) return wall ? kDate : 1000 * kSecond;
  const int64_t then = real();
  return read(clock_id) - (then - begun_);
}

void HostClock::go_on(int64_t now) {
  if (inside_ == 0) time_ += scale_ * static_cast<double>(std::max<int64_t>(0, now - seen_));
  seen_ = std::max(seen_, now);
}

double HostClock::now() {
  Thread& thread = self();
  if (thread.in_function) {
    const double since = scale_ * static_cast<double>(real() - thread.function_real);
    if (scale_ == 0) thread.function_time += kRead;
    return thread.function_time + since;
  }
  if (thread.depth) return thread.here;
  ++thread.looks;
  const int64_t then = real();
  {
    std::lock_guard lock(mutex_);
    register_self();
    go_on(then);
  }
  if (const auto* what = before_looks_.load()) (*what)();
  std::lock_guard lock(mutex_);
  if (inside_ || scale_ == 0) time_ += kRead;
  return time_;
}

// What it took to find out is nobody's time.
void HostClock::go_on_to(double moment) {
  std::lock_guard lock(mutex_);
  time_ = std::max(time_, moment);
  seen_ = std::max(seen_, real());
}

double HostClock::floor() {
  std::lock_guard lock(mutex_);
  return time_;
}

bool HostClock::inside() const { return self().depth > 0; }

bool HostClock::outermost() const { return self().depth == 1; }

uint64_t HostClock::looks() const { return self().looks; }

double& HostClock::here() { return self().here; }

bool HostClock::enter() {
  Thread& thread = self();
  if (thread.depth++) return false;
  const int64_t then = real();
  std::unique_lock lock(mutex_);
  register_self();
  go_on(then);
  ++inside_;
  if (scale_ == 0 && all_.size() > 1) {
    const double now = time_;
    lock.unlock();
    take_turn(thread, now, true);
    lock.lock();
  }
  thread.here = time_;
  return true;
}

bool HostClock::leave() {
  Thread& thread = self();
  if (--thread.depth) return false;
  const int64_t then = real();
  std::lock_guard lock(mutex_);
  time_ = std::max(time_, thread.here);
  seen_ = then;
  --inside_;
  return true;
}

// Whether a thread that this one does not know of as waiting is running: one of the program's that may call something soon.
bool HostClock::somebody_runs(const Thread& self) {
  std::vector<pid_t> waiting{self.id};
  {
    std::lock_guard lock(mutex_);
    for (const Thread* other : all_)
      if (other->waiting) waiting.push_back(other->id);
  }
  DIR* tasks = opendir("/proc/self/task");
  if (!tasks) return false;
  bool any = false;
  while (const dirent* task = any ? nullptr : readdir(tasks)) {
    const pid_t id = static_cast<pid_t>(std::atoi(task->d_name));
    if (id <= 0 || std::ranges::find(waiting, id) != waiting.end()) continue;
    const int file = open(fmt::format("/proc/self/task/{}/stat", id).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;  // it has ended
    char text[256];
    const ssize_t size = ::read(file, text, sizeof text);
    close(file);
    const std::string_view all(text, static_cast<size_t>(std::max<ssize_t>(0, size)));
    const size_t name_ends = all.rfind(')');
    any = name_ends != all.npos && name_ends + 2 < all.size() && all[name_ends + 2] == 'R';
  }
  closedir(tasks);
  return any;
}

bool HostClock::is_my_turn(const Thread& self, bool of_entry, bool* busy) {
  *busy = false;
  if (!of_entry && time_ >= self.until) return true;
  for (const Thread* other : all_) {
    if (other == &self || !other->depth) continue;  // who is outside is told by whether it runs
    if (!other->waiting) *busy = true;
    else if (other->until < self.until || (of_entry && other->until == self.until && other->id < self.id)) *busy = true;
  }
  return false;
}

void HostClock::take_turn(Thread& self, double until, bool of_entry) {
  std::unique_lock lock(mutex_);
  self.waiting = true;
  self.until = until;
  changed_.notify_all();
  int64_t run_since = real();
  const int64_t since = run_since;
  int quiet = 0;
  for (int64_t looked = since;;) {
    bool busy = false;
    if (is_my_turn(self, of_entry, &busy)) break;
    if (busy) {
      quiet = 0;
      looked = run_since = real();
      if (run_since - since > kPatienceWithCalls) break;
    } else {
      lock.unlock();
      const bool runs = somebody_runs(self);
      lock.lock();
      // The clock stands still while a thread is inside, but for what others do outside meanwhile.
      const int64_t now = real();
      if (runs) time_ = std::max(time_, std::min(until, time_ + scale_ * static_cast<double>(now - looked)));
      looked = now;
      if (is_my_turn(self, of_entry, &busy)) break;
      quiet = runs || busy ? 0 : quiet + 1;
      if (quiet == kQuietLooks) break;
      if (real() - run_since > (scale_ == 0 ? kPatienceForOrder : kPatience)) break;
    }
    changed_.wait_for(lock, kLook);
  }
  self.waiting = false;
  changed_.notify_all();
}

void HostClock::wait_turn(double until) {
  if (several_threads() && !self().in_function) take_turn(self(), until, false);
}

void HostClock::begin_function(double at) {
  Thread& thread = self();
  thread.in_function = true;
  thread.function_begun = thread.function_time = at;
  thread.function_real = real();
}

double HostClock::end_function() {
  Thread& thread = self();
  const double ended = now();
  thread.in_function = false;
  return ended - thread.function_begun;
}

void HostClock::sleep(double nanoseconds) {
  Thread& thread = self();
  if (thread.in_function) {
    thread.function_time += nanoseconds;
    return;
  }
  const double until = now() + nanoseconds;
  const int64_t awake = real() + static_cast<int64_t>(nanoseconds);
  while (several_threads()) {
    const int64_t left = awake - real();
    if (left <= 0 || now() >= until) break;
    const timespec slice{0, static_cast<long>(std::min(left, kSlice))};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &slice, nullptr);
  }
  std::lock_guard lock(mutex_);
  time_ = std::max(time_, until);
}

}  // namespace warpbeam::observe
