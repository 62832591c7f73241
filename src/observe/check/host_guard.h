// Sees what host code does with memory of the device's side. While host code runs, device memory cannot be touched at all,
// and managed and pinned memory not as long as work is under way that uses it: a touch is a fault, which the checker looks
// at before the instruction is let through, one at a time. System calls are looked at before they are made, with the host's
// own memory open (system_calls.h). Inside the runtime nothing is guarded.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "observe/check/findings.h"
#include "observe/check/system_calls.h"

namespace warpbeam::observe::check {

struct GuardedRange {  // in order of addresses
  uint64_t begin = 0, end = 0;  // pages
  bool of_host = false;         // managed or pinned: the host's kernel may touch it too
  auto operator<=>(const GuardedRange&) const = default;
};

struct Guarded {
  std::vector<GuardedRange> ranges;
  std::vector<GuardedRange> of_host;  // all that is the host's, to be guarded now or not
};

class HostGuard {
 public:
  enum class Answer : uint8_t { NotOurs, LetThrough, Die };
  // Both are called with nothing of the guard's locked. `ranges` gives what to guard now.
  using Ranges = std::function<Guarded()>;
  using Touched = std::function<Answer(uint64_t address, uint64_t bytes, bool writes, HostStack stack)>;
  // Where there is no memory at all: the program ends there.
  using Lost = std::function<void(uint64_t address, bool writes, HostStack stack)>;
  HostGuard(Ranges ranges, Touched touched, Lost lost);

  // A thread of the program enters or leaves the runtime.
  void entered();
  void left();
  void thread_ends();
  // A thread of the runtime calls a function of the program's, and it has returned.
  void host_function(bool begins);
  void open();     // guards nothing until the program next leaves the runtime
  void disable();  // for good
  void forget(uint64_t begin, uint64_t end);  // what is there is about to go, or the runtime's no more

 private:
  bool fault(uint64_t address, void* context);
  void step(void* context);
  void system_call(long number, void* context);
  void close(Guarded wanted);
  void leave_open(bool yes);
  Ranges ranges_;
  Touched touched_;
  Lost lost_;
  std::vector<GuardedRange> closed_, of_host_;
  int busy_ = 0;  // what is the host's is open for so many: calls under way that use it, threads whose calls are not seen
  int faults_ = 0;
  uint64_t calls_ = 0;  // of the host's kernel, to close and open
  bool disabled_ = false;
};

}  // namespace warpbeam::observe::check
