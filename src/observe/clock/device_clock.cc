#include "observe/clock/device_clock.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/known_once.h"
#include "observe/activity.h"
#include "observe/clock/call_state.h"
#include "observe/clock/last_words.h"
#include "observe/tools.h"

namespace warpbeam::observe {

using timing::device::kUnknown;
using timing::device::Kind;
using timing::device::Times;
using timing::device::Way;

namespace {

constexpr uint64_t kStreamsTogether = 4;    // what several need is made for so many of them at once
constexpr uint64_t kFewNodes = 16;          // of a capture
constexpr double kWarmed = 0.3;             // a launch leaves of how cold it found the host
using model::kMiB;
constexpr double kLong = 50'000;            // nanoseconds of a call, in which others do something too
constexpr double kThreadAgain = 0.5;        // of a thread's first launch, where another thread that launched has ended
constexpr double kMuchWork = 1e6;           // nanoseconds of the host's own, after which an allocation takes
constexpr double kColdAfterWork = 4;  // so much more of what it does after something else (an H200: two to three times as long as in a row)
constexpr double kCooled = 0.5;  // another call, or a look at the clock, adds to it

int connections() {
  const char* text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (!text || !*text) return timing::device::kUsualConnections;
  int count = 0;
  const std::string_view all = text;
  const auto [end, error] = std::from_chars(all.begin(), all.end(), count);
  if (error == std::errc() && end == all.end() && count >= 1 && count <= 32) return count;
  fmt::print(stderr, "warpbeam: CUDA_DEVICE_MAX_CONNECTIONS={}: a number from 1 to 32 was needed; there are {}\n", text,
             timing::device::kUsualConnections);
  return timing::device::kUsualConnections;
}

std::vector<int> visible_devices() {
  const char* text = std::getenv("CUDA_VISIBLE_DEVICES");
  std::vector<int> all;
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0) return {};
    all.push_back(number);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (!rest.empty() && rest.front() != ',') return {};
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return all;
}

// A thread that launches, until it ends.
struct Launching {
  Launching() { ++now; }
  ~Launching() { --now; }
  static inline std::atomic<int> now = 0;
};

}  // namespace

DeviceClock::DeviceClock(HostClock& clock, const model::Device& model, std::string timeline)
    : clock_(clock),
      model_(model),
      link_(model::link_of(model)),
      connections_(connections()),
      timeline_file_(std::move(timeline)),
      far_(model),
      visible_(visible_devices()) {
  clock_.before_looks([this] { look_at_touches(); });
  if (!timeline_file_.empty()) timeline_ = std::make_unique<Timeline>(clock_);
}

// Of a program that does not come to its end too.
void DeviceClock::save_timeline_in_time() {
  if (!timeline_) return;
  on_sudden_end(
      [this](int signal) {
        {
          std::lock_guard lock(mutex_);
          if (timeline_) timeline_->cut_short(signal);
        }
        finish();
      },
      [this] { save(); });
}

// In case that the process is killed.
void DeviceClock::save() {
  std::lock_guard lock(mutex_);
  if (!timeline_ || getpid() != process_ || timeline_->size() == saved_) return;
  saved_ = timeline_->size();
  timeline_->cut_short(SIGKILL);
  timeline_->write(timeline_file_, model_);
  timeline_->not_cut_short();
}

// --- calls

void DeviceClock::entered() {
  if (auto* watch = activity_watch()) watch->entered();
  if (!clock_.enter()) return;
  this_call.charged = this_call.asked = this_call.quick = this_call.allocates = false;
  this_call.entered = clock_.here();
  if (this_call.went > 0 && this_call.entered - this_call.went > kMuchWork) this_call.cold_memory = kColdAfterWork;
  if (!timeline_ && !watches_pages_.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  clock_.here() = touched_by_host(clock_.here(), true);
  if (timeline_) timeline_->begin_call(clock_.here());
}

// Until when the host is busy with what it has touched since that was asked last: pages that were a device's come, and who has read what a kernel
// writes has waited for that.
double DeviceClock::touched_by_host(double at, bool calls) {
  if (!far_.may_be_touched()) return at;
  const HostTouches touches = far_.touches_of_host(link_, at, calls);
  for (uint64_t id : touches.read_of)
    if (const auto on = device_of_.find(id); on != device_of_.end()) at = std::max(at, end_of(device(on->second), {id}));
  return at + std::max(0.0, touches.nanoseconds(link_) - clock_.scale() * far_.cost_here() * touches.ours);
}

void DeviceClock::look_at_touches() {
  if (!watches_pages_.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  clock_.go_on_to(touched_by_host(clock_.floor(), false));
}

void DeviceClock::left() {
  if (auto* watch = activity_watch()) watch->left();
  if (clock_.outermost()) {
    if (!this_call.charged) {
      // By where it came in: looking its name up takes longer than most calls.
      static KnownOnce<const void*, CallCost>& known = *new KnownOnce<const void*, CallCost>;
      charge_call(known.get(__builtin_return_address(0), [] { return cost_of_call(called_function()); }));
    }
    if (!this_call.allocates) this_call.cold_memory = std::max(this_call.cold_memory, std::min(1.0, this_call.cold_memory + kCooled));
    if (!this_call.quick) this_call.cold = std::min(1.0, this_call.cold + kCooled);
    if (std::exchange(this_call.has_waited, false)) wait_turn();
    else if (tell_others_now_and_then(); clock_.here() - this_call.entered > kLong && clock_.other_processes())
      clock_.wait_turn(clock_.here());
    // What others have launched meanwhile they launched while this thread did something else.
    if (this_call.launched_apart >= 0) this_call.launched_apart = launched_apart_.load(std::memory_order_relaxed);
    if (const uint64_t launch = std::exchange(this_call.last_launch, 0)) {
      std::lock_guard lock(mutex_);
      if (auto still = open_.find(launch); still != open_.end()) still->second.left_alone = true;
      told_one_.notify_all();
    }
  }
  const double here = this_call.went = clock_.here();
  if (!clock_.leave() || !timeline_) return;
  std::lock_guard lock(mutex_);
  timeline_->end_call(here);
}

double DeviceClock::host_now() const { return clock_.inside() ? clock_.here() : clock_.floor(); }

void DeviceClock::charge(double nanoseconds) {
  if (!clock_.inside()) return;
  clock_.here() += nanoseconds;
  this_call.charged = true;
}

DeviceClock::Device& DeviceClock::device(int ordinal) {
  auto found = devices_.find(ordinal);
  if (found != devices_.end()) {
    if (clock_.several_processes() || found->second.others_seen) take_account_of_others(ordinal, found->second);
    return found->second;
  }
  charge_first(&model::Link::driver);
  charge(link_.context);
  const auto done = [this, ordinal](const timing::device::Operation& operation, const Times& times) {
    if (clock_.several_processes()) keep_busy(devices_.at(ordinal).past, operation, times);
    if (timeline_) timeline_->done(operation, times);
    over(operation, times);
    if (auto* watch = activity_watch()) watch->done(operation.id, times.begin, times.end);
    if (operation.kind == Kind::Record) moments_[operation.id] = times.end;
    device_of_.erase(operation.id);
    quiet_.erase(operation.id);
  };
  return devices_.emplace(ordinal, Device{Model(model_, connections_, done), {}, 0}).first->second;
}

// The first of its kind.
void DeviceClock::charge_first(double model::Link::* cost) {
  if (std::ranges::find(firsts_, cost) != firsts_.end()) return;
  firsts_.push_back(cost);
  charge(link_.*cost);
}

void DeviceClock::charge_call(const CallCost& cost) {
  charge_first(&model::Link::driver);
  this_call.quick = cost.kind == CallCost::Kind::Quick || cost.kind == CallCost::Kind::Node;
  if (cost.kind == CallCost::Kind::Trim) {
    const double given = pools_give_back(true);
    if (given <= 0) return charge(link_.call);
    charge(link_.pool_back_mib * std::max(0.0, given - kPoolBlock) / kMiB);
  }
  if (cost.kind == CallCost::Kind::Capture) captured_ = 0;
  const bool more = cost.cost == &model::Link::capture_node && ++captured_ > kFewNodes;
  charge(more ? link_.capture_more : cost.cost ? link_.*cost.cost : link_.call);
  if (cost.first) charge_first(cost.first);
  if (cost.kind == CallCost::Kind::StreamEnd && streams_now_) --streams_now_;
  if (cost.kind == CallCost::Kind::Stream && ++streams_now_ > most_streams_ && (most_streams_ = streams_now_) % kStreamsTogether == 2) {
    if (most_streams_ == 2) charge_first(&model::Link::stream_second);
    else charge(link_.stream_fourth);
  }
  const double nodes = std::exchange(this_call.graph_nodes, 0), branches = std::exchange(this_call.graph_branches, 0);
  if (cost.kind == CallCost::Kind::Update) charge(link_.graph_update_node * nodes);
  if (cost.kind == CallCost::Kind::Destroy) charge(link_.graph_end_node * nodes + link_.graph_end_branch * std::max(0.0, branches - 1));
  if (cost.kind == CallCost::Kind::Discard) charge(link_.graph_discard_node * nodes);
  if (cost.kind != CallCost::Kind::Instantiate) return;
  charge_first(&model::Link::instantiate_first);
  charge_first(&model::Link::stream_second);  // a graph needs it, too
  // What an earlier graph needed is there.
  charge(link_.instantiate_node * std::max(0.0, nodes - most_graph_nodes_) + link_.instantiate_again * std::min(nodes, most_graph_nodes_));
  charge(link_.instantiate_new_branch * std::max(0.0, branches - most_graph_branches_) +
         link_.instantiate_branch * std::max(0.0, branches - 1));
  most_graph_nodes_ = std::max(most_graph_nodes_, nodes), most_graph_branches_ = std::max(most_graph_branches_, branches);
}

// What a launch does beside others' launches (all but launch_locked) has been going on while others did that too.
void DeviceClock::charge_beside_others() {
  const double apart = std::max(0.0, link_.launch_call - link_.launch_locked);
  const double by_others = this_call.launched_apart < 0 ? 0 : launched_apart_ - this_call.launched_apart;
  const double saved = std::min(apart, by_others);
  charge(-saved);
  launched_apart_ = launched_apart_ + apart - saved;
  this_call.launched_apart = launched_apart_;
}

// A thread launches for the first time. Threads that begin together do that side by side, but for a part of it. Which of them is first, and
// whether another one has ended, is the host's work: where that is free, so is this.
void DeviceClock::charge_thread() {
  if (clock_.scale() == 0) return;
  thread_local Launching one;
  const bool fresh = Launching::now > most_launching_;
  most_launching_ = std::max(most_launching_, Launching::now.load());
  if (most_launching_ == 1) return;
  const double takes = link_.thread_first * (fresh ? 1 : kThreadAgain);
  charge(host_now() < threads_made_ ? link_.thread_next : takes);
  threads_made_ = host_now() + takes;
}

// Of the program whose first kernel is launched.
void DeviceClock::find_variables(const vm::DeviceMemory& memory) {
  for (const vm::Allocation& allocation : memory.live())
    if (allocation.adopted && !allocation.foreign && allocation.kind == vm::MemoryKind::Managed) far_.variable(allocation);
  watches_pages_ = far_.watches();
  predictor_.keep_visits(far_.any(), far_.any_managed());
}

// The first launch of a kernel loads it. Later ones are the faster the less the host has done since the last.
void DeviceClock::charge_launch(const Operation& operation) {
  if (this_call.launched_apart < 0) charge_thread();
  charge_beside_others();
  charge_first(&model::Link::module_first);
  if (operation.kind == OperationKind::Launch && loaded_.insert(operation.function).second) {
    charge(loaded_.size() == 1 ? link_.launch_first : link_.launch_new);
    find_variables(*operation.memory);
  }
  if (operation.queue != Operation::Queue::Legacy) charge_first(&model::Link::stream_launch_first);
  const uint64_t looked = clock_.looks();
  charge(link_.launch_cold * std::min(1.0, this_call.cold + kCooled * static_cast<double>(looked - this_call.looks)));
  if (this_call.last_stream && this_call.last_stream != operation.stream) charge(link_.launch_other_stream);
  this_call.cold *= kWarmed, this_call.looks = looked, this_call.last_stream = operation.stream, this_call.quick = true;
}

double DeviceClock::cost_of(const Operation& operation) const {
  switch (operation.kind) {
    case OperationKind::Launch:
    case OperationKind::Library: return link_.launch_call;
    case OperationKind::Copy:
    case OperationKind::Fill: return 0;  // what they are decides
    case OperationKind::Record: return operation.timed ? link_.record_call : link_.record_untimed_call;
    case OperationKind::Wait: return link_.wait_call;
    case OperationKind::HostCall: return link_.host_function_call;
    case OperationKind::Internal: return 0;
  }
  return 0;
}

void DeviceClock::activated(int ordinal) {
  std::lock_guard lock(mutex_);
  device(ordinal);
}

void DeviceClock::range_push(const char* name) {
  const double now = clock_.now();
  std::lock_guard lock(mutex_);
  if (timeline_) timeline_->push_range(name, now);
}

void DeviceClock::range_pop() {
  const double now = clock_.now();
  std::lock_guard lock(mutex_);
  if (timeline_) timeline_->pop_range(now);
}

void DeviceClock::let_devices_end() {
  for (auto& [ordinal, device] : devices_) {
    take_account_of_others(ordinal, device);
    for (const auto& [id, stream] : streams_)
      if (stream.device == ordinal)
        for (uint64_t last : stream.last) device.model.finish(last);
  }
}

void DeviceClock::finish() {
  std::lock_guard lock(mutex_);
  if (!timeline_ || getpid() != process_) return;  // of a process that was forked off the rest is its parent's
  let_devices_end();
  write_timeline();
}

void DeviceClock::write_timeline() {
  if (!timeline_ || getpid() != process_) return;
  if (!timeline_->write(timeline_file_, model_)) fmt::print(stderr, "warpbeam: the timeline could not be written to {}\n", timeline_file_);
  timeline_ = nullptr;
}

const model::Device* device_of_clock() {
  const char* name = std::getenv("WARPBEAM_DEVICE");
  return name && *name ? model::find_device(name) : &model::default_device();
}

std::unique_ptr<Tool> make_device_clock() {
  HostClock* clock = HostClock::instance();
  const model::Device* model = device_of_clock();
  if (!clock || !model) return nullptr;
  auto made = std::make_unique<DeviceClock>(*clock, *model, recording_path());
  made->save_timeline_in_time();
  return made;
}

}  // namespace warpbeam::observe
