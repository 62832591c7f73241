// An Op is one thing a stream does: launch, copy, fill, record, wait, host call. Streams queue them; graphs and
// captures store the same Work without running it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "cuda/api.h"
#include "cuda/streams/scheduler.h"
#include "vm/machine.h"

namespace warpbeam::cuda {

class Context;
class Function;
class LibraryMemory;
struct Stream;
using Clock = std::chrono::steady_clock;

struct LaunchWork {
  vm::Launch launch;
  Function* function = nullptr;
  const void* handle = nullptr;             // as the program named the kernel
  std::shared_ptr<const vm::Program> code;  // a module may be unloaded before the launch is over
};

// One side of a copy or fill: rows `pitch` apart, planes `plane` apart.
struct Region {
  std::byte* base = nullptr;
  size_t pitch = 0;
  size_t plane = 0;
};

struct CopyWork {
  Region to, from;
  size_t width = 0, height = 1, depth = 1;  // bytes, rows, planes
  std::shared_ptr<std::byte[]> staged;      // a private copy of pageable source memory, if `from` points into one
  size_t bytes() const { return width * height * depth; }
  void run() const;
};

struct FillWork {
  Region to;
  uint32_t value = 0;
  unsigned element = 1;                     // bytes: 1, 2 or 4
  size_t width = 0, height = 1, depth = 1;  // elements, rows, planes
  bool own_pages = false;                   // device memory: whole pages of zeros can be had from the host's kernel
  size_t bytes() const { return width * element * height * depth; }
  void run() const;
};

// Marks a moment: the Op's end time is the event's.
struct RecordWork {
  bool timed = true;  // somebody may ask when it was
};

// Only its dependencies matter, and the condition if it has one: that is asked again and again.
struct WaitWork {
  std::function<bool()> ready;
};

struct HostWork {
  std::function<void(cudaError_t)> call;
  bool also_after_failure = false;  // stream callbacks learn of the failure; host functions are not run
  cudaHostFn_t function = nullptr;  // what the program gave, where a graph can have it
  void* data = nullptr;
};

// Something quick that must happen in stream order and calls no user code: stream-ordered free.
struct InternalWork {
  std::function<void()> call;
};

// Work that is other work: it is done when it says so. A thread that waits for it may help.
struct SpanWork {
  std::function<void(std::function<void()> done)> begin;
  std::function<void()> help;
  uint64_t inner;  // id of the stream of that other work
};

// What a library computes in the place of a kernel.
struct LibraryWork {
  std::string name;    // of the function that the program called
  size_t effort = 0;   // about how many bytes or operations: little is done at once, much by another thread
  std::function<void(LibraryMemory&)> run;
};

using Work = std::variant<LaunchWork, CopyWork, FillWork, RecordWork, WaitWork, HostWork, InternalWork, SpanWork, LibraryWork>;

template <class One, size_t I = 0>
constexpr size_t work_index() {
  if constexpr (std::is_same_v<std::variant_alternative_t<I, Work>, One>) return I;
  else return work_index<One, I + 1>();
}

class Op final : public Task {
 public:
  Op(Context& context, std::shared_ptr<Stream> stream, Work work)
      : id(next_id()),
        context_(context),
        stream_(std::move(stream)),
        polls_(std::holds_alternative<WaitWork>(work) && std::get<WaitWork>(work).ready),
        kind_(work.index()),
        bytes_(bytes_moved(work)),
        work_(std::move(work)) {}

  static uint64_t next_id() { return ++count_; }
  const Work& work() const { return work_; }  // until it has been submitted
  void settle();
  const uint64_t id;                          // counts operations; watchers know them by it
  Clock::time_point ended() const { return ended_; }  // valid once done()

 private:
  void start() override;
  void help() override;

  template <class One>
  bool is() const {
    return kind_ == work_index<One>();
  }
  static size_t bytes_moved(const Work& work);
  static inline std::atomic<uint64_t> count_{0};
  void run_now();
  void launch();
  void end();
  bool claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }

  Context& context_;
  std::shared_ptr<Stream> stream_;  // kept alive until the Op has ended
  // What start() needs to know: a waiting thread may claim the Op, run it and change work_ before start() is over.
  const bool polls_;  // a wait with a condition
  const size_t kind_;
  const size_t bytes_;
  Work work_;
  Clock::time_point ended_{};
  std::atomic<bool> claimed_{false};  // whoever claims a queued copy runs it: the copying thread or a waiting one
  std::mutex grid_mutex_;
  std::shared_ptr<vm::Grid> grid_;
  TaskRef self_;                // of a launch under way
  std::function<void()> help_;  // of a SpanWork under way; guarded by grid_mutex_
};

using OpRef = std::shared_ptr<Op>;

// Queues `work` on the stream; null where the stream captures and the work became a node of its graph.
OpRef enqueue(Context& context, const std::shared_ptr<Stream>& stream, Work work, std::span<const TaskRef> after = {});

// A copy that the calling thread makes itself, once everything before it on `stream` is done.
void run_on_this_thread(Context& context, const Stream& stream, const CopyWork& copy);

}  // namespace warpbeam::cuda
