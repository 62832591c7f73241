#include "observe/check/system_calls.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace warpbeam::observe::check {

#if defined(__x86_64__)

namespace {

constexpr int kSetDispatch = 59, kDispatchOn = 1;  // PR_SET_SYSCALL_USER_DISPATCH, which older headers lack

void add(std::vector<SystemCall::Buffer>& out, const iovec* parts, uint64_t count, bool writes) {
  for (uint64_t k = 0; parts && k < count && k < 1024; ++k)
    out.push_back({reinterpret_cast<uint64_t>(parts[k].iov_base), parts[k].iov_len, writes});
}

}  // namespace

std::vector<SystemCall::Buffer> SystemCall::buffers() const {
  std::vector<Buffer> out;
  const auto parts = reinterpret_cast<const iovec*>(arguments[1]);
  const auto message = reinterpret_cast<const msghdr*>(arguments[1]);
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_recvfrom: return {{arguments[1], arguments[2], true}};
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto: return {{arguments[1], arguments[2], false}};
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2: add(out, parts, arguments[2], true); break;
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2: add(out, parts, arguments[2], false); break;
    case SYS_recvmsg:
      if (message) add(out, message->msg_iov, message->msg_iovlen, true);
      break;
    case SYS_sendmsg:
      if (message) add(out, message->msg_iov, message->msg_iovlen, false);
      break;
    default: break;
  }
  return out;
}

bool SystemCall::stands_for_itself() const {
  switch (number) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
    case SYS_execveat:
    case SYS_exit:
    case SYS_exit_group:
    case SYS_rt_sigreturn:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigsuspend:
    case SYS_sigaltstack:
    case SYS_prctl:
    case SYS_arch_prctl: return true;
    default: return false;
  }
}

bool SystemCall::ends_thread() const { return number == SYS_exit || number == SYS_exit_group; }

long SystemCall::make() const {
  long result;
  register uint64_t fourth asm("r10") = arguments[3];
  register uint64_t fifth asm("r8") = arguments[4];
  register uint64_t sixth asm("r9") = arguments[5];
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

Diversion* divert_calls() {
  // The end of every signal's handler is a call too, which must not be diverted: the C library has it in one place.
  struct {
    void* handler;
    unsigned long flags;
    void* back;
    unsigned long mask;
  } action{};
  if (syscall(SYS_rt_sigaction, SIGSYS, nullptr, &action, sizeof action.mask) || !action.back) return nullptr;
  auto* diversion = new Diversion{0};
  constexpr unsigned long kBytesOfBack = 16;
  if (!prctl(kSetDispatch, kDispatchOn, action.back, kBytesOfBack, diversion)) return diversion;
  delete diversion;
  return nullptr;
}

#else

std::vector<SystemCall::Buffer> SystemCall::buffers() const { return {}; }
bool SystemCall::stands_for_itself() const { return true; }
bool SystemCall::ends_thread() const { return false; }
long SystemCall::make() const { return -1; }
Diversion* divert_calls() { return nullptr; }

#endif

}  // namespace warpbeam::observe::check
