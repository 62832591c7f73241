// What libcupti asks of the runtime: what the devices did, when, and in which call of the program's it was asked for.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "observe/tool.h"

namespace warpbeam::observe {

// Something that a device did. Times are those of ActivitySink::now.
struct Activity {
  enum class Memory : uint8_t { Pageable, Pinned, Device, Managed };
  OperationKind kind{};
  int device = 0;
  uint64_t stream = 0, operation = 0, call = 0;  // call: the number of the program's call that asked for it
  int priority = 0;
  uint64_t begin = 0, end = 0;
  uint64_t bytes = 0;             // Copy, Fill
  Memory from{}, to{};
  std::string name;               // Launch: the kernel, mangled; Library: the function
  std::array<uint32_t, 3> grid{}, block{}, cluster{};
  uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local = 0;
};

// A call of the program's that asked for operations or waited for some.
struct Call {
  std::string function;  // cudaMemcpyAsync
  uint64_t number = 0;
  uint64_t begin = 0, end = 0;
  bool waited = false;   // and nothing else
  WaitKind what{};       // that it waited for
  uint64_t which = 0;
};

class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  virtual uint64_t now() = 0;
  virtual void did(const Activity&) = 0;    // on any thread
  virtual void called(const Call&) = 0;     // on the thread of the call
  virtual void asked(uint64_t call) = 0;    // the thread's call, of that number, asks for its first operation
  virtual void activated(int device) = 0;   // the first call that needs it
};

// From here on; null: no more. The sink stays for as long as the process lives.
__attribute__((visibility("default"))) void watch_activities(ActivitySink* sink);

// What tells the sink; null: there is none. Watchers that have a time of their own tell it themselves, with `begin` and `end` in
// nanoseconds of that time, in which the program's clock stands at `here` when it asks for the operation.
class ActivityWatch {
 public:
  virtual ~ActivityWatch() = default;
  virtual void entered() = 0;
  virtual void left() = 0;
  virtual void queued(const Operation&, double here) = 0;
  virtual void describe(uint64_t operation, const vm::Launch&) = 0;
  virtual void waited(WaitKind, uint64_t which) = 0;
  virtual void done(uint64_t operation, double begin, double end) = 0;
};
ActivityWatch* activity_watch();
// The same as a watcher by itself, with the times at which this machine did it.
Tool* activity_tool();

}  // namespace warpbeam::observe
