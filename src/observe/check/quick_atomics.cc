// Atomic operations of compiled code where nobody has passed a fence or left anything to know (knowledge.h): then all that there
// is to see is in the cells of their words. It is what race.cc and synchronise would find; whatever else is there is left to them,
// and looking once more at the lanes before it changes nothing.
#include "observe/check/block_watch.h"

namespace warpbeam::observe::check {

// Whether threads that meet here could learn, or leave, anything.
bool BlockWatch::tells_nothing(const vm::Insn& i, const WarpState& s) const {
  const isa::Sem sem = i.mods().sem;
  return (sem == isa::Sem::None || sem == isa::Sem::Weak || sem == isa::Sem::Relaxed) && trait_of(*i.source->form.row) == Trait::None &&
         !s.lanes && !handed_ && meetings_.empty() && l_.meetings->empty();
}

// Whether an atomic operation of that strength may change the word without a race.
bool BlockWatch::takes_turns_with(const Cell& c, EventId id, EventId bound, Strength strength) const {
  if (c.split || c.read_a >= bound) return false;
  if (c.read_b >= bound) {
    // The block's own store that came before the first of its atomics.
    const std::optional<Event> e = c_.log.find(c.read_b);
    if (e && (e->act != Act::Write || e->op != l_.op || e->block != linear_ || e->id >= base_)) return false;
  }
  if (c.write < bound || c.write == id) return true;
  const std::optional<Event> e = c_.log.find(c.write);
  if (!e) return true;
  const Strength needed = needed_for(*e);
  return e->act == Act::Atomic && e->op == l_.op && e->strength >= needed && strength >= needed;
}

bool BlockWatch::sees_atomic(const vm::Insn& i, uint32_t warp, uint32_t active, uint32_t mask, const vm::Pattern& p) {
  const uint32_t bytes = static_cast<uint32_t>(isa::bytes_of(i.type()));
  WarpState& s = warps_[warp];
  const bool one_cell_each = i.source->form.row->kind == isa::Kind::Atomic && i.count == 1 && (bytes == 4 || bytes == 8);
  if (!mask || !one_cell_each || !tells_nothing(i, s)) return false;
  std::array<uint64_t, 32> at;
  uint64_t low, high;
  places_of(p, mask, at, low, high);
  const LaunchInfo::Known& known = l_.known_of(i);
  Quick q;
  if (!finds(q, i, known, low, high + bytes) || !q.shadow) return false;
  if (q.shadow == &shared_) ++epoch_;
  else if (known.region->is_constants()) return false;
  s.accesses(i, mask);
  q.id = event_of(warp, known.place, active);
  const Who who = who_of(i, Act::Atomic, known.site);
  c_.log.name(q.id, who);
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (uint32_t w = 0; w < bytes; w += 4) {
      Cell& c = q.shadow->word(at[lane] - q.zero + w);
      if ((q.tracks_values && !c.init) || !takes_turns_with(c, q.id, q.bound, static_cast<Strength>(who.strength))) return false;
      c.write = q.id;
      c.write_lane = lane & 31;
      c.give_value(0xf);
    }
  }
  return true;
}

}  // namespace warpbeam::observe::check
