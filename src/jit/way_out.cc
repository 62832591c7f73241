#include "jit/way_out.h"

#include <fmt/format.h>
#include <link.h>
#include <llvm/Support/ErrorHandling.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace warpbeam::jit {
namespace {

// Of the one thread that compiles.
thread_local sigjmp_buf* way_out = nullptr;
thread_local std::string* complaint = nullptr;  // what LLVM said
thread_local timer_t timer;

using Range = std::pair<uintptr_t, uintptr_t>;
std::array<Range, 2> compilers;  // LLVM's code, and this library's

int note_code(dl_phdr_info* info, size_t, void*) {
  const uintptr_t inside[] = {reinterpret_cast<uintptr_t>(&llvm::report_bad_alloc_error), reinterpret_cast<uintptr_t>(&do_or_leave)};
  for (int k = 0; k < info->dlpi_phnum; ++k) {
    const auto& p = info->dlpi_phdr[k];
    const Range r{info->dlpi_addr + p.p_vaddr, info->dlpi_addr + p.p_vaddr + p.p_memsz};
    for (size_t n = 0; n < compilers.size(); ++n)
      if (p.p_type == PT_LOAD && r.first <= inside[n] && inside[n] < r.second) compilers[n] = r;
  }
  return 0;
}

void set_timer(double seconds) {
  itimerspec when{};
  when.it_value = {static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  timer_settime(timer, 0, &when, nullptr);
}

// Where the thread is in a compiler's own code it holds no lock of the C library's. Elsewhere it is asked again a little later.
void time_is_up(int, siginfo_t*, void* context) {
  if (!way_out) return;
  const auto at = static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  for (const auto& [begin, end] : compilers)
    if (begin <= at && at < end) siglongjmp(*way_out, 1);
  set_timer(1e-3);
}

void cannot_go_on(void*, const char* reason, bool) {
  if (!way_out) return;  // somebody else's use of LLVM
  *complaint = reason;
  siglongjmp(*way_out, 2);
}

// A signal that nobody uses; 0: none is left, and nothing is limited.
int take_signal() {
  dl_iterate_phdr(note_code, nullptr);
  llvm::install_fatal_error_handler(cannot_go_on);
  for (int s = SIGRTMAX - 4; s > SIGRTMIN + 4; --s) {
    struct sigaction old{}, own{};
    if (sigaction(s, nullptr, &old) || old.sa_handler != SIG_DFL) continue;
    own.sa_flags = SA_SIGINFO | SA_RESTART;
    own.sa_sigaction = time_is_up;
    if (!sigaction(s, &own, nullptr)) return s;
  }
  return 0;
}

double most_seconds() {
  const char* set = std::getenv("WARPBEAM_COMPILE_SECONDS");
  const double seconds = set ? std::strtod(set, nullptr) : 0;
  return seconds > 0 ? seconds : 60;
}

}  // namespace

std::string do_or_leave(const std::function<void()>& work) {
  static const int signal = take_signal();
  std::string said;
  sigjmp_buf here;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = gettid();
  const bool timed = signal && !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
  complaint = &said;
  const int left = sigsetjmp(here, 1);
  if (!left) {
    way_out = &here;
    if (timed) set_timer(most_seconds());
    work();
  }
  way_out = nullptr;
  if (timed) timer_delete(timer);
  if (left == 1) return fmt::format("compiling it took more than {} s", most_seconds());
  if (left == 2) return "it cannot be compiled: " + said;
  return "";
}

}  // namespace warpbeam::jit
