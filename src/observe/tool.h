// A watcher of a whole program, inside its process. The runtime tells it what the host asks for; each launch may be
// given an observer of its kernel (vm/observer.h).
//
// The command line starts a program with WARPBEAM_TOOL=profile or =check, WARPBEAM_TOOL_OPTIONS (a JSON object, what it
// holds is the tool's affair) and WARPBEAM_RECORDING, a folder into which each process of the program writes one file.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/device.h"
#include "vm/machine.h"
#include "vm/memory.h"

namespace warpbeam::observe {

enum class OperationKind : uint8_t { Launch, Copy, Fill, Record, Wait, HostCall, Internal, Library };

// Bytes that an operation reads or writes: `rows` rows of `width` bytes, `pitch` apart, `planes` times, `plane` apart.
struct Bytes {
  uint64_t base = 0, width = 0, pitch = 0, rows = 1, plane = 0, planes = 1;
};

// What the host puts on a stream.
struct Operation {
  uint64_t id = 0;  // counts operations in the order they are queued
  OperationKind kind{};
  int device = 0;
  uint64_t stream = 0;  // id; the default stream has one too
  int priority = 0;     // of the stream
  enum class Queue : uint8_t { Legacy, Blocking, NonBlocking } queue{};
  std::vector<uint64_t> after;  // operations of other streams that it waits for (cudaStreamWaitEvent …); 0: unknown
  Bytes to, from;               // Copy, Fill
  const vm::DeviceMemory* memory = nullptr;  // of its device; lives as long as the process
  std::string name;             // Library: the function that the program called
  uint64_t effort = 0;          // Library: about how many bytes or operations
  uint64_t inner = 0;           // the stream on which it queues what it consists of; 0: it is one piece
  const void* function = nullptr;  // Launch: the kernel, as long as its module lives
  bool timed = true;            // Record: of an event that tells the time
};

enum class WaitKind : uint8_t { Operation, Stream, Device };

// A call of the API that failed.
struct FailedCall {
  std::string function;  // cudaMalloc
  int code = 0;
  std::string error_name, error_text;
  bool is_free = false;
  const void* pointer = nullptr;  // that was to be freed
  // Of a copy or a fill: the bytes that are not all there, or width 0; and where it was to write to.
  Bytes bytes;
  bool writes = false;
  uint64_t destination = 0;
  const vm::DeviceMemory* memory = nullptr;  // in which the bytes were looked for
  std::string reason;  // what is wrong with a launch, one sentence
};

class Tool {
 public:
  virtual ~Tool() = default;

  // --- order of work. queued: on the host's thread; began and ended: on any thread.
  virtual void queued(const Operation&) {}
  // What is queued on a stream between these two is a graph: its nodes are queued one after the other, but only what
  // graph_node names comes before a node. Graphs within a node belong to it. Launches of one `instance` come one after the
  // other, in whatever streams; null: it is none.
  virtual void graph_uploaded(const void* instance, size_t nodes) {}
  virtual void graph_begins(uint64_t stream, const void* instance) {}
  virtual void graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) {}
  virtual void graph_ends(uint64_t stream) {}
  // The call under way instantiates a graph, brings one up to date, or destroys one: of so many nodes, in so many branches.
  virtual void graph_sized(size_t nodes, size_t branches) {}
  virtual void began(uint64_t operation) {}
  virtual void ended(uint64_t operation) {}
  // A function of the program's that a stream calls begins or ends, on this thread.
  virtual void host_function(uint64_t operation, bool begins) {}
  // A Library operation touches memory, on the thread that does its work.
  virtual void touches(uint64_t operation, const Bytes&, bool writes) {}
  // It failed: `trap` names an address that is nobody's.
  virtual void library_failed(uint64_t operation, const vm::Trap& trap, bool writes) {}
  // The calling thread sleeps in the wait that it tells of next (cudaEventBlockingSync, cudaDeviceScheduleBlockingSync).
  virtual void sleeps() {}
  // The host has waited for an operation, for all of a stream (`which` is its id), or for all of a device.
  virtual void waited(WaitKind, uint64_t which) {}
  // The host takes the time between the ends of two operations, which events record.
  virtual void took_time(uint64_t from, uint64_t to) {}
  // A watcher may have a clock of its own. By that, has the device come so far that `waited` would be true? And what lies
  // between the ends of two operations that events recorded, in nanoseconds?
  virtual bool reached(WaitKind, uint64_t which) { return true; }
  virtual std::optional<double> time_between(uint64_t from, uint64_t to) { return std::nullopt; }
  // A launch is about to run. Null: nobody watches it. `launch` lives until the observer's end_grid.
  virtual std::shared_ptr<vm::Observer> launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
    return nullptr;
  }

  // --- memory that the host asked for
  virtual void allocated(const vm::Allocation&, int device) {}
  virtual void freed(const vm::Allocation&, int device) {}
  // The allocation at `base` is there for who comes after that operation.
  virtual void allocated_by(uint64_t base, uint64_t operation) {}
  // The program wants pages of managed memory on a device, or (-1) with the host. True: the watcher wants an operation of that
  // on the stream, the next one that this thread queues.
  virtual bool wants_pages(uint64_t base, uint64_t bytes, int device) { return false; }
  // A pool of stream-ordered memory, a device's or one that the program has made (`own`), is to keep so many bytes that nobody uses.
  virtual void pool_keeps(uint64_t bytes, bool own) {}
  // What cudaMemAdvise says of managed memory: cudaMemoryAdvise, and for which device (-1: the host).
  virtual void advised(uint64_t base, uint64_t bytes, int advice, int device) {}

  // --- the program marks what is of interest
  virtual void recording(bool on) {}            // cudaProfilerStart, cudaProfilerStop
  virtual void range_push(const char* name) {}  // NVTX, of the calling thread
  virtual void range_pop() {}

  // --- mistakes
  // The watcher tells of traps and failed calls by itself.
  virtual bool checks() const { return false; }
  // It wants operations to run one after the other, each when it is queued, so that what it says depends on nothing but the
  // program.
  virtual bool runs_at_once() const { return checks(); }
  virtual void failed_call(const FailedCall&) {}
  virtual void asked_for_error(int code) {}  // the program has seen this error
  virtual void resetting(int device) {}
  // The first call that needs the device.
  virtual void activated(int device) {}
  // A thread of the program enters or leaves the runtime; only a watcher that follows calls is told.
  virtual bool follows_calls() const { return checks(); }
  virtual void entered() {}
  virtual void left() {}

  // The process ends.
  virtual void finish() {}
};

// The watcher of this process; null mostly.
Tool* tool();

// While one lives, its thread is inside the runtime.
class InRuntime {
 public:
  InRuntime() : tool_(tool()) {
    if (tool_ && !tool_->follows_calls()) tool_ = nullptr;
    if (tool_) tool_->entered();
  }
  ~InRuntime() {
    if (tool_) tool_->left();
  }
  InRuntime(const InRuntime&) = delete;
  InRuntime& operator=(const InRuntime&) = delete;

 private:
  Tool* tool_;
};

// Where the recording of this process goes: <WARPBEAM_RECORDING>/<process id>.json, empty if nobody wants one.
std::string recording_path();
// The text of WARPBEAM_TOOL_OPTIONS, "{}" by default.
std::string tool_options();

// Return addresses of the calling thread outside of this library, the nearest first: where in the program a call of the
// runtime stands. `limit` of them at most.
std::vector<uint64_t> callers(size_t limit = 4);
// The exported function of this library through which the program came in; empty if there is none.
std::string called_function();
// "file+0xoffset" of an address of code, which addr2line and llvm-symbolizer take; empty if no file holds it.
std::string module_offset(uint64_t address);

}  // namespace warpbeam::observe
