#include "timing/cache.h"

#include <algorithm>

namespace warpbeam::timing {

Cache::Cache(uint64_t lines) : sets_(static_cast<uint32_t>(std::max<uint64_t>(1, lines / kWays))), ways_(uint64_t{sets_} * kWays) {}

// Addresses are hashed, so that rows of a matrix do not meet in one set.
uint32_t Cache::set_of(uint64_t line) const {
  const uint64_t mixed = (line ^ line >> 17) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>((mixed >> 32) * sets_ >> 32);
}

Cache::Outcome Cache::access(uint64_t line, uint8_t sectors, uint8_t dirty) {
  Way* const set = &ways_[uint64_t{set_of(line)} * kWays];
  Way* oldest = set;
  ++now_;
  for (Way* w = set; w != set + kWays; ++w) {
    if (w->line == line) {
      const Outcome o{static_cast<uint8_t>(w->valid & sectors), 0};
      w->valid |= sectors;
      w->dirty |= dirty;
      w->used = now_;
      return o;
    }
    if (w->used < oldest->used) oldest = w;
  }
  const Outcome o{0, oldest->dirty};
  *oldest = {line, now_, sectors, dirty};
  return o;
}

uint8_t Cache::forget(uint64_t line, uint8_t sectors) {
  Way* const set = &ways_[uint64_t{set_of(line)} * kWays];
  for (Way* w = set; w != set + kWays; ++w)
    if (w->line == line) {
      const uint8_t there = w->valid & sectors;
      w->valid &= static_cast<uint8_t>(~sectors);
      return there;
    }
  return 0;
}

}  // namespace warpbeam::timing
