#include "timing/schedule.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace warpbeam::timing {

bool blocks_differ(const Work& work) {
  constexpr double kTenth = 1.01;
  double sum = 0, squares = 0;
  for (uint32_t n : work.sizes) sum += n, squares += static_cast<double>(n) * n;
  const auto count = static_cast<double>(work.sizes.size());
  return count > 1 && squares * count > kTenth * sum * sum;
}

StandIns::StandIns(const Work& work) {
  for (const BlockTrace& b : work.blocks)
    if (b.executed) by_size_.push_back(&b);
  std::ranges::sort(by_size_, {}, &BlockTrace::executed);
}

Part StandIns::of(uint64_t block, double instructions) const {
  if (by_size_.empty()) return {};
  constexpr double kAlike = 0.1;
  const auto size = [](const BlockTrace* b) { return static_cast<double>(b->executed); };
  const auto above = std::ranges::lower_bound(by_size_, instructions, {}, size);
  const auto distance = [&](const BlockTrace* b) { return b->block > block ? b->block - block : block - b->block; };
  const BlockTrace* best = nullptr;
  for (auto it = std::ranges::lower_bound(by_size_, instructions * (1 - kAlike), {}, size);
       it != by_size_.end() && size(*it) <= instructions * (1 + kAlike); ++it)
    if (!best || distance(*it) < distance(best)) best = *it;
  if (!best) {
    best = above == by_size_.end() ? by_size_.back() : *above;
    if (above != by_size_.begin() && above != by_size_.end() && instructions / size(*(above - 1)) < size(*above) / instructions)
      best = *(above - 1);
  }
  return {best, instructions / size(best)};
}

Schedule schedule(const Work& work, int multiprocessors) {
  const auto sms = static_cast<size_t>(multiprocessors);
  const size_t blocks = work.sizes.size();
  struct Place {
    double free;
    size_t sm;
    bool operator>(const Place& o) const { return free != o.free ? free > o.free : sm > o.sm; }
  };
  std::priority_queue<Place, std::vector<Place>, std::greater<>> places;
  std::vector<uint32_t> sm_of(blocks);
  std::vector<double> sum(sms), end(sms);
  for (size_t b = 0; b < blocks; ++b) {
    Place p{0, b % sms};
    if (b >= sms * work.resident_blocks) p = places.top(), places.pop();
    sm_of[b] = static_cast<uint32_t>(p.sm);
    sum[p.sm] += work.sizes[b];
    p.free += work.sizes[b];
    end[p.sm] = std::max(end[p.sm], p.free);
    places.push(p);
  }
  const auto most = static_cast<size_t>(std::ranges::max_element(sum) - sum.begin()),
             latest = static_cast<size_t>(std::ranges::max_element(end) - end.begin());
  Schedule s;
  const StandIns stand_ins(work);
  for (size_t b = 0; b < blocks; ++b) {
    if (sm_of[b] == most) s.most.push_back(stand_ins.of(b, work.sizes[b]));
    else if (sm_of[b] == latest) s.latest.push_back(stand_ins.of(b, work.sizes[b]));
  }
  return s;
}

}  // namespace warpbeam::timing
