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

}  // namespace warpbeam::observe::check
