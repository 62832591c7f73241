// System calls of the program, as far as they touch its memory: the host's kernel does not fault where it finds a closed page,
// the call fails. So the calls of threads that have come to the runtime are brought to the guard first ("syscall user
// dispatch" of Linux 5.11 and later, a signal for each call).
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

namespace warpbeam::observe::check {

struct SystemCall {
  long number = 0;
  uint64_t arguments[6]{};
  struct Buffer {
    uint64_t begin = 0, bytes = 0;
    bool writes = false;  // the host's kernel stores there
  };
  // What it reads or stores: read, write and their relatives; empty of others.
  std::vector<Buffer> buffers() const;
  // It acts on the thread or its place in the code, so that nobody else can make it.
  bool stands_for_itself() const;
  bool ends_thread() const;
  // The result, or a negative errno.
  long make() const;
};

// Lets the calling thread's calls come as SIGSYS, whose handler is set, whenever the byte that it gives is 1. Null: this
// kernel cannot. The byte is there for ever: a thread's last calls are made when nothing of it is left.
using Diversion = std::atomic<char>;
Diversion* divert_calls();

}  // namespace warpbeam::observe::check
