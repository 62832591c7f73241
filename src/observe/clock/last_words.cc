#include "observe/clock/last_words.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

namespace warpbeam::observe {
namespace {

constexpr int kSeconds = 5;
constexpr int64_t kSecond = 1'000'000'000, kRest = 20;  // of saving, the time that it took: so many times
constexpr int kSignals[] = {SIGHUP, SIGINT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

struct State {
  std::function<void(int)> write;
  std::function<void()> save;
  sem_t wanted, done;
  std::atomic<int> signal{0};
  std::atomic<bool> told{false};
  pid_t process = 0;
};
State* state = nullptr;  // never destroyed

// All that a signal's handler may do.
void wait_for_it(int signal) {
  if (!state || getpid() != state->process || state->told.exchange(true)) return;
  state->signal = signal;
  sem_post(&state->wanted);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kSeconds;
  while (sem_timedwait(&state->done, &until) && errno == EINTR) {}
}

int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * kSecond + t.tv_nsec;
}

// Until the end is wanted; in between it saves what there is.
void wait_and_save() {
  for (int64_t rest = kSecond;;) {
    const int64_t at = now() + rest;
    const timespec until{at / kSecond, at % kSecond};
    if (!sem_clockwait(&state->wanted, CLOCK_MONOTONIC, &until)) return;
    if (errno != ETIMEDOUT) continue;
    const int64_t before = now();
    state->save();
    rest = std::max(kSecond, kRest * (now() - before));
  }
}

void handle(int signal) {
  wait_for_it(signal);
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

}  // namespace

void on_sudden_end(std::function<void(int)> write, std::function<void()> save) {
  if (state) return;
  state = new State;
  state->write = std::move(write);
  state->save = std::move(save);
  state->process = getpid();
  sem_init(&state->wanted, 0, 0);
  sem_init(&state->done, 0, 0);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread takes no signals
  std::thread([] {
    wait_and_save();
    state->write(state->signal);
    sem_post(&state->done);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  for (int signal : kSignals) {
    struct sigaction now{};
    if (sigaction(signal, nullptr, &now) || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
      continue;  // the program's own, or the runtime's
    struct sigaction ours{};
    ours.sa_handler = handle;
    sigaction(signal, &ours, nullptr);
  }
}

void end_suddenly() { wait_for_it(0); }

}  // namespace warpbeam::observe
