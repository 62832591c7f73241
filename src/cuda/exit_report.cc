#include "cuda/exit_report.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cuda/edge.h"
#include "observe/tool.h"

namespace warpbeam::cuda {
namespace {

std::atomic<int> failure{cudaSuccess};
std::atomic<uint64_t> failed_calls{0};
std::atomic<bool> seen{false};

struct FirstCall {
  std::string name;
  cudaError_t status = cudaSuccess;
};
FirstCall& first_call() {
  static auto* first = new FirstCall;  // asked when static objects are gone
  return *first;
}

void say(int status, void*) {
  if (status != 0 || seen) return;
  std::fflush(stdout);  // so that this is the last line
  const auto error = static_cast<cudaError_t>(failure.load());
  const uint64_t calls = failed_calls;
  if (calls == 0)
    fmt::print(stderr, "warpbeam: a kernel failed with {}, and the program ended without asking for it\n", name_of_error(error));
  else
    fmt::print(stderr, "warpbeam: a kernel failed, and {} call{} with it, first {} with {}; the program ended as if nothing had happened\n",
               calls, calls == 1 ? "" : "s", first_call().name, name_of_error(first_call().status));
}

// A program that asks again and again until a call succeeds ends only by a signal.
void say_when_stopped(int signal) {
  const uint64_t calls = failed_calls;
  if (calls) {
    char text[200];
    const auto end = fmt::format_to_n(
        text, sizeof text, "warpbeam: stopped; a kernel had failed with error {}, and {} call{} since then: none can succeed any more\n",
        failure.load(), calls, calls == 1 ? "" : "s");
    (void)!write(STDERR_FILENO, text, std::min(end.size, sizeof text));
  }
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void watch_for_signals() {
  for (int signal : {SIGINT, SIGTERM}) {
    struct sigaction now{};
    if (sigaction(signal, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL)
      ::signal(signal, say_when_stopped);
  }
}

}  // namespace

void report_at_exit(cudaError_t error) noexcept {
  int none = cudaSuccess;
  // The checker says it in its own way.
  if (observe::Tool* tool = observe::tool(); tool && tool->checks()) return;
  if (!failure.compare_exchange_strong(none, error)) return;
  on_exit(say, nullptr);
  watch_for_signals();
}

void failure_was_seen() noexcept {
  if (failure.load(std::memory_order_relaxed) != cudaSuccess) seen.store(true, std::memory_order_relaxed);
}

void count_failed_call(cudaError_t status) noexcept {
  if (failure.load(std::memory_order_relaxed) == cudaSuccess) return;
  if (failed_calls.fetch_add(1) == 0) first_call() = {observe::called_function(), status};
}

}  // namespace warpbeam::cuda
