#include "observe/check/host_guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "observe/tool.h"

namespace warpbeam::observe::check {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kUserDispatch = 2;  // SYS_USER_DISPATCH, which older headers lack
constexpr int kMostFaults = 20000;  // between two calls of the runtime; then the host's accesses are no longer looked at

thread_local int depth = 0;            // of calls of the runtime
thread_local bool of_program = false;  // the thread has called the runtime: it is not one of ours
thread_local Diversion* diversion = nullptr;
thread_local bool undiverted = false;  // its calls are not seen: what is the host's stays open for them
thread_local uint64_t stepping[4];     // pages that the instruction under way may touch
thread_local int stepping_count = 0;
thread_local uint64_t tried_at = 0;    // where this thread has met a fault that was over when it was looked at
thread_local int tries = 0;

HostGuard* guard = nullptr;

struct Ending {  // of a thread: its last calls are its own affair
  bool known = false;
  ~Ending() {
    if (known && guard) guard->thread_ends();
  }
};
thread_local Ending ending;
struct sigaction previous_fault, previous_trap, previous_call;
std::mutex guard_mutex;

// Another thread may have opened the page since. Not for ever: a store to what can only be read looks the same.
bool may_try_again(uint64_t address) {
  constexpr int kMostTries = 100;
  tries = std::exchange(tried_at, address) == address ? tries + 1 : 1;
  char byte;
  const iovec to{&byte, 1}, from{reinterpret_cast<void*>(address), 1};
  return tries <= kMostTries && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

// While one lives its thread is the guard's: its calls are not the program's.
struct Inside {
  Inside() : diverted(diversion && diversion->exchange(0)) { ++depth; }
  ~Inside() {
    --depth;
    if (diverted) *diversion = 1;
  }
  const bool diverted;
};

bool blocks_diversion() {
  sigset_t blocked;
  return pthread_sigmask(SIG_BLOCK, nullptr, &blocked) || sigismember(&blocked, SIGSYS);
}

#if defined(__x86_64__)
HostStack stack_of_fault(void* context) {
  const auto at = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  HostStack stack = callers(8);
  // The faulting instruction itself, not the one behind a call; handlers are not of interest.
  if (auto it = std::find(stack.begin(), stack.end(), at); it != stack.end()) stack.erase(stack.begin(), it);
  if (!stack.empty() && stack[0] == at) ++stack[0];
  return stack;
}
#endif

void protect(uint64_t begin, uint64_t end, int how) { mprotect(reinterpret_cast<void*>(begin), end - begin, how); }

}  // namespace

HostGuard::HostGuard(Ranges ranges, Touched touched, Lost lost)
    : ranges_(std::move(ranges)), touched_(std::move(touched)), lost_(std::move(lost)) {
#if defined(__x86_64__)
  guard = this;
  struct sigaction action{};
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  action.sa_sigaction = [](int, siginfo_t* info, void* context) {
    if (guard && guard->fault(reinterpret_cast<uint64_t>(info->si_addr), context)) return;
    sigaction(SIGSEGV, &previous_fault, nullptr);  // the instruction faults again, for whoever was there before
  };
  sigaction(SIGSEGV, &action, &previous_fault);
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    if (guard && stepping_count) return guard->step(context);
    sigaction(SIGTRAP, &previous_trap, nullptr);
  };
  sigaction(SIGTRAP, &action, &previous_trap);
  action.sa_sigaction = [](int, siginfo_t* info, void* context) {
    if (guard && diversion && info->si_code == kUserDispatch) return guard->system_call(info->si_syscall, context);
    sigaction(SIGSYS, &previous_call, nullptr);
    raise(SIGSYS);
  };
  sigaction(SIGSYS, &action, &previous_call);
#else
  disabled_ = true;  // stepping over one instruction is written for x86 only
#endif
}

void HostGuard::entered() {
  ++depth;
  if (!std::exchange(of_program, true) && !disabled_) {
    diversion = divert_calls();
    ending.known = true;
  }
  if (diversion) *diversion = 0;
}

void HostGuard::left() {
  if (--depth > 0 || disabled_) return;
  Guarded wanted = ranges_();
  const bool diverted = diversion && !wanted.of_host.empty() && !blocks_diversion();
  leave_open(!diverted);
  close(std::move(wanted));
  if (diverted) *diversion = 1;
}

void HostGuard::host_function(bool begins) {
  if (!begins) return entered();
  if (!depth) entered();
  left();
}

void HostGuard::thread_ends() {
  if (diversion) *diversion = 0;
  leave_open(false);
}

// For the calls of this thread.
void HostGuard::leave_open(bool yes) {
  if (undiverted == yes) return;
  undiverted = yes;
  std::lock_guard lock(guard_mutex);
  busy_ += yes ? 1 : -1;
}

void HostGuard::close(Guarded guarded) {
  std::vector<GuardedRange>& wanted = guarded.ranges;
  std::lock_guard lock(guard_mutex);
  if (busy_) std::erase_if(wanted, [](const GuardedRange& r) { return r.of_host; });
  // Every one costs a call of the host's kernel, whenever work begins and when the program goes on.
  constexpr uint64_t kMostCalls = 50'000;
  constexpr int64_t kAlways = 16;
  if (calls_ > kMostCalls) {
    int64_t others = std::ranges::count_if(wanted, [](const GuardedRange& r) { return !r.of_host; });
    std::erase_if(wanted, [&](const GuardedRange& r) { return !r.of_host && others-- > kAlways; });
  }
  auto among = [](const std::vector<GuardedRange>& all, const GuardedRange& r) { return std::binary_search(all.begin(), all.end(), r); };
  for (const GuardedRange& r : closed_)
    if (!among(wanted, r)) protect(r.begin, r.end, PROT_READ | PROT_WRITE);
  for (const GuardedRange& w : wanted)
    if (!among(closed_, w)) protect(w.begin, w.end, PROT_NONE), ++calls_;
  faults_ = 0;
  closed_ = std::move(wanted);
  of_host_ = std::move(guarded.of_host);
}

void HostGuard::open() {
  std::lock_guard lock(guard_mutex);
  for (const GuardedRange& r : closed_) protect(r.begin, r.end, PROT_READ | PROT_WRITE);
  calls_ += closed_.size();
  closed_.clear();
}

void HostGuard::forget(uint64_t begin, uint64_t end) {
  std::lock_guard lock(guard_mutex);
  std::erase_if(closed_, [&](const GuardedRange& r) {
    if (r.begin < begin || r.end > end) return false;
    protect(r.begin, r.end, PROT_READ | PROT_WRITE);
    return true;
  });
}

void HostGuard::disable() {
  disabled_ = true;
  open();
}

// Gives false when the fault is not ours.
bool HostGuard::fault(uint64_t address, void* context) {
#if defined(__x86_64__)
  const bool of_runtime = depth > 0;
  const Inside inside;
  {
    bool closed = false, open = false;
    {
      std::lock_guard lock(guard_mutex);
      closed = std::any_of(closed_.begin(), closed_.end(), [&](const auto& r) { return address >= r.begin && address < r.end; });
      open = !closed && may_try_again(address);
    }
    if (open) return true;
    if (!closed) {
      if (of_program) lost_(address, static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2, stack_of_fault(context));
      return false;
    }
  }
  // The runtime itself, a thread of the machine, or too much to look at.
  if (of_runtime || !of_program || ++faults_ > kMostFaults || stepping_count == 4) {
    open();
    return true;
  }
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  switch (touched_(address, 1, registers[REG_ERR] & 2, stack_of_fault(context))) {
    case Answer::NotOurs: return false;
    case Answer::Die:
      return disable(), sigaction(SIGSEGV, &previous_fault, nullptr),
             protect(address & ~(kPage - 1), (address & ~(kPage - 1)) + kPage, PROT_NONE), true;
    case Answer::LetThrough: break;
  }
  const uint64_t page = address & ~(kPage - 1);
  stepping[stepping_count++] = page;
  protect(page, page + kPage, PROT_READ | PROT_WRITE);
  registers[REG_EFL] |= 0x100;  // a trap after this one instruction
  return true;
#else
  return false;
#endif
}

void HostGuard::step(void* context) {
#if defined(__x86_64__)
  const Inside inside;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
  std::lock_guard lock(guard_mutex);
  for (; stepping_count; --stepping_count) {
    const uint64_t page = stepping[stepping_count - 1];
    if (std::any_of(closed_.begin(), closed_.end(), [&](const auto& r) { return page >= r.begin && page < r.end; }))
      protect(page, page + kPage, PROT_NONE);
  }
#endif
}

// A call that the program makes of the host's kernel. What it touches is looked at first, and open while it runs.
void HostGuard::system_call(long number, void* context) {
#if defined(__x86_64__)
  const int error = errno;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const SystemCall call{
      number,
      {static_cast<uint64_t>(registers[REG_RDI]), static_cast<uint64_t>(registers[REG_RSI]), static_cast<uint64_t>(registers[REG_RDX]),
       static_cast<uint64_t>(registers[REG_R10]), static_cast<uint64_t>(registers[REG_R8]), static_cast<uint64_t>(registers[REG_R9])}};
  if (call.stands_for_itself()) {
    *diversion = 0;
    if (!call.ends_thread()) leave_open(true);
    open();
    constexpr int kBytesOfCall = 2;
    registers[REG_RAX] = number;
    registers[REG_RIP] -= kBytesOfCall;
    return;
  }
  const Inside inside;
  const std::vector<SystemCall::Buffer> buffers = call.buffers();
  // From here on nobody closes what the call is given, whether or not it is closed yet.
  const auto given = [&](const std::vector<GuardedRange>& ranges, const SystemCall::Buffer& b) {
    return std::ranges::any_of(ranges, [&](const GuardedRange& r) { return r.of_host && b.begin < r.end && r.begin < b.begin + b.bytes; });
  };
  bool opened = false;
  std::vector<SystemCall::Buffer> closed;
  if (!buffers.empty()) {
    std::lock_guard lock(guard_mutex);
    for (const SystemCall::Buffer& b : buffers) {
      opened = opened || given(of_host_, b) || given(closed_, b);
      if (given(closed_, b)) closed.push_back(b);
    }
    busy_ += opened;
  }
  for (const SystemCall::Buffer& b : closed) (void)touched_(b.begin, b.bytes, b.writes, callers(8));
  if (!closed.empty()) open();
  long result = call.make();
  // Others are given closed memory now and then: a structure, a word to wait for.
  if (result == -EFAULT && buffers.empty()) {
    open();
    result = call.make();
  }
  if (opened) {
    {
      std::lock_guard lock(guard_mutex);
      --busy_;
    }
    if (!disabled_) close(ranges_());
  }
  registers[REG_RAX] = result;
  errno = error;
#endif
}

}  // namespace warpbeam::observe::check
