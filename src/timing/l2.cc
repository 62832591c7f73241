#include "timing/l2.h"

#include <algorithm>

namespace warpbeam::timing {

SampledL2::SampledL2(uint64_t bytes, uint64_t lines_per_sample)
    : lines_per_sample_(lines_per_sample),
      sets_(static_cast<uint32_t>(bytes ? std::max<uint64_t>(1, bytes / 128 / lines_per_sample / kWays) : 0)),
      ways_(uint64_t{sets_} * kWays) {}

uint32_t SampledL2::set_of(uint64_t line) const {
  const uint64_t mixed = (line ^ line >> 17) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>((mixed >> 32) * sets_ >> 32);
}

// One of those that were not asked for longest has to go: working sets a little larger than the cache keep part of their
// lines, as they do on a GPU.
SampledL2::Way* SampledL2::find(uint64_t line, bool& there) {
  constexpr uint32_t kCandidates = 3;
  Way* const set = &ways_[uint64_t{set_of(line)} * kWays];
  Way* oldest[kCandidates] = {set, set, set};
  for (Way* w = set; w != set + kWays; ++w) {
    if (w->line == line) {
      there = true;
      return w;
    }
    for (uint32_t k = 0; k < kCandidates; ++k)
      if (w == set || w->used < oldest[k]->used) {
        for (uint32_t m = kCandidates - 1; m > k; --m) oldest[m] = oldest[m - 1];
        oldest[k] = w;
        break;
      }
  }
  there = false;
  if (oldest[0]->line == ~uint64_t{0}) return oldest[0];
  chance_ = chance_ * 1664525 + 1013904223;
  return oldest[(chance_ >> 16) % kCandidates];
}

bool SampledL2::has(uint64_t line) const {
  if (!sets_) return false;
  const Way* const set = &ways_[uint64_t{set_of(line)} * kWays];
  return std::any_of(set, set + kWays, [&](const Way& w) { return w.line == line; });
}

// Sectors of a line that are moved at one time, one way and the other.
void SampledL2::move(uint64_t line, std::initializer_list<uint8_t> ways, Outcome& out) {
  bool near = neighbours_moved(line);
  for (const uint8_t sectors : ways) {
    const uint32_t bursts = static_cast<uint32_t>(__builtin_popcount(sectors) + 1) / 2;
    out.bursts += bursts;
    out.alone += bursts == 1 && !near;
    near = true;
  }
}

// Of each group of lines that lie beside each other one is followed.
bool SampledL2::neighbours_moved(uint64_t line) {
  constexpr uint64_t kLately = 1 << 12;
  const uint64_t group = line / lines_per_sample_;
  ++moved_;
  bool near = false;
  for (const uint64_t g : {group - 1, group, group + 1}) {
    const Moved& m = lately_[g % lately_.size()];
    near = near || (m.group == g && moved_ - m.when < kLately);
  }
  lately_[group % lately_.size()] = {group, moved_};
  return near;
}

SampledL2::Outcome SampledL2::visit(const Visit& v) {
  Outcome out;
  if (!sets_) {  // there is none: each access goes to memory, which moves sectors one by one
    const auto sectors = static_cast<uint32_t>(__builtin_popcount(v.sectors));
    if (v.kind != Kind::Store) out.wanted = out.read = sectors;
    if (v.kind != Kind::Load && v.kind != Kind::Copy) out.written = sectors;
    out.bursts = out.read + out.written;
    out.alone = sectors == 1 ? out.bursts : 0;
    return out;
  }
  bool there = false;
  Way* const w = find(v.line, there);
  if (!there) {
    uint8_t holes = 0;
    for (uint32_t s = 0; s < 4; ++s)
      if (w->dirty >> s & 1) {
        ++out.written;
        if (!(w->valid >> s & 1) && w->filled[s] < 32) ++out.read, ++out.holes, holes |= static_cast<uint8_t>(1u << s);
      }
    if (w->dirty) move(w->line, {w->dirty, holes}, out);
    *w = {};
    w->line = v.line;
  }
  w->used = ++now_;
  if (v.kind == Kind::Store) {
    for (uint32_t s = 0; s < 4; ++s) {
      if (!(v.sectors >> s & 1)) continue;
      w->dirty |= static_cast<uint8_t>(1u << s);
      w->filled[s] = static_cast<uint8_t>(std::min(32, w->filled[s] + v.bytes_of_sector));
      if (w->filled[s] >= 32) w->valid |= static_cast<uint8_t>(1u << s);
    }
    return out;
  }
  const uint8_t missing = v.sectors & static_cast<uint8_t>(~w->valid);
  out.wanted = static_cast<uint32_t>(__builtin_popcount(missing));
  uint8_t brought = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    const uint8_t of_half = static_cast<uint8_t>(3u << 2 * half);
    if (!(missing & of_half)) continue;
    brought |= of_half & static_cast<uint8_t>(~w->valid);
    w->valid |= of_half;
  }
  out.read += static_cast<uint32_t>(__builtin_popcount(brought));
  if (brought) move(v.line, {brought}, out);
  if (v.kind != Kind::Load && v.kind != Kind::Copy) w->dirty |= v.sectors;
  return out;
}

void SampledL2::forget(uint64_t line) {
  if (!sets_) return;
  bool there = false;
  Way* const w = find(line, there);
  if (there) *w = {};
}

}  // namespace warpbeam::timing
