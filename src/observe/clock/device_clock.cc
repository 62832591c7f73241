#include "observe/clock/device_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <utility>

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
constexpr double kSmallFill = 4096;     // bytes; an H100
constexpr double kStaged = 64 << 10;    // bytes that are copied from pageable memory at once, whatever the stream has to do

thread_local bool charged = false;  // the call has a cost
thread_local bool asked = false;    // and asked only

int connections() {
  const char* text = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (!text || !*text) return timing::device::kUsualConnections;
  int count = 0;
  const std::string_view all = text;
  const auto [end, error] = std::from_chars(all.begin(), all.end(), count);
  if (error == std::errc() && end == all.end() && count >= 1 && count <= 32) return count;
  fmt::print(stderr, "warpbeam: CUDA_DEVICE_MAX_CONNECTIONS={}: a number from 1 to 32 was needed; there are {}\n", text, timing::device::kUsualConnections);
  return timing::device::kUsualConnections;
}

// Counts what a grid does, and hands it over at its end.
class TimedLaunch final : public vm::Observer {
 public:
  TimedLaunch(DeviceClock& clock, std::unique_ptr<LaunchProfile> profile, bool child, std::function<std::shared_ptr<vm::Observer>(const vm::Launch&)> make_child)
      : clock_(clock), profile_(std::move(profile)), child_(child), make_child_(std::move(make_child)) {}
  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block& block) override { return profile_->begin_block(block); }
  void end_block(const vm::Block& block, std::unique_ptr<vm::BlockObserver> observer) override { profile_->end_block(block, std::move(observer)); }
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

DeviceClock::DeviceClock(HostClock& clock, const model::Device& model)
    : clock_(clock), model_(model), link_(model::link_of(model)), connections_(connections()) {
  if (!recording_path().empty()) timeline_ = std::make_unique<Timeline>();
}

// --- calls

void DeviceClock::entered() {
  if (!clock_.enter()) return;
  charged = asked = false;
  if (!timeline_) return;
  std::lock_guard lock(mutex_);
  timeline_->begin_call(clock_.here());
}

void DeviceClock::left() {
  if (!charged) charge(link_.call);
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
  charge(link_.context);
  const auto over = [this](const timing::device::Operation& operation, const Times& times) {
    if (timeline_) timeline_->done(operation, times);
    if (operation.kind == Kind::Record) moments_[operation.id] = times.end;
    device_of_.erase(operation.id);
    quiet_.erase(operation.id);
  };
  return devices_.emplace(ordinal, Device{Model(model_, connections_, over)}).first->second;
}

double DeviceClock::cost_of(OperationKind kind) const {
  switch (kind) {
    case OperationKind::Launch:
    case OperationKind::Library: return link_.launch_call;
    case OperationKind::Copy:
    case OperationKind::Fill: return 0;  // what they are decides
    case OperationKind::Record: return link_.record_call;
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
  charge(link_.graph_node_call);
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
  if (!is_host(to) && !is_host(from)) {
    if (to == Place::Device && from == Place::Device) {
      if (!to_do.in_graph) charge(link_.on_device_call);
      const double moved = 2 * bytes / (model_.memory_bytes_per_second() * 1e-9 * link_.on_device_share);
      to_do.kind = Kind::Memory;
      to_do.nanoseconds = link_.copy_start + moved;
      to_do.memory_share = moved / to_do.nanoseconds;
      return;
    }
    if (!to_do.in_graph) charge(link_.copy_call);
    to_do.way = Way::Peer;
    to_do.nanoseconds = link_.copy_start + bytes / link_.peer;
    return;
  }
  const bool there = is_host(from);
  const auto apart = [](const Bytes& b) { return b.rows > 1 && b.pitch != b.width; };
  const double rows = apart(operation.to) || apart(operation.from) ? link_.copy_row * static_cast<double>(operation.to.rows * operation.to.planes) : 0;
  if (!to_do.in_graph) charge(link_.copy_call);
  to_do.way = there ? Way::ToDevice : Way::ToHost;
  if ((there ? from : to) == Place::Pinned) {
    to_do.nanoseconds = link_.copy_start + rows + bytes / (there ? link_.pinned_to_device : link_.pinned_to_host);
    return;
  }
  to_do.nanoseconds = link_.pageable_start + rows + bytes / (there ? link_.pageable_to_device : link_.pageable_to_host);
  if (there) *pageable_bytes = bytes;
}

void DeviceClock::queued(const Operation& operation) {
  std::lock_guard lock(mutex_);
  if (streams_.size() > kStreams && operation.id % kStreams == 0)
    std::erase_if(streams_, [&](const auto& each) {
      const Ids& last = each.second.last;
      return !graphs_.contains(each.first) && std::ranges::none_of(last, [&](uint64_t id) { return device_of_.contains(id); });
    });
  memories_[operation.device] = operation.memory;
  Device& on = device(operation.device);
  if (!graphs_.contains(operation.stream)) charge(cost_of(operation.kind));
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
      if (!to_do.in_graph) charge(small ? link_.small_fill_call : link_.fill_call);
      to_do.kind = Kind::Memory;
      to_do.nanoseconds = (small ? link_.small_fill : least_kernel_time(model_).nanoseconds) + moved;
      to_do.memory_share = small ? 0 : moved / to_do.nanoseconds;
      break;
    }
    case OperationKind::Record: to_do.kind = Kind::Record; break;
    case OperationKind::Wait:
    case OperationKind::Internal: break;
  }
  on.model.advance(clock_.floor());
  if (clock_.inside() && on.model.unfinished(to_do.stream) >= kQueued)
    if (const auto room = on.model.drain(to_do.stream, kQueued - 1)) clock_.here() = std::max(clock_.here(), *room);
  to_do.submitted = host_now() + link_.submit;
  // Devices know each other's operations only by their ends.
  for (uint64_t id : to_do.after)
    if (auto other = device_of_.find(id); other != device_of_.end() && other->second != operation.device)
      if (const double end = end_of(device(other->second), {id}); end > 0) to_do.submitted = std::max(to_do.submitted, end + link_.wait_gap);
  device_of_[operation.id] = operation.device;
  if (timeline_) {
    const bool copy = operation.kind == OperationKind::Copy;
    timeline_->queued(operation, copy ? name_of(place(operation.from.base, operation)) : "", copy ? name_of(place(operation.to.base, operation)) : "", to_do.in_graph);
  }
  const bool staged = to_do.kind == Kind::Copy && to_do.way == Way::ToDevice && pageable_bytes > 0 && !to_do.in_graph && clock_.inside();
  if (to_do.kind == Kind::Memory || staged) quiet_[operation.id] = true;
  account_for(operation, operation.id);
  on.model.submit(std::move(to_do));
  if (!staged) return;
  // The host copies it aside, piece by piece: of what is more than a piece, once the device takes it.
  const double takes = pageable_bytes / link_.pageable_to_device;
  if (pageable_bytes > kStaged)
    if (const double begins = begin_of(on, operation.id); begins > clock_.here()) clock_.here() = begins;
  charge(takes);
}

std::shared_ptr<vm::Observer> DeviceClock::launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  launched_ = true;
  vm::begin_kernel_clock(launch.grid_id, host_now());
  if (timeline_) timeline_->describe_launch(operation, launch);
  const auto make_child = [this, &device, operation](const vm::Launch& child) -> std::shared_ptr<vm::Observer> {
    std::lock_guard lock(mutex_);
    return std::make_shared<TimedLaunch>(*this, std::make_unique<LaunchProfile>(child, device, numbered_++, operation, false, 0, blocks_, &predictor_), true,
                                         [](const vm::Launch&) { return nullptr; });
  };
  return std::make_shared<TimedLaunch>(*this, std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, 0, blocks_, &predictor_), false, make_child);
}

void DeviceClock::measured(uint64_t operation, const LaunchProfile& profile, bool child) {
  KernelTime time = kernel_time(profile);
  // A kernel that waits by its clock takes that long.
  if (const uint64_t ticks = vm::end_kernel_clock(profile.launch.grid_id)) {
    const double seen = static_cast<double>(ticks) / profile.launch.clock_ghz + least_kernel_time(model_).nanoseconds;
    if (seen > time.nanoseconds) time = {seen, time.memory_share * time.nanoseconds / seen};
  }
  std::lock_guard lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Open& open = found->second;
  const vm::Launch& launch = profile.launch;
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  if (child) {  // side by side with the others as far as there is room
    open.of_children += time.nanoseconds * std::min(1.0, static_cast<double>(blocks) / std::max(1u, launch.resident_blocks));
    return;
  }
  open.told = true;
  devices_.at(open.device).model.tell(operation, time.nanoseconds + open.of_children, time.memory_share, blocks, std::max(1u, launch.resident_blocks));
}

void DeviceClock::touches(uint64_t operation, const Bytes& bytes, bool) {
  std::lock_guard lock(mutex_);
  if (auto found = open_.find(operation); found != open_.end()) found->second.bytes += static_cast<double>(bytes.width * bytes.rows * bytes.planes);
}

void DeviceClock::host_function(uint64_t operation, bool begins) {
  std::unique_lock lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Model& model = devices_.at(found->second.device).model;
  if (begins) {
    const auto at = model.begin(operation);
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
  if (!clock_.inside()) return;
  int ordinal = 0;
  const Ids ids = awaited(kind, which, &ordinal);
  // Of a copy within the device cudaMemcpy only waits until it is asked for.
  if (kind == WaitKind::Operation && quiet_.contains(which)) return;
  Device& on = device(ordinal);
  if (!asked) charge(link_.synchronize_call);
  if (const double end = end_of(on, ids); end > clock_.here()) clock_.here() = end + link_.wake;
}

bool DeviceClock::reached(WaitKind kind, uint64_t which) {
  std::lock_guard lock(mutex_);
  if (!clock_.inside()) return true;
  if (!charged) charge(link_.query_call);
  asked = true;
  int ordinal = 0;
  const Ids ids = awaited(kind, which, &ordinal);
  if (ids.empty()) return true;
  Model& model = device(ordinal).model;
  model.advance(clock_.several_threads() ? clock_.floor() : clock_.here());
  const auto over = [&](const Model& model) { return std::ranges::all_of(ids, [&](uint64_t id) { return model.is_done(id); }); };
  if (over(model)) return true;
  if (!clock_.several_threads()) return false;
  Model ahead = model.look_ahead();
  ahead.advance(clock_.here());
  return over(ahead);
}

std::optional<double> DeviceClock::time_between(uint64_t from, uint64_t to) {
  std::lock_guard lock(mutex_);
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

void DeviceClock::allocated(const vm::Allocation& allocation, int ordinal) {
  std::lock_guard lock(mutex_);
  device(ordinal);
  const double mib = static_cast<double>(allocation.size) / kMiB;
  switch (allocation.kind) {
    case vm::MemoryKind::Device:
    case vm::MemoryKind::Managed: charge(link_.allocate_call + link_.allocate_mib * mib); break;
    case vm::MemoryKind::Pinned:
    case vm::MemoryKind::Registered: charge(link_.pin_call + link_.pin_mib * std::max(1.0, mib)); break;
    case vm::MemoryKind::Variable:
    case vm::MemoryKind::Constant: break;
  }
  redirect_time();  // in modules that were loaded since
}

void DeviceClock::freed(const vm::Allocation& allocation, int) {
  const double mib = static_cast<double>(allocation.size) / kMiB;
  const bool host = allocation.kind == vm::MemoryKind::Pinned || allocation.kind == vm::MemoryKind::Registered;
  const bool in_order = allocation.origin.find("Async") != allocation.origin.npos;  // cudaFreeAsync
  charge(in_order ? link_.free_in_order_call : host ? link_.unpin_call + link_.unpin_mib * std::max(1.0, mib) : link_.free_call + link_.free_mib * mib);
}

void DeviceClock::activated(int ordinal) {
  std::lock_guard lock(mutex_);
  device(ordinal);
}

void DeviceClock::range_push(const char* name) {
  std::lock_guard lock(mutex_);
  if (timeline_) timeline_->push_range(name, clock_.now());
}

void DeviceClock::range_pop() {
  std::lock_guard lock(mutex_);
  if (timeline_) timeline_->pop_range(clock_.now());
}

void DeviceClock::finish() {
  std::lock_guard lock(mutex_);
  if (!timeline_) return;
  for (auto& [ordinal, device] : devices_)
    for (const auto& [id, stream] : streams_)
      if (stream.device == ordinal)
        for (uint64_t last : stream.last) device.model.finish(last);
  const std::string path = recording_path();
  if (!timeline_->write(path, model_)) fmt::print(stderr, "warpbeam: the timeline could not be written to {}\n", path);
  timeline_ = nullptr;
}

std::unique_ptr<Tool> make_device_clock() {
  HostClock* clock = HostClock::instance();
  const char* name = std::getenv("WARPBEAM_DEVICE");
  const model::Device* model = name && *name ? model::find_device(name) : &model::default_device();
  if (!clock || !model) return nullptr;
  return std::make_unique<DeviceClock>(*clock, *model);
}

}  // namespace warpbeam::observe
