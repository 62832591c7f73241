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

#include "observe/activity.h"
#include "observe/clock/last_words.h"
#include "observe/clock/time_functions.h"
#include "observe/tools.h"
#include "vm/kernel_clock.h"

namespace warpbeam::observe {

using timing::device::kUnknown;
using timing::device::Kind;
using timing::device::Times;
using timing::device::Way;

namespace {

constexpr size_t kQueued = 1022;  // launches of a stream before a call waits, of an H200
constexpr size_t kStreams = 128;  // that are remembered, idle or not
constexpr double kHostCopy = 10;  // bytes in a nanosecond, from host to host
constexpr double kMiB = 1 << 20;
constexpr uint64_t kSmallAllocation = 1 << 20, kGrain = 512;  // bytes
constexpr double kBlock = 2 * kMiB;
constexpr uint32_t kWriteCombined = 4;      // cudaHostAllocWriteCombined
constexpr uint64_t kFewNodes = 16;          // of a capture
constexpr double kPoolBlock = 32 * kMiB;  // by which pools grow
constexpr double kSmallFill = 4096;     // bytes; an H100
constexpr double kStaged = 64 << 10;    // bytes; less is copied from pageable memory by the processor, whatever the stream has to do
constexpr double kFirstToHost = 512 << 10;  // bytes that come to pageable memory slower
constexpr double kStays = 0.7;              // of L2, that a copy may fill and find again
constexpr double kWarmed = 0.3;             // a launch leaves of how cold it found the host
constexpr double kCooled = 0.5;             // another call, or a look at the clock, adds to it

// The call that the thread is in.
thread_local bool charged = false;  // it has a cost
thread_local bool asked = false;    // and asked only
thread_local bool has_waited = false;  // and waited
thread_local bool quick = false;    // and left the host's caches as they were
thread_local double cold = 1;       // how much of what a launch needs they have not
thread_local uint64_t looks = 0;    // at the clock, when it launched last
thread_local uint64_t last_stream = 0;  // that it launched in
thread_local uint64_t last_launch = 0;  // of this call; 0: none

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

// Of cudaMallocAsync and cudaFreeAsync.
bool in_order(const vm::Allocation& allocation) { return allocation.origin.find("Async") != allocation.origin.npos; }

bool is_on_device(vm::MemoryKind kind) {
  return kind == vm::MemoryKind::Device || kind == vm::MemoryKind::Managed || kind == vm::MemoryKind::Variable;
}

// Counts what a grid does, and hands it over at its end.
class TimedLaunch final : public vm::Observer {
 public:
  TimedLaunch(DeviceClock& clock, std::unique_ptr<LaunchProfile> profile, bool child,
              std::function<std::shared_ptr<vm::Observer>(const vm::Launch&)> make_child)
      : clock_(clock), profile_(std::move(profile)), child_(child), make_child_(std::move(make_child)) {}
  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block& block) override { return profile_->begin_block(block); }
  void end_block(const vm::Block& block, std::unique_ptr<vm::BlockObserver> observer) override {
    profile_->end_block(block, std::move(observer));
  }
  vm::Wanted wanted() const override { return profile_->wanted(); }
  void end_grid(const vm::LaunchResult& result) override {
    profile_->end_grid(result);
    clock_.measured(profile_->operation, *profile_, child_);
    profile_ = nullptr;
  }
  std::shared_ptr<vm::Observer> child(const vm::Launch& launch) override { return profile_ ? make_child_(launch) : nullptr; }

 private:
  DeviceClock& clock_;
  std::unique_ptr<LaunchProfile> profile_;
  const bool child_;
  const std::function<std::shared_ptr<vm::Observer>(const vm::Launch&)> make_child_;
};

}  // namespace

// Small allocations lie in blocks of 2 MiB: whether one needs a new block, or the last one in its block has gone.
bool DeviceClock::SmallBlocks::take(uint64_t base, uint64_t bytes) {
  if (bytes > kSmallAllocation) return false;
  const double size = static_cast<double>((bytes + kGrain - 1) / kGrain * kGrain);
  const bool fits = !sizes.empty() && used + size <= held;
  if (!fits) held += kBlock;
  used += size;
  sizes[base] = size;
  return fits;
}

bool DeviceClock::SmallBlocks::give(uint64_t base) {
  auto found = sizes.find(base);
  if (found == sizes.end()) return false;
  used -= found->second;
  sizes.erase(found);
  const bool stays = used > held - kBlock;
  if (!stays) held -= kBlock;
  return stays;
}

DeviceClock::DeviceClock(HostClock& clock, const model::Device& model, bool records)
    : clock_(clock), model_(model), link_(model::link_of(model)), connections_(connections()), far_(model) {
  clock_.before_looks([this] { look_at_touches(); });
  if (!records || recording_path().empty()) return;
  timeline_ = std::make_unique<Timeline>(clock_);
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
  timeline_->write(recording_path(), model_);
  timeline_->not_cut_short();
}

// --- calls

void DeviceClock::entered() {
  if (auto* watch = activity_watch()) watch->entered();
  if (!clock_.enter()) return;
  charged = asked = quick = false;
  if (!timeline_ && !watches_pages_.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  clock_.here() = touched_by_host(clock_.here());
  if (timeline_) timeline_->begin_call(clock_.here());
}

// Until when the host is busy with what it has touched since that was asked last: pages that were a device's come, and who has read what a kernel
// writes has waited for that.
double DeviceClock::touched_by_host(double at) {
  if (!far_.may_be_touched()) return at;
  const HostTouches touches = far_.touches_of_host();
  for (uint64_t id : touches.read_of)
    if (const auto on = device_of_.find(id); on != device_of_.end()) at = std::max(at, end_of(device(on->second), {id}));
  return at + std::max(0.0, touches.nanoseconds(link_) - clock_.scale() * far_.cost_here() * touches.ours);
}

void DeviceClock::look_at_touches() {
  if (!watches_pages_.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  clock_.go_on_to(touched_by_host(clock_.floor()));
}

void DeviceClock::left() {
  if (auto* watch = activity_watch()) watch->left();
  if (clock_.outermost()) {
    if (!charged) {
      // By where it came in: looking its name up takes longer than most calls.
      static thread_local std::unordered_map<const void*, CallCost> known;
      const auto [cost, fresh] = known.try_emplace(__builtin_return_address(0));
      if (fresh) {
        const std::string function = called_function();
        cost->second = cost_of_call(function);
        pool_keeps_ = pool_keeps_ || function.find("MemPoolSetAttribute") != function.npos;
      }
      charge_call(cost->second);
    }
    if (!quick) cold = std::min(1.0, cold + kCooled);
    if (std::exchange(has_waited, false)) clock_.wait_turn(clock_.here());
    if (const uint64_t launch = std::exchange(last_launch, 0)) {
      std::lock_guard lock(mutex_);
      if (auto still = open_.find(launch); still != open_.end()) still->second.left_alone = true;
    }
  }
  const double here = clock_.here();
  if (!clock_.leave() || !timeline_) return;
  std::lock_guard lock(mutex_);
  timeline_->end_call(here);
}

double DeviceClock::host_now() const { return clock_.inside() ? clock_.here() : clock_.floor(); }

void DeviceClock::charge(double nanoseconds) {
  if (!clock_.inside()) return;
  clock_.here() += nanoseconds;
  charged = true;
}

DeviceClock::Device& DeviceClock::device(int ordinal) {
  auto found = devices_.find(ordinal);
  if (found != devices_.end()) return found->second;
  charge_first(&model::Link::driver);
  charge(link_.context);
  const auto done = [this](const timing::device::Operation& operation, const Times& times) {
    if (timeline_) timeline_->done(operation, times);
    over(operation, times);
    if (auto* watch = activity_watch()) watch->done(operation.id, times.begin, times.end);
    if (operation.kind == Kind::Record) moments_[operation.id] = times.end;
    device_of_.erase(operation.id);
    quiet_.erase(operation.id);
  };
  return devices_.emplace(ordinal, Device{Model(model_, connections_, done)}).first->second;
}

// Whether there is something that pools hold and nobody uses.
bool DeviceClock::give_back_free() {
  const double needed = std::ceil(pool_used_ / kPoolBlock) * kPoolBlock;
  return std::exchange(pool_held_, std::min(pool_held_, needed)) > needed;
}

// The first of its kind.
void DeviceClock::charge_first(double model::Link::* cost) {
  if (std::ranges::find(firsts_, cost) != firsts_.end()) return;
  firsts_.push_back(cost);
  charge(link_.*cost);
}

void DeviceClock::charge_call(const CallCost& cost) {
  charge_first(&model::Link::driver);
  quick = cost.kind == CallCost::Kind::Quick || cost.kind == CallCost::Kind::Node;
  if (cost.kind == CallCost::Kind::Trim && !give_back_free()) return charge(link_.call);
  if (cost.kind == CallCost::Kind::Capture) captured_ = 0;
  const bool more = cost.cost == &model::Link::capture_node && ++captured_ > kFewNodes;
  charge(more ? link_.capture_more : cost.cost ? link_.*cost.cost : link_.call);
  if (cost.kind == CallCost::Kind::Node) ++graph_nodes_;
  if (cost.first) charge_first(cost.first);
  if (cost.kind != CallCost::Kind::Instantiate) return;
  if (!graph_nodes_) graph_nodes_ = last_graph_nodes_;
  charge(link_.instantiate_node * static_cast<double>(graph_nodes_) + (instantiated_ ? 0 : link_.instantiate_first));
  instantiated_ = true;
  last_graph_nodes_ = std::exchange(graph_nodes_, 0);
}

// The first launch of a kernel loads it. Later ones are the faster the less the host has done since the last.
void DeviceClock::charge_launch(const Operation& operation) {
  if (operation.kind == OperationKind::Launch && loaded_.insert(operation.function).second)
    charge(loaded_.size() == 1 ? link_.launch_first : link_.launch_new);
  const uint64_t looked = clock_.looks();
  charge(link_.launch_cold * std::min(1.0, cold + kCooled * static_cast<double>(looked - looks)));
  if (last_stream && last_stream != operation.stream) charge(link_.launch_other_stream);
  cold *= kWarmed, looks = looked, last_stream = operation.stream, quick = true;
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

// --- order

void DeviceClock::add(Ids& to, const Ids& more) {
  for (uint64_t id : more)
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
}

// What the next operation on a stream follows by the rules of streams.
DeviceClock::Ids DeviceClock::before_next_on(const Stream& stream) const {
  Ids ids = stream.last;
  for (const auto& [id, other] : streams_) {
    if (other.device != stream.device || other.last.empty()) continue;
    if (stream.queue == Operation::Queue::Legacy ? other.queue == Operation::Queue::Blocking
                                                 : stream.queue == Operation::Queue::Blocking && other.queue == Operation::Queue::Legacy)
      add(ids, other.last);
  }
  return ids;
}

DeviceClock::Ids DeviceClock::follows(const Operation& operation) {
  Stream& stream = streams_[operation.stream];
  stream.device = operation.device;
  stream.queue = operation.queue;
  auto graph = graphs_.find(operation.stream);
  Ids ids = graph != graphs_.end() ? graph->second.back().after : before_next_on(stream);
  for (uint64_t id : operation.after)
    if (id) add(ids, {id});
  return ids;
}

void DeviceClock::account_for(const Operation& operation, uint64_t id) {
  auto found = graphs_.find(operation.stream);
  if (found == graphs_.end()) {
    streams_[operation.stream].last = {id};
    return;
  }
  Graph& graph = found->second.back();
  for (uint64_t before : graph.after) graph.leaves.erase(before);
  graph.leaves.insert(id);
  graph.after = {id};
  graph.nodes[graph.node] = {id};
}

// Branches of a graph do not hold each other up.
uint64_t DeviceClock::branch_of(const Operation& operation, const Ids& after) {
  constexpr uint64_t kFirst = uint64_t{1} << 40;  // streams of the program have smaller numbers
  if (!graphs_.contains(operation.stream)) return operation.stream;
  uint64_t branch = tails_.empty() && branches_ == 0 ? operation.stream : 0;
  for (uint64_t id : after)
    if (auto tail = tails_.find(id); tail != tails_.end()) {
      branch = tail->second;
      tails_.erase(tail);
      break;
    }
  if (!branch) branch = kFirst + branches_;
  ++branches_;
  tails_[operation.id] = branch;
  return branch;
}

void DeviceClock::graph_begins(uint64_t stream, const void* instance) {
  std::lock_guard lock(mutex_);
  std::vector<Graph>& all = graphs_[stream];
  Graph graph;
  if (all.empty()) {
    charge(link_.graph_call);
    uploads_ = uploaded_.insert(instance).second;
    if (uploads_) charge(link_.graph_upload);
    graph.entry = before_next_on(streams_[stream]);
    instance_of_[stream] = instance;
    if (instance) add(graph.entry, instances_[instance]);
    tails_.clear();
    branches_ = 0;
  } else {
    graph.entry = all.back().after;
  }
  graph.after = graph.entry;
  all.push_back(std::move(graph));
}

void DeviceClock::graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) {
  std::lock_guard lock(mutex_);
  auto found = graphs_.find(stream);
  if (found == graphs_.end()) return;
  charge(link_.graph_node_call + (uploads_ ? link_.graph_upload_node : 0));
  Graph& graph = found->second.back();
  graph.node = node;
  graph.after = after.empty() ? graph.entry : Ids{};
  for (const void* other : after) add(graph.after, graph.nodes[other]);
  graph.nodes[node] = graph.after;  // until it has an operation of its own
}

void DeviceClock::graph_ends(uint64_t stream) {
  std::lock_guard lock(mutex_);
  auto found = graphs_.find(stream);
  if (found == graphs_.end()) return;
  std::vector<Graph>& all = found->second;
  const Graph graph = std::move(all.back());
  all.pop_back();
  const Ids last = graph.leaves.empty() ? graph.entry : Ids(graph.leaves.begin(), graph.leaves.end());
  if (!all.empty()) {
    Graph& outer = all.back();
    for (uint64_t before : outer.after) outer.leaves.erase(before);
    outer.leaves.insert(last.begin(), last.end());
    outer.after = outer.nodes[outer.node] = last;
    return;
  }
  graphs_.erase(found);
  streams_[stream].last = last;
  if (const void* instance = instance_of_[stream]) instances_[instance] = last;
  instance_of_.erase(stream);
}

// --- operations

DeviceClock::Place DeviceClock::place(uint64_t address, const Operation& operation) const {
  const auto kind = [&](const vm::DeviceMemory& memory) -> std::optional<Place> {
    const auto allocation = memory.find(address);
    if (!allocation) return std::nullopt;
    const bool host = allocation->kind == vm::MemoryKind::Pinned || allocation->kind == vm::MemoryKind::Registered;
    return host ? Place::Pinned : Place::Device;
  };
  if (const auto here = kind(*operation.memory)) return *here;
  for (const auto& [ordinal, memory] : memories_)
    if (memory != operation.memory)
      if (const auto there = kind(*memory)) return *there == Place::Pinned ? Place::Pinned : Place::OtherDevice;
  return Place::Pageable;
}

std::string_view DeviceClock::name_of(Place place) {
  switch (place) {
    case Place::Device: return "Device";
    case Place::OtherDevice: return "Peer";
    case Place::Pinned: return "Pinned";
    case Place::Pageable: return "Pageable";
  }
  return "";
}

void DeviceClock::describe_copy(const Operation& operation, timing::device::Operation& to_do, double* pageable_bytes) {
  const auto bytes = static_cast<double>(operation.to.width * operation.to.rows * operation.to.planes);
  const Place to = place(operation.to.base, operation), from = place(operation.from.base, operation);
  const auto is_host = [](Place place) { return place == Place::Pinned || place == Place::Pageable; };
  if (is_host(to) && is_host(from)) return charge(bytes / kHostCopy);
  to_do.kind = Kind::Copy;
  const auto apart = [](const Bytes& b) { return b.rows > 1 && b.pitch != b.width; };
  const double rows = apart(operation.to) || apart(operation.from) ? static_cast<double>(operation.to.rows * operation.to.planes) : 0;
  if (!is_host(to) && !is_host(from)) {
    if (to == Place::Device && from == Place::Device) {
      if (!to_do.in_graph) charge(link_.on_device_call), charge_first(&model::Link::on_device_first);
      const bool stays = 2 * bytes <= kStays * static_cast<double>(model_.l2_bytes);
      const double memory = model_.memory_bytes_per_second() * 1e-9 * link_.on_device_share;
      const double moved = 2 * bytes / (stays ? std::max(memory, link_.on_device_cached) : memory);
      to_do.kind = Kind::Memory;
      to_do.nanoseconds = std::max(least_kernel_time(model_).nanoseconds, link_.copy_start) + moved + rows * link_.device_row;
      to_do.memory_share = stays ? 0 : moved / to_do.nanoseconds;
      return;
    }
    if (!to_do.in_graph) charge(link_.copy_call);
    to_do.way = Way::Peer;
    to_do.nanoseconds = link_.copy_start + bytes / link_.peer;
    return;
  }
  const bool there = is_host(from);
  to_do.way = there ? Way::ToDevice : Way::ToHost;
  if ((there ? from : to) == Place::Pinned) {
    // Of what is small the processor puts the bytes beside the command.
    const bool by_hand = there && !rows && bytes <= link_.inline_bytes;
    if (!to_do.in_graph) charge(link_.copy_call + (by_hand ? bytes / link_.inline_speed : 0));
    const double start = there && !by_hand ? link_.copy_start_to_device : link_.copy_start;
    to_do.nanoseconds = start + rows * link_.copy_row + bytes / (there ? link_.pinned_to_device : link_.pinned_to_host);
    return;
  }
  if (!there) {
    if (!to_do.in_graph) charge(link_.copy_call), charge_first(&model::Link::copy_back_first);
    const double first = std::min(bytes, kFirstToHost);
    to_do.nanoseconds =
        link_.pageable_start + rows * link_.copy_row + first / link_.pageable_to_host_first + (bytes - first) / link_.pageable_to_host;
    return;
  }
  // It goes through a pinned buffer of the driver's, piece by piece: the device waits for the processor.
  if (!to_do.in_graph) charge_first(&model::Link::copy_first);
  if (!to_do.in_graph) charge(link_.pageable_call + (bytes < kStaged && link_.inline_bytes > 0 ? bytes / link_.inline_speed : 0));
  *pageable_bytes = bytes;
  const double last = std::min(bytes, kStaged) / link_.pinned_to_device;
  to_do.nanoseconds =
      link_.copy_start + rows * link_.copy_row + last + (bytes < kStaged && link_.inline_bytes > 0 ? 0 : staging_time(bytes));
}

double DeviceClock::staging_time(double bytes) const {
  const double cached = link_.pageable_far > 0 ? std::min(bytes, link_.host_cache * kMiB) : bytes;
  return cached / link_.pageable_to_device + (bytes > cached ? (bytes - cached) / link_.pageable_far : 0);
}

void DeviceClock::queued(const Operation& operation) {
  std::lock_guard lock(mutex_);
  if (auto* watch = activity_watch()) watch->queued(operation, host_now());
  if (streams_.size() > kStreams && operation.id % kStreams == 0)
    std::erase_if(streams_, [&](const auto& each) {
      const Ids& last = each.second.last;
      return !graphs_.contains(each.first) && std::ranges::none_of(last, [&](uint64_t id) { return device_of_.contains(id); });
    });
  memories_[operation.device] = operation.memory;
  Device& on = device(operation.device);
  const double asked_for = host_now();
  if (!graphs_.contains(operation.stream)) {
    charge(cost_of(operation));
    if (operation.kind == OperationKind::Record) charge_first(&model::Link::record_first);
    if (operation.kind == OperationKind::HostCall) charge_first(&model::Link::host_function_first);
    if (operation.kind == OperationKind::Launch || operation.kind == OperationKind::Library) charge_launch(operation);
    quick = true;
  }
  timing::device::Operation to_do;
  to_do.id = operation.id;
  to_do.priority = operation.priority;
  to_do.in_graph = graphs_.contains(operation.stream);
  to_do.after = follows(operation);
  to_do.stream = branch_of(operation, to_do.after);
  Open open{operation.device, operation.kind};
  double pageable_bytes = 0;  // that are copied to the device
  switch (operation.kind) {
    case OperationKind::Launch:
    case OperationKind::Library:
      to_do.kind = Kind::Kernel;
      to_do.nanoseconds = kUnknown;
      open.effort = static_cast<double>(operation.effort);
      open_[operation.id] = open;
      if (operation.kind == OperationKind::Launch) last_launch = operation.id;
      break;
    case OperationKind::HostCall:
      to_do.kind = Kind::HostFunction;
      to_do.nanoseconds = kUnknown;
      open_[operation.id] = open;
      break;
    case OperationKind::Copy:
      moves_[operation.id] = operation;
      describe_copy(operation, to_do, &pageable_bytes);
      break;
    case OperationKind::Fill: {
      moves_[operation.id] = operation;
      const auto bytes = static_cast<double>(operation.to.width * operation.to.rows * operation.to.planes);
      const double moved = bytes / (model_.memory_bytes_per_second() * 1e-9 * link_.fill_share);
      const bool small = bytes <= kSmallFill;
      if (!to_do.in_graph) charge(small ? link_.small_fill_call : link_.fill_call), charge_first(&model::Link::fill_first);
      to_do.kind = Kind::Memory;
      const double rows = operation.to.rows > 1 && operation.to.pitch != operation.to.width
                              ? static_cast<double>(operation.to.rows * operation.to.planes)
                              : 0;
      to_do.nanoseconds = (small ? link_.small_fill : least_kernel_time(model_).nanoseconds) + moved + rows * link_.fill_row;
      to_do.memory_share = small ? 0 : moved / to_do.nanoseconds;
      break;
    }
    case OperationKind::Record: to_do.kind = Kind::Record; break;
    case OperationKind::Wait: break;
    case OperationKind::Internal:
      if (!wanted_pages_) break;
      charge(link_.prefetch_call);
      if (const auto [bytes, where] = *wanted_pages_; bytes > 0) {
        to_do.kind = Kind::Copy;
        to_do.way = where < 0 ? Way::ToHost : Way::ToDevice;
        to_do.nanoseconds = link_.copy_start + bytes / ((where < 0 ? link_.pinned_to_host : link_.pinned_to_device) * link_.prefetch_share);
      }
      wanted_pages_.reset();
      break;
  }
  on.model.advance(clock_.floor());
  if (clock_.inside() && on.model.unfinished(to_do.stream) >= kQueued)
    if (const auto room = on.model.drain(to_do.stream, kQueued - 1)) clock_.here() = std::max(clock_.here(), *room);
  to_do.submitted = host_now() + link_.submit;
  // Devices know each other's operations only by their ends.
  for (uint64_t id : to_do.after)
    if (auto other = device_of_.find(id); other != device_of_.end() && other->second != operation.device)
      if (const double end = end_of(device(other->second), {id}); end > 0)
        to_do.submitted = std::max(to_do.submitted, end + link_.wait_gap);
  device_of_[operation.id] = operation.device;
  if (timeline_) {
    const bool copy = operation.kind == OperationKind::Copy;
    timeline_->queued(operation, copy ? name_of(place(operation.from.base, operation)) : "",
                      copy ? name_of(place(operation.to.base, operation)) : "", to_do.in_graph);
  }
  const bool staged = to_do.kind == Kind::Copy && to_do.way == Way::ToDevice && pageable_bytes > 0 && !to_do.in_graph && clock_.inside();
  // cudaMemcpy from pageable memory begins when the stream has nothing left to do.
  if (staged && !to_do.after.empty() && called_function().find("Async") == std::string::npos)
    if (const double idle = end_of(on, to_do.after); idle > asked_for) {
      clock_.here() += idle - asked_for;
      to_do.submitted = host_now() + link_.submit;
    }
  if (to_do.kind == Kind::Memory || staged) quiet_[operation.id] = true;
  account_for(operation, operation.id);
  on.model.submit(std::move(to_do));
  if (!staged || pageable_bytes < kStaged) return;
  // Of what is more than a piece the host copies the first one aside once the device takes it.
  if (const double begins = begin_of(on, operation.id); begins > clock_.here() + link_.submit + 1) clock_.here() = begins;
  charge(std::max(0.0, staging_time(pageable_bytes) - link_.pageable_ahead * std::min(1.0, pageable_bytes / kMiB)));
}

void DeviceClock::begins(const vm::Launch& launch, uint64_t operation) {
  launched_ = true;
  if (launch.cooperative) charge(link_.cooperative_call), charge_first(&model::Link::cooperative_first);
  vm::begin_kernel_clock(launch.grid_id, host_now());
  if (timeline_) timeline_->describe_launch(operation, launch);
  if (auto* watch = activity_watch()) watch->describe(operation, launch);
  predictor_.keep_visits(far_.any());
  if (far_.any()) far_.before_launch(operation);
}

std::shared_ptr<vm::Observer> DeviceClock::child(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  return std::make_shared<TimedLaunch>(
      *this, std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, 0, blocks_, &predictor_), true,
      [](const vm::Launch&) { return nullptr; });
}

std::shared_ptr<vm::Observer> DeviceClock::launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  begins(launch, operation);
  const auto make_child = [this, &device, operation](const vm::Launch& launched) { return child(launched, device, operation); };
  return std::make_shared<TimedLaunch>(
      *this, std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, 0, blocks_, &predictor_), false, make_child);
}

void DeviceClock::measured(uint64_t operation, LaunchProfile& profile, bool child) {
  const KernelTime time_of_work = kernel_time(profile);
  KernelTime time = with_waits(time_of_work, vm::end_kernel_clock(profile.launch.grid_id), profile);
  std::lock_guard lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Open& open = found->second;
  if (far_.any() && !child) {
    const LinkUse use = far_.after_launch(operation, profile.prediction ? &profile.prediction->visits : nullptr, open.device);
    const vm::Launch& l = profile.launch;
    const double warps_of_block = (l.block[0] * l.block[1] * l.block[2] + 31) / 32;
    const double at_once =
        std::min<double>(static_cast<double>(uint64_t{l.grid[0]} * l.grid[1] * l.grid[2]), std::max(1u, l.resident_blocks));
    const double all = use.nanoseconds(link_, time.nanoseconds, at_once * warps_of_block, model_.cc() >= 60);
    if (timeline_) timeline_->describe_link_use(operation, use);
    if (profile.prediction) profile.prediction->wait_for_link(all);
    if (all > time.nanoseconds) time.memory_share *= time.nanoseconds / all, time.nanoseconds = all;
  }
  const vm::Launch& launch = profile.launch;
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (child) {  // side by side with the others as far as there is room
    open.of_children += time.nanoseconds * std::min(1.0, static_cast<double>(blocks) / std::max(1u, launch.resident_blocks));
    return;
  }
  open.told = true;
  if (timeline_) timeline_->describe_time(operation, time);
  Model& model = devices_.at(open.device).model;
  double all = time.nanoseconds + open.of_children;
  // It was still waiting when its launch returned: for something that the host has done only now.
  if (const double now = clock_.floor(); open.left_alone)
    if (const auto began = model.look_ahead().begin(operation); began && *began + all < now) all = now + link_.zero_copy_latency - *began;
  model.tell(operation, all, time.memory_share, blocks, std::max(1u, launch.resident_blocks));
}

void DeviceClock::touches(uint64_t operation, const Bytes& bytes, bool) {
  std::lock_guard lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  found->second.bytes += static_cast<double>(bytes.width * bytes.rows * bytes.planes);
  if (far_.any()) far_.used(bytes.base);
}

void DeviceClock::host_function(uint64_t operation, bool begins) {
  std::unique_lock lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Model& model = devices_.at(found->second.device).model;
  if (begins) {
    // The host goes on asking for things that may begin before.
    const auto at = model.look_ahead().begin(operation);
    lock.unlock();
    clock_.begin_function(at.value_or(clock_.floor()));
    return;
  }
  model.set_duration(operation, clock_.end_function());
  found->second.told = true;
}

void DeviceClock::ended(uint64_t operation) {
  std::lock_guard lock(mutex_);
  if (auto move = moves_.find(operation); move != moves_.end()) {
    if (launched_) predictor_.moved(move->second, model_);  // before the first launch nothing is cached
    if (const Bytes& to = move->second.to; far_.any()) {
      far_.placed(to.base, to.rows > 1 ? to.pitch * (to.rows - 1) + to.width : to.width, move->second.device);
      far_.used(to.base);
      far_.used(move->second.from.base);
    }
    moves_.erase(move);
  }
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  const Open& open = found->second;
  Model& model = devices_.at(open.device).model;
  if (open.kind == OperationKind::Library) {
    const KernelTime time = library_time(model_, open.bytes, open.effort);
    model.tell(operation, time.nanoseconds, time.memory_share, 1, 1);
  } else if (!open.told) {
    model.set_duration(operation, open.kind == OperationKind::Launch ? least_kernel_time(model_).nanoseconds : 0);
  }
  open_.erase(found);
}

// --- the host waits and asks

double DeviceClock::end_of(Device& on, const Ids& ids) {
  double last = 0;
  // Another thread may ask for something before that.
  std::optional<Model> ahead;
  if (clock_.several_threads()) ahead = on.model.look_ahead();
  for (uint64_t id : ids)
    if (const auto end = (ahead ? *ahead : on.model).finish(id)) last = std::max(last, *end);
  return last;
}

double DeviceClock::begin_of(Device& on, uint64_t id) {
  if (!clock_.several_threads()) return on.model.begin(id).value_or(0);
  return on.model.look_ahead().begin(id).value_or(0);
}

DeviceClock::Ids DeviceClock::awaited(WaitKind kind, uint64_t which, int* device) const {
  if (kind == WaitKind::Operation) {
    auto found = device_of_.find(which);
    if (found == device_of_.end()) return {};
    *device = found->second;
    return {which};
  }
  if (kind == WaitKind::Device) {
    *device = static_cast<int>(which);
    Ids ids;
    for (const auto& [id, stream] : streams_)
      if (stream.device == *device) add(ids, stream.last);
    return ids;
  }
  auto found = streams_.find(which);
  if (found == streams_.end()) return {};
  *device = found->second.device;
  return found->second.queue == Operation::Queue::Legacy ? before_next_on(found->second) : found->second.last;
}

void DeviceClock::waited(WaitKind kind, uint64_t which) {
  std::lock_guard lock(mutex_);
  if (auto* watch = activity_watch()) watch->waited(kind, which);
  if (!clock_.inside()) return;
  int ordinal = 0;
  const Ids ids = awaited(kind, which, &ordinal);
  // Of a copy within the device cudaMemcpy only waits until it is asked for.
  if (kind == WaitKind::Operation && quiet_.contains(which)) return;
  Device& on = device(ordinal);
  far_.let_host_touch();
  quick = true;
  // A pool gives back what is free whenever the host waits, if nobody has told it to keep that.
  const bool gives_back = !pool_keeps_ && give_back_free();
  const uint64_t freed = std::exchange(pool_freed_, 0);
  pool_waited_ = gives_back ? 0 : pool_waited_ + freed;
  if (!asked) charge(link_.synchronize_call);
  if (const double end = end_of(on, ids); end > clock_.here()) clock_.here() = end + link_.wake, has_waited = true;
  if (gives_back) charge(link_.pool_back);
}

bool DeviceClock::reached(WaitKind kind, uint64_t which) {
  std::lock_guard lock(mutex_);
  if (!clock_.inside()) return true;
  if (!charged) charge(link_.query_call);
  asked = quick = true;
  int ordinal = 0;
  const Ids ids = awaited(kind, which, &ordinal);
  if (ids.empty()) return true;
  Model& model = device(ordinal).model;
  model.advance(clock_.several_threads() ? clock_.floor() : clock_.here());
  const auto over = [&](const Model& model) { return std::ranges::all_of(ids, [&](uint64_t id) { return model.is_done(id); }); };
  if (over(model)) {
    far_.let_host_touch();
    return true;
  }
  if (!clock_.several_threads()) return false;
  Model ahead = model.look_ahead();
  ahead.advance(clock_.here());
  return over(ahead);
}

std::optional<double> DeviceClock::time_between(uint64_t from, uint64_t to) {
  std::lock_guard lock(mutex_);
  quick = false;
  const auto moment = [&](uint64_t id) -> std::optional<double> {
    if (auto known = moments_.find(id); known != moments_.end()) return known->second;
    auto on = device_of_.find(id);
    return on == device_of_.end() ? std::nullopt : devices_.at(on->second).model.look_ahead().finish(id);
  };
  const auto began = moment(from), ended = moment(to);
  if (!began || !ended) return std::nullopt;
  return *ended - *began;
}

// --- memory

double DeviceClock::pinned_share(const vm::Allocation& allocation) const {
  return allocation.flags & kWriteCombined ? link_.write_combined : 1;
}

void DeviceClock::allocated(const vm::Allocation& allocation, int ordinal) {
  std::lock_guard lock(mutex_);
  device(ordinal);
  const double mib = static_cast<double>(allocation.size) / kMiB;
  switch (allocation.kind) {
    case vm::MemoryKind::Managed:
      charge(link_.managed_call);
      charge_first(&model::Link::managed_first);
      break;
    case vm::MemoryKind::Device:
      if (!in_order(allocation)) {
        if (small_blocks_.take(allocation.base, allocation.size)) {
          charge(link_.allocate_small_call);
          break;
        }
        charge(link_.allocate_call + link_.allocate_mib * mib);
        charge_first(&model::Link::allocate_first);
        if (device(ordinal).model.unfinished()) charge(link_.allocate_beside);
        break;
      }
      pool_used_ += static_cast<double>(allocation.size);
      charge_first(&model::Link::pool_first);
      if (pool_waited_ && pool_used_ <= pool_held_) --pool_waited_, charge(link_.allocate_in_order_again);
      if (pool_used_ <= pool_held_) {
        charge(link_.allocate_in_order_call);
        break;
      }
      charge(std::ceil((pool_used_ - pool_held_) / kPoolBlock) * (link_.pool_call + link_.pool_mib * kPoolBlock / kMiB));
      pool_held_ = std::ceil(pool_used_ / kPoolBlock) * kPoolBlock;
      break;
    case vm::MemoryKind::Registered: charge(link_.register_call + link_.register_mib * mib); break;
    case vm::MemoryKind::Pinned: charge(link_.pin_call + link_.pin_mib * (1 + std::max(0.0, mib - 1) * pinned_share(allocation))); break;
    case vm::MemoryKind::Variable:
    case vm::MemoryKind::Constant: break;
  }
  far_.allocated(allocation);
  watches_pages_ = far_.watches();
  if (timeline_ && is_on_device(allocation.kind)) timeline_->memory(host_now(), ordinal, static_cast<int64_t>(allocation.size));
  redirect_time();  // in modules that were loaded since
}

void DeviceClock::freed(const vm::Allocation& allocation, int ordinal) {
  std::lock_guard lock(mutex_);
  if (timeline_ && is_on_device(allocation.kind)) timeline_->memory(host_now(), ordinal, -static_cast<int64_t>(allocation.size));
  const bool touched = far_.freed(allocation.base);
  const double mib = static_cast<double>(allocation.size) / kMiB;
  switch (allocation.kind) {
    case vm::MemoryKind::Managed: charge(link_.managed_call + (touched ? link_.managed_used : 0)); break;
    case vm::MemoryKind::Registered: charge(link_.unregister_call + link_.unregister_mib * mib); break;
    case vm::MemoryKind::Pinned:
      charge(link_.unpin_call + link_.unpin_mib * (1 + std::max(0.0, mib - 1) * pinned_share(allocation)));
      break;
    default:
      if (in_order(allocation)) pool_used_ = std::max(0.0, pool_used_ - static_cast<double>(allocation.size));
      if (in_order(allocation)) {
        charge(link_.free_in_order_call);
        ++pool_freed_;
        break;
      }
      if (small_blocks_.give(allocation.base)) {
        charge(link_.allocate_small_call);
        break;
      }
      charge(link_.free_call + link_.free_mib * mib);
      charge_first(&model::Link::free_first);
  }
}

bool DeviceClock::wants_pages(uint64_t base, uint64_t bytes, int device) {
  std::lock_guard lock(mutex_);
  wanted_pages_ = {far_.prefetch(base, bytes, device), device};
  return true;
}

void DeviceClock::advised(uint64_t base, uint64_t bytes, int advice, int device) {
  std::lock_guard lock(mutex_);
  far_.advise(base, bytes, advice, device);
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
  for (auto& [ordinal, device] : devices_)
    for (const auto& [id, stream] : streams_)
      if (stream.device == ordinal)
        for (uint64_t last : stream.last) device.model.finish(last);
}

void DeviceClock::finish() {
  std::lock_guard lock(mutex_);
  if (!timeline_ || getpid() != process_) return;  // of a process that was forked off the rest is its parent's
  let_devices_end();
  const std::string path = recording_path();
  if (!timeline_->write(path, model_)) fmt::print(stderr, "warpbeam: the timeline could not be written to {}\n", path);
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
  return std::make_unique<DeviceClock>(*clock, *model);
}

}  // namespace warpbeam::observe
