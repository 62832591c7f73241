#include "observe/clock/host_clock.h"

#include <fmt/format.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace warpbeam::observe {

namespace {

constexpr double kSame = 10;  // nanoseconds by which what processes keep busy may differ
constexpr double kRead = 25;  // nanoseconds that reading a clock takes where time stands still otherwise: loops that poll one end
constexpr int64_t kSlice = 100'000;
// Real time after which a thread that may go on at last does so whatever others do: they run but call nothing (where a run is to be
// like the next one, as long as a busy machine may keep them from running); they are inside a call.
constexpr int64_t kPatience = 5'000'000, kPatienceForOrder = 400'000'000, kPatienceWithCalls = 2'000'000'000,
                  kPatienceWithProcesses = 30'000'000;
constexpr int64_t kFresh = 20'000'000;  // in which a process that was forked off may ask for something
constexpr int64_t kLook = 50'000, kLookForDead = 20'000'000;
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

class HostClock::Lock {
 public:
  explicit Lock(SharedTime& shared) : shared_(shared) { lock(); }
  ~Lock() {
    if (held_) unlock();
  }
  void lock() { shared_.lock(), held_ = true; }
  void unlock() { held_ = false, shared_.unlock(); }

 private:
  SharedTime& shared_;
  bool held_ = false;
};

struct HostClock::Thread {
  ~Thread();
  bool seen = false, in_function = false;
  SharedTime::Thread alone{};  // where there is no room for it among the others
  SharedTime::Thread* shared = &alone;
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
  Lock lock(clock.shared_);
  if (shared != &alone) clock.shared_.leave_thread(*shared);
  clock.shared_.tell();
}

HostClock::Thread& HostClock::self() {
  static thread_local Thread self;
  return self;
}

void HostClock::register_process() {
  if (!rank_) {
    process_ = shared_.enter_process(0);
    rank_ = shared_.came;
  }
  if (process_) shared_.not_fresh(*process_);
}

HostClock::Thread& HostClock::register_self() {
  Thread& thread = self();
  if (thread.seen || left_) return thread;
  register_process();
  thread.seen = true;
  if (auto* place = shared_.enter_thread(rank_)) thread.shared = place;
  ++threads_;
  return thread;
}

int HostClock::thread() {
  Thread& thread = self();
  if (scale_ != 0) return gettid();
  if (!thread.number) thread.number = ++numbered_;
  return thread.number;
}

int HostClock::process() {
  Lock lock(shared_);
  if (!left_) register_process();
  return rank_;
}

// Never destroyed: a program's last destructors may ask for the time.
HostClock* HostClock::instance() {
  static HostClock* const clock = asked_for() ? new HostClock(scale_asked_for()) : nullptr;
  return clock;
}

HostClock::HostClock(double scale)
    : scale_(scale), patience_for_order_(kPatienceForOrder), shared_(shared_time([](int clock) { return read(clock); })) {
  {
    Lock lock(shared_);
    came_ = shared_.time;
  }
  std::atexit([] {
    HostClock& clock = *instance();
    Lock lock(clock.shared_);
    clock.left_ = true;
    clock.shared_.leave_process(getpid());
    clock.shared_.tell();
  });
  pthread_atfork(nullptr, nullptr, [] { instance()->forked(); });
}

// What the parent has in common with others stays the parent's.
void HostClock::forked() {
  forked_from_shared_time();
  Thread& thread = self();
  thread.seen = false;
  thread.shared = &thread.alone;
  thread.alone = {};
  threads_ = 0;
  // It may ask for something soon. If it executes another program instead, that is soon forgotten.
  Lock lock(shared_);
  process_ = shared_.enter_process(real());
  rank_ = shared_.came;
}

int64_t HostClock::real() { return read(CLOCK_MONOTONIC); }

// Where host code is free, a run is like the next one: clocks begin at fixed moments too.
int64_t HostClock::started(int clock_id) {
  constexpr int64_t kSecond = 1'000'000'000, kDate = 1'704'067'200 * kSecond;  // 2024
  const bool wall = clock_id == CLOCK_REALTIME || clock_id == CLOCK_REALTIME_COARSE || clock_id == CLOCK_TAI;
  const bool cpu = clock_id == CLOCK_PROCESS_CPUTIME_ID || clock_id == CLOCK_THREAD_CPUTIME_ID;
  if (cpu) return 1'000'000 - static_cast<int64_t>(came_);
  if (scale_ == 0) return wall ? kDate : 1000 * kSecond;
  return shared_.started[clock_id];
}

void HostClock::go_on(int64_t now) {
  if (shared_.inside == 0) shared_.time += scale_ * static_cast<double>(std::max<int64_t>(0, now - shared_.seen));
  shared_.seen = std::max(shared_.seen, now);
  look_for_dead(now);
}

// A process that was killed may have been inside.
void HostClock::look_for_dead(int64_t now) {
  if (!several_processes() || now - shared_.looked < kLookForDead) return;
  shared_.looked = now;
  shared_.remove_dead();
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
    Lock lock(shared_);
    register_self();
    go_on(then);
  }
  if (const auto* what = before_looks_.load()) (*what)();
  Lock lock(shared_);
  if (shared_.inside || scale_ == 0) shared_.time += kRead;
  return shared_.time;
}

// What it took to find out is nobody's time.
void HostClock::go_on_to(double moment) {
  Lock lock(shared_);
  shared_.time = std::max(shared_.time, moment);
  shared_.seen = std::max(shared_.seen, real());
}

double HostClock::floor() {
  Lock lock(shared_);
  return shared_.time;
}

bool HostClock::other_processes() const {
  if (several_processes()) return true;
  const int64_t forked = shared_.forked.load(std::memory_order_relaxed);
  return forked && real() - forked < kFresh;
}

bool HostClock::inside() const { return self().depth > 0; }

bool HostClock::outermost() const { return self().depth == 1; }

uint64_t HostClock::looks() const { return self().looks; }

double& HostClock::here() { return self().here; }

bool HostClock::enter() {
  Thread& thread = self();
  if (thread.depth++) return false;
  const int64_t then = real();
  Lock lock(shared_);
  register_self();
  go_on(then);
  thread.here = shared_.time;
  if (left_) return true;
  ++shared_.inside;
  thread.shared->inside = true;
  if (scale_ == 0 && shared_.live > 1) {
    const double now = shared_.time;
    lock.unlock();
    take_turn(thread, now, true, nullptr);
    lock.lock();
  }
  thread.here = shared_.time;
  return true;
}

bool HostClock::leave() {
  Thread& thread = self();
  if (--thread.depth) return false;
  const int64_t then = real();
  Lock lock(shared_);
  shared_.time = std::max(shared_.time, thread.here);
  shared_.seen = std::max(shared_.seen, then);
  if (left_) return true;
  thread.shared->inside = false;
  --shared_.inside;
  return true;
}

namespace {

// Whether a thread of the process, but for those, is running.
bool runs(pid_t process, const std::vector<pid_t>& but) {
  DIR* tasks = opendir(fmt::format("/proc/{}/task", process).c_str());
  if (!tasks) return false;
  bool any = false;
  while (const dirent* task = any ? nullptr : readdir(tasks)) {
    const pid_t id = static_cast<pid_t>(std::atoi(task->d_name));
    if (id <= 0 || std::ranges::find(but, id) != but.end()) continue;
    const int file = open(fmt::format("/proc/{}/task/{}/stat", process, id).c_str(), O_RDONLY | O_CLOEXEC);
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

}  // namespace

// Whether a thread that is not known to wait is running: one of the program's that may call something soon.
bool HostClock::somebody_runs() {
  std::vector<pid_t> waiting{gettid()}, processes;
  {
    Lock lock(shared_);
    for (size_t k = 0; k < shared_.most_threads; ++k)
      if (shared_.threads[k].waiting) waiting.push_back(shared_.threads[k].id);
    const int64_t now = real();
    for (size_t k = 0; k < shared_.most_processes; ++k)
      if (const auto& [id, fresh, busy] = shared_.processes[k]; id && id != getpid() && (!fresh || now - fresh < kFresh))
        processes.push_back(id);
  }
  return runs(getpid(), waiting) || std::ranges::any_of(processes, [&](pid_t id) { return runs(id, waiting); });
}

bool HostClock::is_my_turn(const Thread& self, bool of_entry, bool* busy) {
  *busy = false;
  const SharedTime::Thread& mine = *self.shared;
  for (size_t k = 0; k < shared_.most_threads; ++k) {
    const SharedTime::Thread& other = shared_.threads[k];
    if (&other == &mine || !other.id || !other.inside) continue;  // who is outside is told by whether it runs
    if (!other.waiting) *busy = true;
    else if (other.until < mine.until ||
             (of_entry && other.until == mine.until && std::pair(other.rank, other.id) < std::pair(mine.rank, mine.id)))
      *busy = true;
    // It may wait for a shorter time than it thinks.
    else if (other.looks_again && other.seen != shared_.version) *busy = true;
  }
  return !of_entry && shared_.time >= mine.until;
}

void HostClock::take_turn(Thread& self, double until, bool of_entry, const std::function<double()>& again) {
  Lock lock(shared_);
  SharedTime::Thread& mine = *self.shared;
  mine.until = until;
  mine.looks_again = static_cast<bool>(again);
  mine.seen = 0;
  mine.waiting = true;
  shared_.tell();
  int64_t run_since = real();
  const int64_t since = run_since;
  int quiet = 0;
  for (int64_t looked = since;;) {
    if (again && mine.seen != shared_.version) {
      const uint64_t version = shared_.version;
      lock.unlock();
      const double later = again();
      lock.lock();
      mine.until = later;
      mine.seen = version;
      shared_.tell();
      quiet = 0;
      if (shared_.version != version) continue;
    }
    bool busy = false;
    if (is_my_turn(self, of_entry, &busy)) break;
    if (busy) {
      quiet = 0;
      looked = run_since = real();
      look_for_dead(looked);
      if (run_since - since > kPatienceWithCalls) break;
    } else {
      lock.unlock();
      const bool others_run = somebody_runs();
      lock.lock();
      // The clock stands still while a thread is inside, but for what others do outside meanwhile.
      const int64_t now = real();
      if (others_run)
        shared_.time = std::max(shared_.time, std::min(mine.until, shared_.time + scale_ * static_cast<double>(now - looked)));
      looked = now;
      if (is_my_turn(self, of_entry, &busy)) break;
      quiet = others_run || busy ? 0 : quiet + 1;
      if (quiet == kQuietLooks) break;
      const int64_t patience = scale_ == 0 ? patience_for_order_.load() : several_processes() ? kPatienceWithProcesses : kPatience;
      if (real() - run_since > patience) {
        // Threads that wait for each other in loops of their own would cost it at every call.
        if (scale_ == 0) patience_for_order_ = std::max<int64_t>(kPatience, patience_for_order_ / 4);
        break;
      }
    }
    const uint32_t changed = shared_.changed.load(std::memory_order_acquire);
    lock.unlock();
    shared_.wait(changed, kLook);
    lock.lock();
  }
  mine.waiting = false;
  shared_.tell();
}

void HostClock::wait_turn(double until, const std::function<double()>& again) {
  if (several_threads() && !self().in_function && !left_) take_turn(self(), until, false, again);
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
  Lock lock(shared_);
  shared_.time = std::max(shared_.time, until);
}

bool HostClock::keep_busy(int device, SharedUnit unit, const std::vector<Span>& spans) {
  Lock lock(shared_);
  if (!process_ || device < 0 || static_cast<size_t>(device) >= SharedTime::kDevices) return false;
  SharedTime::Busy& busy = process_->busy[device][static_cast<size_t>(unit)];
  const auto same = [](const Span& a, const Span& b) { return std::abs(a.begin - b.begin) < kSame && std::abs(a.end - b.end) < kSame; };
  const Span* const known = busy.spans;
  if (std::equal(spans.begin(), spans.end(), known, known + busy.count, same)) return false;
  busy.count = static_cast<uint32_t>(std::min(spans.size(), SharedTime::kSpans));
  std::copy_n(spans.end() - busy.count, busy.count, busy.spans);
  ++shared_.version;
  shared_.tell();
  return true;
}

bool HostClock::others_busy(int device, uint64_t* seen, std::vector<Span> (&spans)[kUnits]) {
  Lock lock(shared_);
  if (*seen == shared_.version || device < 0 || static_cast<size_t>(device) >= SharedTime::kDevices) return false;
  *seen = shared_.version;
  for (size_t k = 0; k < shared_.most_processes; ++k)
    for (size_t unit = 0; &shared_.processes[k] != process_ && unit < kUnits; ++unit) {
      const SharedTime::Busy& busy = shared_.processes[k].busy[device][unit];
      spans[unit].insert(spans[unit].end(), busy.spans, busy.spans + busy.count);
    }
  return true;
}

}  // namespace warpbeam::observe
