#include "timing/l2.h"

#include <algorithm>
#include <utility>

namespace warpbeam::timing {

SampledL2::SampledL2(uint64_t bytes, uint64_t lines_per_sample, double dirty_share)
    : lines_per_sample_(lines_per_sample),
      most_dirty_(std::max(1u, static_cast<uint32_t>(dirty_share * kWays + 0.5))),
      // An odd number: strides of powers of two, too, go to all of them.
      sets_(static_cast<uint32_t>(bytes ? bytes / 128 / lines_per_sample / kWays | 1 : 0)),
      ways_(uint64_t{sets_} * kWays) {}

// Lines beside each other are in sets beside each other, but one of twelve is anywhere: what is somewhat smaller than the cache stays, what
// is somewhat larger goes (H200, read again and again: of 36, 42, 48 and 54 MiB come 6, 34, 90 and 100 % from memory).
uint32_t SampledL2::set_of(uint64_t line) const {
  const uint64_t mixed = scrambled(line);
  constexpr uint64_t kOneOf = 12;
  return static_cast<uint32_t>(mixed % kOneOf ? line / lines_per_sample_ % sets_ : (mixed >> 32) * sets_ >> 32);
}

// The one that was not asked for longest has to go.
SampledL2::Way* SampledL2::find(uint64_t line, bool& there) {
  Way* const of = set(line);
  Way* oldest = of;
  for (Way* w = of; w != of + kWays; ++w) {
    if (w->line == line) {
      there = true;
      return w;
    }
    if (w->used < oldest->used) oldest = w;
  }
  there = false;
  return oldest;
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

// What is dirty goes to memory, which delivers what stores left out.
void SampledL2::write_back(Way& way, Outcome& out) {
  uint8_t holes = 0;
  for (uint32_t s = 0; s < 4; ++s)
    if (way.dirty >> s & 1) {
      ++out.written;
      if (!(way.valid >> s & 1) && way.filled[s] < 32) ++out.read, ++out.holes, holes |= static_cast<uint8_t>(1u << s);
    }
  if (way.dirty) move(way.line, {way.dirty, holes}, out);
  way.valid |= holes;
  way.dirty = 0;
  std::ranges::fill(way.filled, uint8_t{0});
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
    write_back(*w, out);
    *w = {};
    w->line = v.line;
  }
  w->used = ++now_;
  const bool other = std::exchange(w->block, v.block) != v.block;
  const uint8_t home = 1 << side_of_gpu(v.line), side = 1 << (v.side & 1);
  const bool far = there && !(w->sides & side);
  const bool changes = v.kind != Kind::Load && v.kind != Kind::Copy;
  if (changes && !w->dirty) {
    Way* const of = set(v.line);
    Way* oldest = nullptr;  // of those that wait to be written
    uint32_t dirty = 0;
    for (Way* other = of; other != of + kWays; ++other)
      if (other->dirty && ++dirty && (!oldest || other->used < oldest->used)) oldest = other;
    if (dirty >= most_dirty_) write_back(*oldest, out);
  }
  w->sides = (changes ? 0 : w->sides) | home | side;
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
  const auto here = static_cast<uint32_t>(__builtin_popcount(v.sectors & w->valid));
  if (far) out.far = here;
  if (there && other) {
    out.others = here;
    if (v.moment && w->came == v.moment) out.late = here;
  }
  uint8_t brought = 0;
  for (uint32_t half = 0; half < 2; ++half) {
    const uint8_t of_half = static_cast<uint8_t>(3u << 2 * half);
    if (!(missing & of_half)) continue;
    brought |= of_half & static_cast<uint8_t>(~w->valid);
    w->valid |= of_half;
  }
  out.read += static_cast<uint32_t>(__builtin_popcount(brought));
  if (brought) w->came = v.moment, move(v.line, {brought}, out);
  if (changes) w->dirty |= v.sectors;
  return out;
}

void SampledL2::from_host(uint64_t line) {
  if (!sets_) return;
  visit({line, 0xf, 32, Kind::Store});
  bool there = false;
  Way* const w = find(line, there);
  w->valid = 0;
}

}  // namespace warpbeam::timing
