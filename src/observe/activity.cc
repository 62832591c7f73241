#include "observe/activity.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "vm/program.h"

namespace warpbeam::observe {
namespace {

std::atomic<ActivitySink*> current_sink{nullptr};
std::atomic<uint64_t> calls{0};

// The call that the thread is in.
struct Here {
  int depth = 0;
  uint64_t number = 0, begin = 0;
  bool asked = false, waited = false;
  WaitKind what{};
  uint64_t which = 0;
};
thread_local Here here;

double steady() { return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()); }

Activity::Memory memory_of(uint64_t address, const Operation& operation) {
  const auto allocation = operation.memory ? operation.memory->find(address) : std::nullopt;
  if (!allocation) return Activity::Memory::Pageable;
  switch (allocation->kind) {
    case vm::MemoryKind::Managed: return Activity::Memory::Managed;
    case vm::MemoryKind::Device:
    case vm::MemoryKind::Variable: return Activity::Memory::Device;
    default: return Activity::Memory::Pinned;
  }
}

class Watch final : public ActivityWatch {
 public:
  void entered() override {
    if (here.depth++) return;
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    here = {.depth = 1, .begin = sink ? sink->now() : 0};
  }

  void left() override {
    if (here.depth == 0 || --here.depth || !(here.asked || here.waited)) return;
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    if (!sink) return;
    Call call{called_function(), number(*sink), here.begin, sink->now(), !here.asked, here.what, here.which};
    sink->called(call);
  }

  void queued(const Operation& operation, double at) override {
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    if (!sink) return;
    Open open;
    Activity& activity = open.activity;
    if (here.depth) {
      activity.call = number(*sink);
      here.asked = true;
    }
    const bool shown = operation.kind == OperationKind::Launch || operation.kind == OperationKind::Copy ||
                       operation.kind == OperationKind::Fill || operation.kind == OperationKind::Library ||
                       operation.kind == OperationKind::Record;
    if (!shown) return;
    activity.kind = operation.kind;
    activity.device = operation.device;
    activity.stream = operation.stream;
    activity.operation = operation.id;
    activity.priority = operation.priority;
    activity.name = operation.name;
    activity.bytes = operation.to.width * operation.to.rows * operation.to.planes;
    if (operation.kind == OperationKind::Copy || operation.kind == OperationKind::Fill)
      activity.to = memory_of(operation.to.base, operation);
    if (operation.kind == OperationKind::Copy) activity.from = memory_of(operation.from.base, operation);
    open.asked_at = sink->now();
    open.here = at;
    std::lock_guard lock(mutex_);
    open_.insert_or_assign(operation.id, std::move(open));
  }

  void describe(uint64_t operation, const vm::Launch& launch) override {
    std::lock_guard lock(mutex_);
    auto found = open_.find(operation);
    if (found == open_.end()) return;
    Activity& activity = found->second.activity;
    activity.name = launch.kernel->name;
    activity.grid = launch.grid, activity.block = launch.block, activity.cluster = launch.cluster;
    activity.registers = launch.kernel->registers;
    activity.static_shared = launch.kernel->static_shared;
    activity.dynamic_shared = launch.dynamic_shared;
    activity.local = launch.kernel->local_bytes;
  }

  void waited(WaitKind what, uint64_t which) override { here.waited = here.depth > 0, here.what = what, here.which = which; }

  // Of a watcher's own time: only lengths and order mean something there, so the sink's clock goes on from where it was asked for.
  void done(uint64_t operation, double begin, double end) override {
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    Open open;
    if (!sink || !take(operation, open)) return;
    double rate = 1;
    {
      std::lock_guard lock(mutex_);
      const double real = steady(), shown = static_cast<double>(sink->now());
      if (!first_real_) first_real_ = real, first_shown_ = shown;
      if (real - first_real_ > 1e6) rate = (shown - first_shown_) / (real - first_real_);
      uint64_t& last = last_end_[open.activity.stream];
      open.activity.begin = std::max(last, open.asked_at + static_cast<uint64_t>(std::max(0.0, begin - open.here) * rate));
      last = open.activity.end = open.activity.begin + static_cast<uint64_t>(std::max(0.0, end - begin) * rate);
    }
    sink->did(open.activity);
  }

  void began(uint64_t operation) {
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    if (!sink) return;
    const uint64_t now = sink->now();
    std::lock_guard lock(mutex_);
    if (auto found = open_.find(operation); found != open_.end()) found->second.activity.begin = now;
  }

  void ended(uint64_t operation) {
    ActivitySink* sink = current_sink.load(std::memory_order_acquire);
    Open open;
    if (!take(operation, open) || !sink) return;
    open.activity.end = sink->now();
    if (!open.activity.begin) open.activity.begin = open.activity.end;
    sink->did(open.activity);
  }

 private:
  struct Open {
    Activity activity;
    uint64_t asked_at = 0;
    double here = 0;
  };

  uint64_t number(ActivitySink& sink) {
    if (!here.number) sink.asked(here.number = ++calls);
    return here.number;
  }

  bool take(uint64_t operation, Open& open) {
    std::lock_guard lock(mutex_);
    auto found = open_.find(operation);
    if (found == open_.end()) return false;
    open = std::move(found->second);
    open_.erase(found);
    return true;
  }

  std::mutex mutex_;
  std::unordered_map<uint64_t, Open> open_;
  std::unordered_map<uint64_t, uint64_t> last_end_;  // of a stream
  double first_real_ = 0, first_shown_ = 0;
};

Watch& watch() {
  static auto* watch = new Watch;
  return *watch;
}

class ActivityTool final : public Tool {
 public:
  bool follows_calls() const override { return true; }
  void activated(int device) override {
    if (ActivitySink* sink = current_sink.load(std::memory_order_acquire)) sink->activated(device);
  }
  void entered() override { watch().entered(); }
  void left() override { watch().left(); }
  void queued(const Operation& operation) override { watch().queued(operation, 0); }
  void began(uint64_t operation) override { watch().began(operation); }
  void ended(uint64_t operation) override { watch().ended(operation); }
  void waited(WaitKind what, uint64_t which) override { watch().waited(what, which); }
  std::shared_ptr<vm::Observer> launch(const vm::Launch& launch, const model::Device&, uint64_t operation) override {
    watch().describe(operation, launch);
    return nullptr;
  }
};

}  // namespace

void watch_activities(ActivitySink* sink) { current_sink.store(sink, std::memory_order_release); }

ActivityWatch* activity_watch() { return current_sink.load(std::memory_order_relaxed) ? &watch() : nullptr; }

Tool* activity_tool() {
  if (!current_sink.load(std::memory_order_relaxed)) return nullptr;
  static auto* tool = new ActivityTool;
  return tool;
}

}  // namespace warpbeam::observe
