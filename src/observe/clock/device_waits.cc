// The host waits for a device, and asks it.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "observe/activity.h"
#include "observe/clock/call_state.h"
#include "observe/clock/device_clock.h"

namespace warpbeam::observe {

namespace {

constexpr std::chrono::milliseconds kPatience{2000};
using model::kMiB;

}  // namespace

std::optional<double> DeviceClock::known_end_of(Device& on, const Ids& ids) {
  double last = 0;
  // Another thread may ask for something before that.
  std::optional<Model> ahead;
  if (clock_.several_threads()) ahead = on.model.look_ahead();
  for (uint64_t id : ids)
    if (const auto end = (ahead ? *ahead : on.model).finish(id)) last = std::max(last, *end);
    else return std::nullopt;
  return last;
}

// What is waited for may share the device with a kernel that another thread has launched and that is being computed now.
double DeviceClock::end_of_waiting(std::unique_lock<std::mutex>& lock, int ordinal, Device& on, const Ids& ids) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    if (const auto end = known_end_of(on, ids)) return *end;
    const auto is_computed = [&](const auto& each) {
      return each.second.device == ordinal && !each.second.told && !each.second.left_alone;
    };
    if (std::ranges::none_of(open_, is_computed) || told_one_.wait_until(lock, until) == std::cv_status::timeout) return 0;
  }
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

void DeviceClock::sleeps() { this_call.sleeps = true; }

void DeviceClock::waited(WaitKind kind, uint64_t which) {
  std::unique_lock lock(mutex_);
  const bool sleeps = std::exchange(this_call.sleeps, false);
  if (auto* watch = activity_watch()) watch->waited(kind, which);
  if (!clock_.inside()) return;
  int ordinal = 0;
  const Ids ids = awaited(kind, which, &ordinal);
  // Of a copy within the device cudaMemcpy only waits until it is asked for.
  if (kind == WaitKind::Operation && quiet_.contains(which)) return;
  Device& on = device(ordinal);
  far_.let_host_touch();
  this_call.quick = true;
  // A pool gives back what is free whenever the host waits, if nobody has told it to keep that.
  const double given_back = pools_give_back(false);
  for (Pool& pool : pools_) {
    const uint64_t freed = std::exchange(pool.freed, 0);
    pool.waited = given_back > 0 ? 0 : pool.waited + freed;
  }
  if (!this_call.asked) charge(link_.synchronize_call);
  if (const double end = end_of_waiting(lock, ordinal, on, ids); end > clock_.here()) {
    clock_.here() = end + link_.wake + (sleeps ? link_.wake_asleep : 0);
    this_call.has_waited = true;
    this_call.waited_on = ordinal;
    this_call.waited_until = end;
    this_call.waited_count = std::min(ids.size(), this_call.waited_for.size());
    std::copy_n(ids.end() - static_cast<long>(this_call.waited_count), this_call.waited_count, this_call.waited_for.begin());
  }
  if (given_back > 0) charge(link_.pool_back + link_.pool_back_mib * std::max(0.0, given_back - kPoolBlock) / kMiB);
}

bool DeviceClock::reached(WaitKind kind, uint64_t which) {
  std::lock_guard lock(mutex_);
  if (!clock_.inside()) return true;
  if (!this_call.charged) charge(link_.query_call);
  this_call.asked = this_call.quick = true;
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
  this_call.quick = false;
  const auto moment = [&](uint64_t id) -> std::optional<double> {
    if (auto known = moments_.find(id); known != moments_.end()) return known->second;
    auto on = device_of_.find(id);
    return on == device_of_.end() ? std::nullopt : devices_.at(on->second).model.look_ahead().finish(id);
  };
  const auto began = moment(from), ended = moment(to);
  if (!began || !ended) return std::nullopt;
  return *ended - *began;
}

}  // namespace warpbeam::observe
