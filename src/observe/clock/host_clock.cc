#include "observe/clock/host_clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace warpbeam::observe {

namespace {

constexpr double kRead = 25;  // nanoseconds that reading a clock takes where time stands still otherwise: loops that poll one end
constexpr int64_t kSlice = 100'000;

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
  bool seen = false, in_function = false;
  int depth = 0;
  uint64_t looks = 0;
  double here = 0;           // inside the runtime
  double function_begun = 0, function_time = 0;  // on the program's clock; the second grows with what its function sleeps
  int64_t function_real = 0;
};

HostClock::Thread& HostClock::self() {
  static thread_local Thread self;
  return self;
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
  std::lock_guard lock(mutex_);
  if (!thread.seen) thread.seen = true, ++threads_;
  go_on(then);
  if (inside_ || scale_ == 0) time_ += kRead;
  return time_;
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
  std::lock_guard lock(mutex_);
  if (!thread.seen) thread.seen = true, ++threads_;
  go_on(then);
  ++inside_;
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
