// What the program calls instead of the system's functions for time while it lives on a device's (time_functions.h). Times
// that are no time of the system's real clocks are handed on.
#include "observe/clock/time_functions.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "observe/clock/host_clock.h"
#include "observe/clock/imports.h"
#include "observe/clock/last_words.h"
#include "observe/clock/vdso.h"

namespace warpbeam::observe {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int kClocks = 12;  // CLOCK_REALTIME … CLOCK_TAI

HostClock& clock() { return *HostClock::instance(); }

bool known(clockid_t id) { return id >= 0 && id < kClocks; }

// Of each of the system's clocks when the program began.
int64_t begun(clockid_t id) {
  static const std::array<int64_t, kClocks> all = [] {
    std::array<int64_t, kClocks> all{};
    for (int k = 0; k < kClocks; ++k) all[static_cast<size_t>(k)] = clock().started(k);
    return all;
  }();
  return all[static_cast<size_t>(id)];
}

int64_t time_of(clockid_t id) { return begun(id) + static_cast<int64_t>(clock().now()); }

timespec split(int64_t nanoseconds) { return {nanoseconds / kSecond, nanoseconds % kSecond}; }
timeval split_micro(int64_t nanoseconds) { return {nanoseconds / kSecond, nanoseconds % kSecond / 1000}; }
int64_t joined(const timespec& t) { return static_cast<int64_t>(t.tv_sec) * kSecond + t.tv_nsec; }
bool valid(const timespec* t) { return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < kSecond; }

int get_clock(clockid_t id, timespec* t) {
  if (!known(id) || !t) return clock_gettime(id, t);
  *t = split(time_of(id));
  return 0;
}

int get_day(timeval* t, void* zone) {
  timeval ignored{};
  if (zone) gettimeofday(&ignored, static_cast<struct timezone*>(zone));
  if (t) *t = split_micro(time_of(CLOCK_REALTIME));
  return 0;
}

time_t get_time(time_t* t) {
  const time_t seconds = time_of(CLOCK_REALTIME) / kSecond;
  if (t) *t = seconds;
  return seconds;
}

int get_ftime(timeb* t) {
  const int64_t now = time_of(CLOCK_REALTIME);
  *t = {};
  t->time = now / kSecond;
  t->millitm = static_cast<unsigned short>(now % kSecond / 1'000'000);
  return 0;
}

int get_timespec(timespec* t, int base) {
  if (base != TIME_UTC) return timespec_get(t, base);
  *t = split(time_of(CLOCK_REALTIME));
  return base;
}

clock_t get_processor_time() { return static_cast<clock_t>(time_of(CLOCK_PROCESS_CPUTIME_ID) / (kSecond / CLOCKS_PER_SEC)); }

clock_t get_times(tms* t) {
  const auto ticks = static_cast<clock_t>(sysconf(_SC_CLK_TCK));
  if (t) *t = {time_of(CLOCK_PROCESS_CPUTIME_ID) / (kSecond / ticks), 0, 0, 0};
  return time_of(CLOCK_MONOTONIC) / (kSecond / ticks);
}

int get_usage(__rusage_who_t who, rusage* usage) {
  const int status = getrusage(who, usage);
  if (status == 0 && who != RUSAGE_CHILDREN) usage->ru_utime = split_micro(time_of(CLOCK_PROCESS_CPUTIME_ID)), usage->ru_stime = {};
  return status;
}

double get_seconds() { return static_cast<double>(time_of(CLOCK_MONOTONIC)) * 1e-9; }

// std::chrono's: a time point is a count of nanoseconds.
int64_t get_steady() { return time_of(CLOCK_MONOTONIC); }
int64_t get_system() { return time_of(CLOCK_REALTIME); }

void sleep_for(int64_t nanoseconds) {
  if (nanoseconds > 0) clock().sleep(static_cast<double>(nanoseconds));
}

int sleep_nano(const timespec* t, timespec* left) {
  if (!valid(t)) return nanosleep(t, left);
  sleep_for(joined(*t));
  if (left) *left = {};
  return 0;
}

int sleep_clock(clockid_t id, int flags, const timespec* t, timespec* left) {
  if (!known(id) || !valid(t)) return clock_nanosleep(id, flags, t, left);
  sleep_for(flags & TIMER_ABSTIME ? joined(*t) - time_of(id) : joined(*t));
  if (left && !(flags & TIMER_ABSTIME)) *left = {};
  return 0;
}

int sleep_micro(useconds_t micro) { return sleep_for(int64_t{1000} * micro), 0; }
unsigned sleep_seconds(unsigned seconds) { return sleep_for(kSecond * seconds), 0u; }

// std::this_thread::__sleep_for, which the C++ library has.
void sleep_parts(int64_t seconds, int64_t nanoseconds) { sleep_for(seconds * kSecond + nanoseconds); }

// A select or poll of nothing is a sleep.
int select_or_sleep(int count, fd_set* reads, fd_set* writes, fd_set* errors, timeval* t) {
  if (count != 0 || reads || writes || errors || !t) return select(count, reads, writes, errors, t);
  return sleep_for(int64_t{t->tv_sec} * kSecond + int64_t{t->tv_usec} * 1000), 0;
}

int poll_or_sleep(pollfd* files, nfds_t count, int milliseconds) {
  if (count != 0 || milliseconds < 0) return poll(files, count, milliseconds);
  return sleep_for(int64_t{1'000'000} * milliseconds), 0;
}

// Waits with a deadline: what is left of the program's time is the longest that they take. Who waits in vain has slept.
template <class Wait>
int wait_until(clockid_t id, const timespec* deadline, int timed_out, Wait&& wait) {
  const int64_t left = joined(*deadline) - time_of(id);
  timespec real{};
  clock_gettime(CLOCK_MONOTONIC, &real);
  const timespec until = split(joined(real) + std::max<int64_t>(0, left));
  const int status = wait(&until);
  if (status == timed_out) sleep_for(joined(*deadline) - time_of(id));
  return status;
}

int wait_condition_clock(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t id, const timespec* t) {
  if (!known(id) || !valid(t)) return pthread_cond_clockwait(condition, mutex, id, t);
  return wait_until(id, t, ETIMEDOUT,
                    [&](const timespec* until) { return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until); });
}

// The clock is the condition's own, which cannot be asked for: that one whose time the deadline is near.
int wait_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* t) {
  if (!valid(t)) return pthread_cond_timedwait(condition, mutex, t);
  const auto far = [&](clockid_t id) { return std::abs(joined(*t) - time_of(id)); };
  return wait_condition_clock(condition, mutex, far(CLOCK_MONOTONIC) < far(CLOCK_REALTIME) ? CLOCK_MONOTONIC : CLOCK_REALTIME, t);
}

int wait_semaphore_clock(sem_t* semaphore, clockid_t id, const timespec* t) {
  if (!known(id) || !valid(t)) return sem_clockwait(semaphore, id, t);
  const int status =
      wait_until(id, t, ETIMEDOUT, [&](const timespec* until) { return sem_clockwait(semaphore, CLOCK_MONOTONIC, until) ? errno : 0; });
  if (!status) return 0;
  errno = status;
  return -1;
}

int wait_semaphore(sem_t* semaphore, const timespec* t) { return wait_semaphore_clock(semaphore, CLOCK_REALTIME, t); }

int lock_mutex_clock(pthread_mutex_t* mutex, clockid_t id, const timespec* t) {
  if (!known(id) || !valid(t)) return pthread_mutex_clocklock(mutex, id, t);
  return wait_until(id, t, ETIMEDOUT, [&](const timespec* until) { return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, until); });
}

int lock_mutex(pthread_mutex_t* mutex, const timespec* t) { return lock_mutex_clock(mutex, CLOCK_REALTIME, t); }

// syscall(): those that the functions above stand for.
long call_system(long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
    case SYS_clock_gettime: return get_clock(static_cast<clockid_t>(a), reinterpret_cast<timespec*>(b));
    case SYS_gettimeofday: return get_day(reinterpret_cast<timeval*>(a), reinterpret_cast<void*>(b));
    case SYS_time: return get_time(reinterpret_cast<time_t*>(a));
    case SYS_nanosleep: return sleep_nano(reinterpret_cast<const timespec*>(a), reinterpret_cast<timespec*>(b));
    default: return syscall(number, a, b, c, d, e, f);
  }
}

// Ways to end that run no destructors.
[[noreturn]] void end_now(int status) {
  end_suddenly();
  _exit(status);
}
[[noreturn]] void end_quickly(int status) {
  end_suddenly();
  quick_exit(status);
}

std::span<const Replacement> replacements();

// A function that is looked up by name is the same. The call goes on from where it came: RTLD_NEXT means the module after the caller's.
using Lookup = void* (*)(void*, const char*);
void* look_up(void* library, const char* name) {
  if (name)
    for (const Replacement& r : replacements())
      if (!std::strcmp(r.name, name)) return r.function;
  static const Lookup next = dlsym;
  [[clang::musttail]] return next(library, name);
}

using VersionedLookup = void* (*)(void*, const char*, const char*);
void* look_up_version(void* library, const char* name, const char* version) {
  if (name)
    for (const Replacement& r : replacements())
      if (!std::strcmp(r.name, name)) return r.function;
  static const VersionedLookup next = dlvsym;
  [[clang::musttail]] return next(library, name, version);
}

template <class Function>
constexpr Replacement row(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

namespace {

std::span<const Replacement> replacements() {
  static const Replacement kReplacements[] = {
      row("clock_gettime", get_clock),
      row("gettimeofday", get_day),
      row("time", get_time),
      row("ftime", get_ftime),
      row("timespec_get", get_timespec),
      row("clock", get_processor_time),
      row("times", get_times),
      row("getrusage", get_usage),
      row("omp_get_wtime", get_seconds),
      row("MPI_Wtime", get_seconds),
      row("PMPI_Wtime", get_seconds),
      row("_ZNSt6chrono3_V212steady_clock3nowEv", get_steady),
      row("_ZNSt6chrono3_V212system_clock3nowEv", get_system),
      row("nanosleep", sleep_nano),
      row("clock_nanosleep", sleep_clock),
      row("usleep", sleep_micro),
      row("sleep", sleep_seconds),
      row("_ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE", sleep_parts),
      row("select", select_or_sleep),
      row("poll", poll_or_sleep),
      row("pthread_cond_timedwait", wait_condition),
      row("pthread_cond_clockwait", wait_condition_clock),
      row("sem_timedwait", wait_semaphore),
      row("sem_clockwait", wait_semaphore_clock),
      row("pthread_mutex_timedlock", lock_mutex),
      row("pthread_mutex_clocklock", lock_mutex_clock),
      row("omp_get_wtime_", get_seconds),
      row("mpi_wtime_", get_seconds),
      row("syscall", call_system),
      row("dlsym", look_up),
      row("dlvsym", look_up_version),
      // Of the vdso's library, which can be looked up as others.
      row("__vdso_clock_gettime", get_clock),
      row("__vdso_gettimeofday", get_day),
      row("__vdso_time", get_time),
      row("_exit", end_now),
      row("_Exit", end_now),
      row("quick_exit", end_quickly),
  };
  return kReplacements;
}

}  // namespace

void redirect_time() { redirect_imports(replacements()); }

namespace {

// Before the program's own constructors, which may take the time. A program without the runtime at its side from the start
// is seen when it loads it.
[[gnu::constructor]] void begin(int argc, char** argv, char**) {
  if (!HostClock::instance()) return;
  begun(CLOCK_REALTIME);
  redirect_time();
  replace_vdso(replacements(), argc, argv);
}

}  // namespace
}  // namespace warpbeam::observe
