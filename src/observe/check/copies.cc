#include "observe/check/copies.h"

#include <algorithm>

namespace warpbeam::observe::check {
namespace {

template <class F>
void each(uint32_t mask, F&& f) {
  for (; mask; mask &= mask - 1) f(static_cast<size_t>(__builtin_ctz(mask)));
}

}  // namespace

void Copies::commit(uint32_t mask, EventId now) {
  each(mask, [&](size_t l) { lanes_[l].groups.push_back(now); });
}

void Copies::wait(uint32_t mask, uint32_t still_running, EventId now) {
  each(mask, [&](size_t l) {
    Lane& lane = lanes_[l];
    while (lane.groups.size() > still_running) {
      lane.waited.push_back({lane.groups.front(), now});
      lane.groups.pop_front();
    }
  });
}

void Copies::wait_all(uint32_t mask, EventId now) {
  each(mask, [&](size_t l) {
    lanes_[l].groups.clear();
    lanes_[l].waited.push_back({now, now});
  });
}

EventId Copies::took_effect(EventId id, uint32_t lane) const {
  const auto& waited = lanes_[lane].waited;
  const auto it = std::upper_bound(waited.begin(), waited.end(), id, [](EventId e, const Waited& w) { return e < w.below; });
  return it == waited.end() ? kNever : it->at;
}

void Products::wait(uint64_t still_running, EventId now) {
  const uint64_t groups = ends_.size() - std::min<uint64_t>(ends_.size(), still_running);
  if (groups > (waited_.empty() ? 0 : waited_.back().groups)) waited_.push_back({groups, now});
}

uint64_t Products::group_of(EventId product) const {
  return static_cast<uint64_t>(std::ranges::upper_bound(ends_, product) - ends_.begin());
}

EventId Products::complete(uint64_t group) const {
  const auto it = std::ranges::upper_bound(waited_, group, {}, &Waited::groups);
  return it == waited_.end() ? Copies::kNever : it->at;
}

}  // namespace warpbeam::observe::check
