// Lanes of a warp that meet: at shuffles, votes and __syncwarp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "observe/check/block_watch.h"
#include "vm/grid.h"

namespace warpbeam::observe::check {

// Lanes that meet with several masks are told of one after the other, by mask: where one of these names lanes of another, they
// disagree about who is there.
void BlockWatch::look_at_masks(vm::Warp& w, const vm::Insn& i, uint32_t members, uint32_t mask) {
  const auto tell = [&](int lane, FindingKind kind, std::string title, std::string other, const char* mend) {
    const uint32_t site = c_.sites.number(i, w);
    const uint64_t key = uint64_t(site) << 8 | 1;
    if (c_.repeated(key)) return;
    Finding f;
    f.kind = kind;
    f.kernel = c_.sites[site].kernel;
    f.locations = {c_.sites[site].location};
    f.title = std::move(title);
    add_where(f, c_.sites[site].inlined);
    f.lines.push_back({thread_text(w, lane) + fmt::format(", lane {}", lane), {}});
    if (!other.empty()) f.lines.push_back({std::move(other), {}});
    f.lines.push_back({"the kernel was launched", l_.stack});
    f.mend = mend;
    c_.report(key, std::move(f));
  };
  if (mask & ~members)
    tell(__builtin_ctz(mask & ~members), FindingKind::MaskWithoutCaller,
         fmt::format("A thread calls a .sync function of its warp with a mask that leaves it out ({:#010x})", members), "",
         "the mask must name every lane that executes the call, and no other");
  auto& met = warps_[w.index].met;
  const bool both = met.at == &i && !(met.mask & mask) && ((met.members ^ members) & w.live);
  if (both && ((members & met.mask) || (met.members & mask))) {
    const bool named = members & met.mask;  // by this one, or the other way round
    const uint32_t them = named ? members & met.mask : met.members & mask;
    tell(__builtin_ctz(named ? mask : met.mask), FindingKind::MasksDiffer,
         fmt::format("Lanes meet at a .sync function of their warp with masks that differ: {:#010x} and {:#010x}",
                     named ? members : met.members, named ? met.members : members),
         fmt::format("lane {}, which the first mask names, calls it with the second", __builtin_ctz(them)),
         "all lanes that a mask names must call the function with that same mask");
  }
  met = {&i, members, mask};
}

// They come one after the other, as a rule.
uint32_t& BlockWatch::WarpState::been_at(const vm::Insn& i) {
  for (size_t k = 0; k < been.size(); ++k) {
    const size_t n = (been_last + k) % been.size();
    if (been[n].at != &i) continue;
    been_last = n + 1 < been.size() ? n + 1 : 0;
    return been[n].lanes;
  }
  been.push_back({&i, 0});
  been_last = 0;
  return been.back().lanes;
}

// Named lanes that have ended, after code behind the call, went around it. Those that returned before need not come; where the
// kernel returns nowhere but at its end (see ran_to_the_end), nobody has. Who was here in an earlier round left a loop: a GPU lets them.
void BlockWatch::look_at_ended(vm::Warp& w, const vm::Insn& i, uint32_t members, uint32_t mask) {
  uint32_t& been = warps_[w.index].been_at(i);
  been |= mask;
  for (uint32_t gone = members & w.present & ~w.live; gone; gone &= gone - 1) {
    const int lane = __builtin_ctz(gone);
    const vm::FunctionCode& f = *w.frame->function;
    const vm::Insn* last = warps_[w.index].last_of(lane);
    const bool behind = last && last >= &i && last < f.insns.data() + f.insns.size();
    if (!behind && !ran_to_the_end(w, i, f, lane)) continue;
    const bool in_rounds = !behind && (been >> lane & 1);
    const uint64_t key = uint64_t(c_.sites.number(i, w)) << 8 | (in_rounds ? 10 : 7);
    if (c_.repeated(key)) return;
    if (!behind && std::exchange(l_.went_around, true)) return;  // what comes after the first such call stands in the same condition
    if (behind) report_missing(w, i, f, members, mask, 1u << lane, vm::Warp::location(*last, f), "went on to", key);
    else if (in_rounds)
      report_missing(w, i, f, members, mask, gone, "", "was here in earlier rounds and has ended", key, Severity::Warning);
    else
      report_missing(w, i, f, members, mask, *l_.last_return ? 1u << lane : gone, "",
                     ("went around it and has ended: " + where_it_returns()).c_str(), key);
    return;
  }
}

void BlockWatch::warp_sync(vm::Warp& w, const vm::Insn& i, uint32_t members, uint32_t mask) {
  const auto lock = hold();
  WarpState& s = warps_[w.index];
  const bool orders = i.source->form.row->op == isa::Opcode::Bar;  // shuffles and votes order no memory
  if (c_.settings.sync) look_at_masks(w, i, members, mask);
  if (c_.settings.sync) look_at_ended(w, i, members, mask);
  if (trait_of(*i.source->form.row) == Trait::Shuffle) {
    s.doubts.shuffled(w, i, mask, c_.sites.number(i, w));
    every_instruction = every_instruction || !s.doubts.empty();
  }
  if (const Trait trait = trait_of(*i.source->form.row); trait == Trait::CommitProducts || trait == Trait::WaitProducts) {
    s.moves_on();
    if (trait == Trait::CommitProducts) s.products.commit(c_.log.tick());
    else s.products.wait(static_cast<uint64_t>(i.source->operands[0].imm), c_.log.tick());
  }
  if (!orders) {
    if (mask == w.live) s.soft_base = c_.log.tick(), s.moves_on();
    return;
  }
  const EventId now = c_.log.tick();
  s.moves_on();
  if (s.lanes) {
    CameList all;
    for (uint32_t left = mask; left; left &= left - 1) add(all, s.lanes->came[__builtin_ctz(left)]);
    if (!all.empty())
      for (uint32_t left = mask; left; left &= left - 1) s.lanes->came[__builtin_ctz(left)] = all;
  }
  if (s.fenced) {
    s.fenced = mask != w.live;
    Fenced fenced;
    add_fences(fenced, s, mask, mask == w.live ? s.base : 0);
    hand_on(fenced, s, mask);
  }
  if (mask == w.live) {
    s.base = now;
    return;
  }
  // Snapshots may hold the old table.
  if (!s.table) s.table = std::make_shared<LaneTable>(LaneTable{});
  else if (s.table.use_count() > 1) s.table = std::make_shared<LaneTable>(*s.table);
  LaneTable& t = *s.table;
  std::array<EventId, 32> known{};
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto& row = t[__builtin_ctz(left)];
    for (int k = 0; k < 32; ++k) known[k] = std::max(known[k], row[k]);
  }
  for (int k = 0; k < 32; ++k)
    if (mask >> k & 1) known[k] = now;
  for (uint32_t left = mask; left; left &= left - 1) t[__builtin_ctz(left)] = known;
}

void BlockWatch::warp_sync_abandoned(vm::Warp& w, const vm::Insn& i, uint32_t members, uint32_t mask) {
  if (!c_.settings.sync) return;
  const auto lock = hold();
  const uint32_t missing = members & w.live & ~mask;
  const bool is_barrier = i.source->form.row->op == isa::Opcode::Bar;
  // The missing lanes may wait at a __syncwarp of another place: then all of them are at one, which is allowed.
  uint32_t elsewhere = 0;
  const vm::Insn* other = nullptr;
  const vm::FunctionCode* function = nullptr;
  for (const vm::Group& g : w.groups) {
    if (g.state != vm::GroupState::Ready && (g.mask & missing)) {
      other = g.waiting;
      function = g.frame->function;
    }
    if (g.state == vm::GroupState::AtWarpSync && g.waiting->source->form.row->op == isa::Opcode::Bar) elsewhere |= g.mask;
  }
  if (is_barrier && (missing & ~elsewhere) == 0) return;
  const vm::FunctionCode* here = nullptr;
  for (const vm::Group& g : w.groups)
    if (g.waiting == &i) here = g.frame->function;
  if (!here || !missing) return;
  report_missing(w, i, *here, members, mask, missing, other ? vm::Warp::location(*other, *function) : "", other ? "waits at" : "", 0);
}

void BlockWatch::report_missing(vm::Warp& w, const vm::Insn& i, const vm::FunctionCode& f_code, uint32_t members, uint32_t mask,
                                uint32_t missing, const std::string& there, const char* what, uint64_t key, Severity severity) {
  const bool is_barrier = i.source->form.row->op == isa::Opcode::Bar;
  const int lane = __builtin_ctz(mask);
  Finding f;
  f.kind = FindingKind::LanesNeverArrive;
  f.severity = severity;
  f.kernel = spaced(f_code.display_name);
  f.locations = {vm::Warp::location(i, f_code)};
  f.title = fmt::format("{} names lanes that never arrive: mask {:#010x}, missing {:#010x}",
                        is_barrier ? "__syncwarp" : "A .sync function of the warp", members, missing);
  add_where(f, vm::Warp::inlined(i, f_code));
  f.lines.push_back({thread_text(w, lane) + fmt::format(", lane {}", lane), {}});
  if (*what) f.lines.push_back({fmt::format("lane {} {}{}{}", __builtin_ctz(missing), what, there.empty() ? "" : " ", there), {}});
  if (!there.empty()) f.locations.push_back(there);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend = "name only lanes that reach the call: take the mask with __ballot_sync before the branch, or move the call out of it";
  c_.report(key, std::move(f));
}

// A lane stores what a shuffle gave it of a lane that was not there.
void BlockWatch::stores_undefined(vm::Warp& w, const vm::Insn& i, uint32_t lanes, uint32_t shuffle, bool of_sum) {
  if (!c_.settings.sync) return;
  const auto lock = hold();
  const uint32_t site = c_.sites.number(i, w);
  const uint64_t key = uint64_t(shuffle) << 32 | uint64_t(site & 0xffffff) << 8 | 8;
  if (c_.repeated(key)) return;
  const int lane = __builtin_ctz(lanes);
  Finding f;
  f.kind = FindingKind::ShuffleInactiveLane;
  // The upper lanes of a sum with __shfl_down_sync hold nothing of use, and some programs store them all the same.
  const bool upper = of_sum && c_.sites[shuffle].shuffles_down && !(lanes & (w.present & -w.present));
  f.severity = upper ? Severity::Warning : Severity::Error;
  f.kernel = c_.sites[shuffle].kernel;
  f.locations = {c_.sites[shuffle].location, c_.sites[site].location};
  f.title = "A shuffle reads from a lane that does not take part in it: the value is undefined, and it is used";
  add_where(f, c_.sites[shuffle].inlined);
  f.lines.push_back({thread_text(w, lane) + fmt::format(", lane {}", lane), {}});
  f.lines.push_back({fmt::format("what was made of it is stored at {}", f.locations[1]), {}});
  add_inlined(f, c_.sites[site].inlined, c_.sites[site].kernel);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend = "let all lanes that are read take part and be named in the mask, or use the result only where the source lane exists";
  c_.report(key, std::move(f));
}

}  // namespace warpbeam::observe::check
