// What is put on streams: how long it takes, and what it costs the host.
#include <algorithm>
#include <cmath>
#include <utility>

#include "observe/activity.h"
#include "observe/clock/call_state.h"
#include "observe/clock/device_clock.h"

namespace warpbeam::observe {

using timing::device::kUnknown;
using timing::device::Kind;
using timing::device::Way;

namespace {

constexpr size_t kQueued = 1022;  // launches of a stream before a call waits, of an H200
constexpr size_t kStreams = 128;  // that are remembered, idle or not
constexpr double kHostCopy = 10;  // bytes in a nanosecond, from host to host
using model::kMiB;
constexpr double kSmallFill = 4096;     // bytes; an H100
constexpr double kStaged = 64 << 10;    // bytes; less is copied from pageable memory by the processor, whatever the stream has to do
constexpr double kFirstToHost = 512 << 10;  // bytes that come to pageable memory slower
constexpr double kFirstStaged = 1 << 20;    // bytes of which the first part is copied faster
constexpr double kFillNode = 0.8, kCopyNode = 1.4;  // times what a node of a graph takes that is no kernel
constexpr double kStays = 0.7;              // of L2, that a copy may fill and find again

}  // namespace

DeviceClock::Place DeviceClock::place(uint64_t address, const Operation& operation, int* owner) const {
  *owner = operation.device;
  const auto kind = [&](const vm::DeviceMemory& memory) -> std::optional<Place> {
    const auto allocation = memory.find(address);
    if (!allocation) return std::nullopt;
    if (allocation->kind == vm::MemoryKind::Pinned || allocation->kind == vm::MemoryKind::Registered) return Place::Pinned;
    const bool own = !allocation->foreign || allocation->kind == vm::MemoryKind::Managed;
    return own ? Place::Device : Place::OtherDevice;
  };
  const auto here = kind(*operation.memory);
  if (here && *here != Place::OtherDevice) return *here;
  for (const auto& [ordinal, memory] : memories_) {
    if (memory == operation.memory) continue;
    const auto there = kind(*memory);
    if (!there || *there == Place::OtherDevice) continue;
    if (*there == Place::Pinned) return Place::Pinned;
    *owner = ordinal;
    return Place::OtherDevice;
  }
  return here.value_or(Place::Pageable);
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

void DeviceClock::describe_copy(const Operation& operation, timing::device::Operation& to_do, double* staging) {
  const auto bytes = static_cast<double>(operation.to.width * operation.to.rows * operation.to.planes);
  int owner = 0;
  const Place to = place(operation.to.base, operation, &owner), from = place(operation.from.base, operation, &owner);
  const auto is_host = [](Place place) { return place == Place::Pinned || place == Place::Pageable; };
  if (is_host(to) && is_host(from)) return charge(bytes / kHostCopy);
  const auto is_variable = [&](const Bytes& bytes) {
    const auto allocation = operation.memory->find(bytes.base);
    return allocation && (allocation->kind == vm::MemoryKind::Variable || allocation->kind == vm::MemoryKind::Constant);
  };
  if (!to_do.in_graph && (is_variable(operation.to) || is_variable(operation.from))) charge_first(&model::Link::module_first);
  to_do.kind = Kind::Copy;
  const auto apart = [](const Bytes& b) { return b.rows > 1 && b.pitch != b.width; };
  const double rows = apart(operation.to) || apart(operation.from) ? static_cast<double>(operation.to.rows * operation.to.planes) : 0;
  if (!is_host(to) && !is_host(from)) {
    if (to == Place::Device && from == Place::Device) {
      if (!to_do.in_graph) charge(link_.on_device_call), charge_first(&model::Link::on_device_first);
      const bool stays = 2 * bytes <= kStays * static_cast<double>(model_.l2_bytes);
      const double memory = model_.memory_bytes_per_second() * 1e-9 * link_.on_device_share;
      const double whole = 2 * bytes / (stays ? std::max(memory, link_.on_device_cached) : memory);
      // Rows go by themselves here even where they touch.
      const auto by_rows = static_cast<double>(operation.to.rows * operation.to.planes);
      const double moved = by_rows > 1 ? std::max({whole, 2 * bytes / (memory * link_.on_device_rows), by_rows * link_.device_row}) : whole;
      to_do.kind = Kind::Memory;
      to_do.nanoseconds = std::max(least_kernel_time(model_).nanoseconds, link_.copy_start) + moved;
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
    const bool by_hand = there && !rows && !to_do.in_graph && bytes <= link_.inline_bytes;
    to_do.by_hand = by_hand;
    to_do.in_commands = by_hand && bytes <= link_.copy_inline;
    if (!to_do.in_graph) charge(link_.copy_call + (by_hand ? bytes / link_.inline_speed : 0));
    const double start = there && !by_hand ? link_.copy_start_to_device : link_.copy_start;
    to_do.nanoseconds = start + std::max(rows * link_.copy_row, bytes / (there ? link_.pinned_to_device : link_.pinned_to_host));
    return;
  }
  if (!there) {
    copied_.visit(operation.to.base, static_cast<uint64_t>(bytes), link_.host_cache * kMiB);
    if (!to_do.in_graph) charge(link_.copy_call), charge_first(&model::Link::copy_back_first);
    const double first = std::min(bytes, kFirstToHost);
    to_do.nanoseconds =
        link_.pageable_start + rows * link_.copy_row + first / link_.pageable_to_host_first + (bytes - first) / link_.pageable_to_host;
    return;
  }
  // It goes through a pinned buffer of the driver's, piece by piece: the device waits for the processor.
  if (!to_do.in_graph) charge_first(&model::Link::copy_first);
  if (!to_do.in_graph) charge(link_.pageable_call + (bytes < kStaged && link_.inline_bytes > 0 ? bytes / link_.inline_speed : 0));
  to_do.by_hand = bytes < kStaged && link_.inline_bytes > 0;
  *staging = to_do.by_hand ? 0 : staging_time(operation.from.base, bytes);
  to_do.nanoseconds = link_.copy_start + rows * link_.copy_row + std::min(bytes, kStaged) / link_.pinned_to_device + *staging;
}

// Until the processor has put them into pinned memory. What was copied last it does faster, as far as its caches hold that.
double DeviceClock::staging_time(uint64_t base, double bytes) {
  const double cache = link_.host_cache * kMiB, known = copied_.visit(base, static_cast<uint64_t>(bytes), cache);
  const double cached = link_.pageable_far > 0 ? std::min(known, cache) : bytes;
  const double first = std::min(cached, kFirstStaged);
  return (bytes < kStaged ? 0 : link_.pageable_staged) + first / link_.pageable_to_device_first +
         (cached - first) / link_.pageable_to_device + (bytes > cached ? (bytes - cached) / link_.pageable_far : 0);
}

// Managed memory that is copied or filled comes to the device first, and the call takes as long; but what is copied from the host's own memory goes there
// without. True: there was some.
bool DeviceClock::bring_pages(const Operation& operation, bool in_graph) {
  if (!far_.any_managed()) return false;
  bool any = false;
  int owner = 0;
  const Place from = place(operation.from.base, operation, &owner);
  const bool sent = operation.kind == OperationKind::Copy && (from == Place::Pageable || from == Place::Pinned);
  for (const Bytes* of : {&operation.to, &operation.from}) {
    const auto use = far_.copied(of->base, of->rows > 1 ? of->pitch * (of->rows - 1) + of->width : of->width, operation.device, host_now());
    any |= use.has_value();
    if (use && !in_graph && !(sent && of == &operation.to)) charge(use->nanoseconds(link_, 0, model_.cc() >= 60));
  }
  return any;
}

// How much of it is among the last bytes that were copied, of so many.
double DeviceClock::Copied::visit(uint64_t base, uint64_t bytes, double most) {
  double known = 0, all = static_cast<double>(bytes);
  std::vector<std::pair<uint64_t, uint64_t>> older;
  const uint64_t end = base + bytes;
  for (const auto& [from, to] : ranges) {  // the newest first
    const uint64_t low = std::max(from, base), high = std::min(to, end);
    if (low < high) known += static_cast<double>(high - low);
    for (const auto& [a, b] : {std::pair(from, std::min(to, base)), std::pair(std::max(from, end), to)})
      if (a < b && all < most) older.emplace_back(a, b), all += static_cast<double>(b - a);
  }
  older.insert(older.begin(), {base, end});
  ranges = std::move(older);
  return known;
}

// Of a stream with nothing left to do the device does not hear of it.
bool DeviceClock::takes_nothing(const Operation& operation, const timing::device::Operation& to_do) {
  if (to_do.in_graph) return false;
  return operation.kind == OperationKind::Record ? !operation.timed : operation.kind == OperationKind::Internal && to_do.kind == Kind::Mark;
}

bool DeviceClock::all_over(Device& on, const Ids& ids) {
  on.model.advance(clock_.several_threads() ? clock_.floor() : host_now());
  return std::ranges::all_of(ids, [&](uint64_t id) { return on.model.is_done(id); });
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
    this_call.quick = true;
  }
  timing::device::Operation to_do;
  to_do.id = operation.id;
  to_do.priority = operation.priority;
  to_do.in_graph = graphs_.contains(operation.stream);
  to_do.after = follows(operation);
  to_do.stream = branch_of(operation, to_do.after);
  Open open;
  open.device = operation.device, open.kind = operation.kind;
  double begun = 0;  // what the host goes on doing for it while the device begins
  bool managed = false;
  double staging = -1;  // of a copy from pageable memory: what the processor takes before the device has the bytes
  switch (operation.kind) {
    case OperationKind::Launch:
    case OperationKind::Library:
      to_do.kind = Kind::Kernel;
      to_do.nanoseconds = kUnknown;
      open.effort = static_cast<double>(operation.effort);
      open_[operation.id] = open;
      if (operation.kind == OperationKind::Launch) this_call.last_launch = operation.id;
      break;
    case OperationKind::HostCall:
      to_do.kind = Kind::HostFunction;
      to_do.nanoseconds = kUnknown;
      open_[operation.id] = open;
      break;
    case OperationKind::Copy:
      moves_[operation.id] = operation;
      managed = bring_pages(operation, to_do.in_graph);
      describe_copy(operation, to_do, &staging);
      break;
    case OperationKind::Fill: {
      moves_[operation.id] = operation;
      managed = bring_pages(operation, to_do.in_graph);
      const auto bytes = static_cast<double>(operation.to.width * operation.to.rows * operation.to.planes);
      const double moved = bytes / (model_.memory_bytes_per_second() * 1e-9 * link_.fill_share);
      const bool small = bytes <= kSmallFill;
      if (!to_do.in_graph) charge(small ? link_.small_fill_call : link_.fill_call), charge_first(&model::Link::fill_first);
      to_do.kind = Kind::Memory;
      const double rows = operation.to.rows > 1 && operation.to.pitch != operation.to.width
                              ? static_cast<double>(operation.to.rows * operation.to.planes)
                              : 0;
      to_do.nanoseconds = (small ? link_.small_fill : least_kernel_time(model_).nanoseconds) + std::max(moved, rows * link_.fill_row);
      to_do.memory_share = small ? 0 : moved / to_do.nanoseconds;
      break;
    }
    case OperationKind::Record: to_do.kind = Kind::Record; break;
    case OperationKind::Wait: break;
    case OperationKind::Internal:
      if (!wanted_pages_) break;
      to_do.kind = Kind::Copy;
      to_do.way = wanted_pages_->second ? Way::ToDevice : Way::ToHost;
      to_do.nanoseconds = wanted_pages_->first.nanoseconds(link_, wanted_pages_->second);
      begun = host_now();
      charge(wanted_pages_->first.call(link_, wanted_pages_->second));
      wanted_pages_.reset();
      break;
  }
  const bool by_kernel =
      to_do.kind == Kind::Kernel || (to_do.kind == Kind::Memory && (operation.kind == OperationKind::Copy || to_do.memory_share > 0));
  if (to_do.in_graph && !by_kernel && to_do.kind != Kind::Mark)
    charge(link_.graph_other_node_call * (to_do.kind == Kind::Memory ? kFillNode : to_do.kind == Kind::Copy ? kCopyNode : 1));
  on.model.advance(clock_.floor());
  if (clock_.inside() && !to_do.in_graph && on.model.unfinished(to_do.stream) >= kQueued)
    if (const auto room = on.model.drain(to_do.stream, kQueued - 1)) clock_.here() = std::max(clock_.here(), *room);
  to_do.submitted = (begun ? begun : host_now()) + link_.submit;
  if (takes_nothing(operation, to_do) && all_over(on, to_do.after)) to_do.kind = Kind::Mark, to_do.submitted = host_now();
  // Devices know each other's operations only by their ends.
  for (uint64_t id : to_do.after)
    if (auto other = device_of_.find(id); other != device_of_.end() && other->second != operation.device)
      if (const auto end = device(other->second).model.look_ahead().finish(id))  // that device may be asked for more before then
        to_do.submitted = std::max(to_do.submitted, *end + link_.wait_gap);
  device_of_[operation.id] = operation.device;
  if (timeline_) {
    Timeline::Way way;
    if (operation.kind == OperationKind::Copy) {
      way.from = name_of(place(operation.from.base, operation, &way.from_device));
      way.to = name_of(place(operation.to.base, operation, &way.to_device));
    }
    timeline_->queued(operation, way, to_do.in_graph);
  }
  const bool staged = to_do.kind == Kind::Copy && to_do.way == Way::ToDevice && staging >= 0 && !to_do.in_graph && clock_.inside();
  // cudaMemcpy from pageable memory begins when the stream has nothing left to do.
  if (staged && !to_do.after.empty() && called_function().find("Async") == std::string::npos)
    if (const double idle = end_of(on, to_do.after); idle > asked_for) {
      clock_.here() += idle - asked_for;
      to_do.submitted = host_now() + link_.submit;
    }
  if ((to_do.kind == Kind::Memory && !managed) || staged) quiet_[operation.id] = true;
  account_for(operation, operation.id);
  on.model.submit(std::move(to_do));
  untold_ = true;
  const auto bytes = static_cast<double>(operation.to.width * operation.to.rows * operation.to.planes);
  if (!staged || bytes < kStaged) return;
  // Of what is more than a piece the host copies the first one aside once the device takes it.
  if (const double begins = begin_of(on, operation.id); begins > clock_.here() + link_.submit + 1) clock_.here() = begins;
  charge(std::max(0.0, staging - link_.pageable_ahead * std::min(1.0, bytes / kMiB)));
}

}  // namespace warpbeam::observe
