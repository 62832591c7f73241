// Other processes of this machine: what they ask of a device slows down what this one does there, and the other way round.
//
// Each tells the others when it keeps the devices busy, as it foresees that from what they have told it. Whoever waits looks again
// when others have told something new, until none of them has.
#include <algorithm>
#include <utility>

#include "observe/clock/call_state.h"
#include "observe/clock/device_clock.h"

namespace warpbeam::observe {

using timing::device::Kind;
using timing::device::Way;

namespace {

constexpr double kTogether = 1000;     // nanoseconds between what counts as one
constexpr double kOften = 20'000;      // nanoseconds after which others are told even if there is much to tell
constexpr size_t kLittle = 256;        // operations
constexpr size_t kKept = 16;           // spans of what is past

// In order, and no more than so many: those that are nearest to each other become one.
void tidy(std::vector<Span>& spans, size_t most) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> all;
  for (const Span& span : spans)
    if (!all.empty() && span.begin <= all.back().end + kTogether) all.back().end = std::max(all.back().end, span.end);
    else all.push_back(span);
  while (all.size() > most) {
    size_t least = 1;
    for (size_t k = 2; k < all.size(); ++k)
      if (all[k].begin - all[k - 1].end < all[least].begin - all[least - 1].end) least = k;
    all[least - 1].end = std::max(all[least - 1].end, all[least].end);
    all.erase(all.begin() + static_cast<long>(least));
  }
  spans = std::move(all);
}

}  // namespace

// Which of the machine's devices that is.
int DeviceClock::place_of(int ordinal) const {
  return static_cast<size_t>(ordinal) < visible_.size() ? visible_[static_cast<size_t>(ordinal)] : ordinal;
}

void DeviceClock::keep_busy(Busy& busy, const timing::device::Operation& operation, const timing::device::Times& times) {
  SharedUnit unit = SharedUnit::Kernels;
  if (operation.kind == Kind::Copy) {
    if (operation.way == Way::Peer) return;
    unit = operation.way == Way::ToHost ? SharedUnit::ToHost : SharedUnit::ToDevice;
  } else if (operation.kind != Kind::Kernel && operation.kind != Kind::Memory) {
    return;
  }
  std::vector<Span>& spans = busy[static_cast<size_t>(unit)];
  spans.push_back({times.begin, times.end});
  if (spans.size() > 4 * kKept) tidy(spans, kKept);
}

void DeviceClock::take_account_of_others(int ordinal, Device& on) {
  std::vector<Span> spans[kUnits];
  if (!clock_.others_busy(place_of(ordinal), &on.others_seen, spans)) return;
  const auto as_theirs = [](const std::vector<Span>& spans) {
    std::vector<Model::Others::Span> all;
    for (const Span& span : spans) all.push_back({span.begin, span.end});
    return all;
  };
  on.model.share_with({as_theirs(spans[0]), as_theirs(spans[1]), as_theirs(spans[2])});
}

void DeviceClock::tell_others() {
  if (!clock_.several_processes()) return;
  untold_ = false;
  told_ = host_now();
  for (auto& [ordinal, on] : devices_) {
    take_account_of_others(ordinal, on);
    Busy busy = on.past;
    Model ahead = on.model.look_ahead(
        [&](const timing::device::Operation& operation, const timing::device::Times& times) { keep_busy(busy, operation, times); });
    ahead.run_dry();
    for (size_t unit = 0; unit < kUnits; ++unit) {
      tidy(busy[unit], SharedTime::kSpans);
      clock_.keep_busy(place_of(ordinal), static_cast<SharedUnit>(unit), busy[unit]);
    }
  }
}

// Of much that is under way it takes a while to foresee what becomes of it.
void DeviceClock::tell_others_now_and_then() {
  if (!clock_.several_processes()) return;
  std::lock_guard lock(mutex_);
  if (!untold_) return;
  if (open_.size() + device_of_.size() < kLittle || host_now() > told_ + kOften) tell_others();
}

// The thread has waited. Others may ask for something before it goes on.
void DeviceClock::wait_turn() {
  if (!clock_.several_processes()) return clock_.wait_turn(clock_.here());
  const CallState& call = this_call;
  const double later = clock_.here() - call.waited_until;
  const auto again = [&] {
    std::lock_guard lock(mutex_);
    Device& on = device(call.waited_on);
    const double end = end_of(on, Ids(call.waited_for.begin(), call.waited_for.begin() + static_cast<long>(call.waited_count)));
    clock_.here() = std::max(clock_.here(), end + later);
    tell_others();
    return clock_.here();
  };
  clock_.wait_turn(clock_.here(), again);
}

}  // namespace warpbeam::observe
