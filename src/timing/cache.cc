#include "timing/cache.h"

#include <algorithm>

namespace warpbeam::timing {

Cache::Cache(uint64_t lines) : sets_(static_cast<uint32_t>(std::max<uint64_t>(1, lines / kWays))), ways_(uint64_t{sets_} * kWays) {}

// Addresses are hashed, so that rows of a matrix do not meet in one set.
uint32_t Cache::set_of(uint64_t line) const {
  const uint64_t mixed = (line ^ line >> 17) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>((mixed >> 32) * sets_ >> 32);
}

Cache::Way& Cache::way_of(uint64_t line) {
  Way* const set = &ways_[uint64_t{set_of(line)} * kWays];
  Way* oldest = set;
  for (Way* w = set; w != set + kWays; ++w) {
    if (w->line == line) {
      if (w->used <= forgotten_) w->valid = 0;
      return *w;
    }
    if (w->used < oldest->used) oldest = w;
  }
  return *oldest;
}

Cache::Outcome Cache::access(uint64_t line, uint8_t sectors, uint8_t dirty) {
  Way& w = way_of(line);
  ++now_;
  if (w.line != line) {
    const Outcome o{0, w.dirty};
    w = {line, now_, sectors, dirty};
    return o;
  }
  const Outcome o{static_cast<uint8_t>(w.valid & sectors), 0};
  w.valid |= sectors;
  w.dirty |= dirty;
  w.used = now_;
  return o;
}

uint8_t Cache::store(uint64_t line, uint8_t sectors, bool whole) {
  Way& w = way_of(line);
  if (w.line != line) w = {line, 0, 0, 0};
  const auto there = static_cast<uint8_t>((w.valid | w.stored) & sectors);
  w.used = ++now_;
  w.stored |= sectors;
  if (whole) w.valid |= sectors;
  return there;
}

void Cache::forget(uint64_t line, uint8_t sectors) {
  if (Way& w = way_of(line); w.line == line) w.valid &= static_cast<uint8_t>(~sectors);
}

}  // namespace warpbeam::timing
