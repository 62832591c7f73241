#include "jit/watch.h"

#include <algorithm>
#include <numeric>

#include "jit/runtime.h"
#include "vm/access.h"
#include "vm/spans.h"

namespace warpbeam::jit {
namespace {

using vm::Watched;

uint32_t index_of(const Context& c, const vm::Insn* i) { return static_cast<uint32_t>(i - c.block->code->function->insns.data()); }

// A warp is about to execute an instruction, in which it may end.
vm::Warp& warp_at(Context* c, const vm::Insn* i, uint32_t warp, uint32_t active) {
  vm::Warp& w = *c->block->warps[warp];
  w.active = active;
  w.ip = i + 1;
  c->running.executing = i;
  c->running.executing_warp = warp;
  c->running.executing_lanes = active;
  return w;
}

extern "C" void wb_watched_instruction(Context* c, const vm::Insn* i, uint32_t warp, uint32_t active) {
  vm::Warp& w = warp_at(c, i, warp, active);
  c->block->observer->instruction(w, *i, active, active);
}

// An access of a shape that is known: gives whether all has been seen.
extern "C" bool wb_watched_shaped(Context* c, uint32_t site, uint32_t warp, uint32_t mask, uint32_t active, uint64_t first, int64_t gap) {
  const WatchTables::Site& s = c->watched.watch->sites[site];
  vm::Pattern pattern = s.pattern;
  pattern.first = first;
  pattern.gap = gap;
  return c->block->observer->sees_quickly(*s.insn, warp, active, mask, pattern);
}

extern "C" bool wb_watched_batch(Context* c, const vm::LoadBatch* batch, uint32_t warp, uint64_t first, int64_t gap) {
  vm::Pattern pattern = batch->pattern;
  pattern.first = first;
  pattern.gap = gap;
  return c->block->observer->sees_batch(*batch, warp, pattern);
}

extern "C" bool wb_watched_lanes(Context* c, const vm::Insn* i, uint32_t warp, uint32_t mask, uint32_t active, const uint64_t* addresses) {
  vm::Pattern pattern;
  pattern.addresses = addresses;
  return c->block->observer->sees_quickly(*i, warp, active, mask, pattern);
}

// Every warp has come to a barrier of the block. For as long as the observer looks at them they wait there, as they would
// if they were interpreted.
extern "C" void wb_watched_barrier(Context* c, const vm::Insn* i) {
  vm::Block& block = *c->block;
  block.live_threads = 0;
  const size_t warps = (block.threads + 31) / 32;
  for (size_t w = 0; w < warps; ++w) block.live_threads += static_cast<uint32_t>(__builtin_popcount(c->live[w]));
  if (block.live_threads == block.threads && block.observer->all_came(*i)) {
    for (size_t w = 0; w < warps; ++w) ++c->watched.executed[w];
    return;
  }
  wb_prepare(c, 0);
  block.live_threads = 0;
  for (auto& warp : block.warps) {
    vm::Warp& w = *warp;
    w.live = c->live[w.index];
    w.active = 0;
    w.groups.clear();
    block.live_threads += static_cast<uint32_t>(__builtin_popcount(w.live));
    ++c->watched.executed[w.index];
    if (!w.live) continue;
    vm::Group g;
    g.mask = w.live;
    g.ip = i + 1;
    g.frame = w.frame;
    g.state = vm::GroupState::AtBarrier;
    g.waiting = i;
    w.groups.push_back(g);
  }
  block.observer->barrier_complete(block, 0);
  for (auto& w : block.warps) w->groups.clear();
}

extern "C" void wb_passed_shaped(Context* c, const vm::Insn* i, uint32_t mask, uint64_t first, uint64_t stride) {
  vm::Pattern pattern;
  pattern.first = first;
  pattern.stride = static_cast<int64_t>(stride);
  pattern.runs = 1;
  c->block->observer->passed(*i, mask, pattern);
}

extern "C" void wb_passed_lanes(Context* c, const vm::Insn* i, uint32_t mask, const uint64_t* addresses) {
  vm::Pattern pattern;
  pattern.addresses = addresses;
  c->block->observer->passed(*i, mask, pattern);
}

void count_lanes(Context* c, const vm::Insn* i, uint32_t mask, vm::Access& access) {
  access.mask = mask;
  if (mask != ~0u) {
    const uint64_t any = access.address[static_cast<size_t>(__builtin_ctz(mask))];
    for (size_t l = 0; l < 32; ++l) access.address[l] = (mask >> l & 1) ? access.address[l] : any;
  }
  c->block->observer->repeated(*i, access, 1);
}

// An address at the first of the places, where no lane is below zero: in shared memory not another block's.
uint64_t first_place(const vm::Access& access) { return access.space == isa::Space::Shared ? vm::kClusterStride / 2 : uint64_t(1) << 62; }

// What was counted by places goes to the observer.
void settle_site(vm::BlockObserver& observer, const vm::EngineServices& services, const WatchTables::Site& s, const uint64_t* all) {
  if (!s.step) return;
  const uint64_t further = s.gap_at ? all[s.gap_at] : 0;  // of the second half of the lanes
  const uint64_t* const distance = s.lanes_at ? all + s.lanes_at : s.distance.data();
  const uint64_t* const counts = all + s.at;
  const uint32_t places = static_cast<uint32_t>(vm::BlockObserver::kPlaces / s.step);
  for (uint32_t p = 0; p < places; ++p) {
    // Most sites use few of their places.
    if (p % 8 == 0 && p + 8 <= places && std::all_of(counts + p, counts + p + 8, [](uint64_t n) { return n == 0; })) {
      p += 7;
      continue;
    }
    const uint64_t times = counts[p], place = uint64_t{p} * s.step;
    if (!times || (!s.lanes_at && observer.repeats(*s.insn, ~0u, place, s.shape(further), times))) continue;
    s.tell_each([&](const vm::Insn& i, uint64_t beyond) {
      vm::Access access = services.describe_access(i);
      access.mask = ~0u;
      for (size_t l = 0; l < 32; ++l) access.address[l] = first_place(access) + place + beyond + distance[l] + (l < 16 ? 0 : further);
      observer.repeated(i, access, times);
    });
  }
}

// What warps did of which little more is known than how many lanes it were.
void settle_parts(vm::BlockObserver& observer, const vm::EngineServices& services, const WatchTables::Site& s, const uint64_t* all) {
  if (!s.word_at && !s.rows_at && !s.apart_at) return;
  const auto settle_one = [&](const vm::Insn& i, uint64_t times, uint32_t lanes, uint64_t first, uint64_t stride) {
    if (!times) return;
    vm::Access access = services.describe_access(i);
    access.mask = ~0u >> (32 - lanes);
    for (size_t l = 0; l < 32; ++l) access.address[l] = first_place(access) + first + std::min<uint64_t>(l, lanes - 1) * stride;
    observer.repeated(i, access, times);
  };
  const auto settle = [&](const uint64_t* counts, uint64_t first, uint64_t stride) {
    for (uint32_t lanes = 1; lanes < 32; ++lanes) settle_one(*s.insn, counts[lanes], lanes, first, stride);
  };
  if (s.apart_at) s.tell_each([&](const vm::Insn& i, uint64_t) { settle_one(i, all[s.apart_at], 32, 0, WatchTables::kLine); });
  if (s.word_at) settle(all + s.word_at, 0, 0);
  for (uint32_t p = 0; s.rows_at && p < vm::BlockObserver::kPlaces / s.step; ++p)
    settle(all + s.rows_at + p * 32, uint64_t{p} * s.step, s.step);
}

// The two stretches of an instruction's lanes are another distance apart from now on.
extern "C" void wb_other_gap(Context* c, uint32_t site, uint64_t gap) {
  const WatchTables::Site& s = c->watched.watch->sites[site];
  enter(*c);
  settle_site(*c->block->observer, *c->services, s, c->watched.counters);
  std::fill_n(c->watched.counters + s.at, vm::BlockObserver::kPlaces / s.step, uint64_t{0});
  c->watched.counters[s.gap_at] = gap;
}

extern "C" void wb_count_shaped(Context* c, uint32_t site, uint32_t mask, uint64_t first) {
  const WatchTables::Site& s = c->watched.watch->sites[site];
  if (c->block->observer->repeats(*s.insn, mask, first, s.shape(0), 1)) return;
  vm::Access access = c->services->describe_access(*s.insn);
  for (size_t l = 0; l < 32; ++l) access.address[l] = first + s.distance[l];
  count_lanes(c, s.insn, mask, access);
}

extern "C" void wb_settle_coarsened(Context* c, uint32_t first, uint32_t end, bool through) {
  for (uint32_t k = first; through && k < end; ++k) c->watched.counters[k] += c->watched.coarsened_counters[k];
  std::fill(c->watched.coarsened_counters + first, c->watched.coarsened_counters + end, uint64_t{0});
}

extern "C" void wb_count_lanes(Context* c, const vm::Insn* i, uint32_t mask, const uint64_t* addresses) {
  vm::Access access = c->services->describe_access(*i);
  std::copy_n(addresses, 32, access.address.begin());
  count_lanes(c, i, mask, access);
}

// How many lanes there are, if they lie side by side in their order; 0: they do not.
static uint32_t lanes_in_a_row(uint32_t mask, const uint64_t* addresses, uint64_t step) {
  uint32_t lanes = 0;
  const uint64_t first = addresses[__builtin_ctz(mask)];
  for (; mask; mask &= mask - 1, ++lanes)
    if (addresses[__builtin_ctz(mask)] != first + lanes * step) return 0;
  return lanes;
}

// Lanes that are not as far apart as those that the site counted last, or not all of them: those distances are kept where they
// come again and again, as in rows of a matrix, and others, as in a gather, are counted at once.
extern "C" void wb_other_lanes(Context* c, uint32_t site, uint32_t mask, const uint64_t* addresses) {
  constexpr uint64_t kWorth = 8, kRest = 256;
  const WatchTables::Site& s = c->watched.watch->sites[site];
  if (const uint32_t lanes = s.rows_at && mask != ~0u ? lanes_in_a_row(mask, addresses, s.step) : 0) {
    ++c->watched.counters[s.rows_at + addresses[__builtin_ctz(mask)] / s.step % (vm::BlockObserver::kPlaces / s.step) * 32 + lanes];
    return;
  }
  enter(*c);
  uint64_t &resting = c->watched.counters[s.lanes_at + 32], *const counts = c->watched.counters + s.at;
  if (mask != ~0u || resting) {
    if (resting) --resting;
    return s.tell_each([&](const vm::Insn& i, uint64_t beyond) {
      std::array<uint64_t, 32> there;
      std::transform(addresses, addresses + 32, there.begin(), [&](uint64_t a) { return a + beyond; });
      wb_count_lanes(c, &i, mask, there.data());
    });
  }
  const size_t places = vm::BlockObserver::kPlaces / s.step;
  if (std::accumulate(counts, counts + places, uint64_t{0}) < kWorth) resting = kRest;
  settle_site(*c->block->observer, *c->services, s, c->watched.counters);
  std::fill_n(counts, places, uint64_t{0});
  for (size_t l = 0; l < 32; ++l) c->watched.counters[s.lanes_at + l] = addresses[l] - addresses[0];
  ++counts[addresses[0] / s.step % places];
}

}  // namespace

void watched_detour(Context& c, const Detour& d, uint32_t warp, uint32_t mask, uint32_t active) {
  const vm::Insn& i = *d.insn;
  vm::Warp& w = warp_at(&c, &i, warp, active);
  vm::BlockObserver& observer = *c.block->observer;
  const bool events = c.watched.watch->wanted.events;
  if (events) w.live = c.running.alive;
  switch (d.what) {
    case Detour::What::Access: return c.services->report_accesses(w, i, mask);
    case Detour::What::Meeting:
      c.services->report_meeting(w, i, active);
      c.running.wants_more = observer.every_instruction;
      return;
    case Detour::What::Handler: break;
  }
  if (events && i.watched == Watched::Notable) observer.instruction(w, i, mask, active);
  if (i.watched == Watched::Memory) {
    if (events || c.watched.watch->wanted.traffic) c.services->report_accesses(w, i, mask);
    return i.fn(w, i, mask);
  }
  observer.alone(false);
  if (i.watched == Watched::WarpSync && events) c.services->report_meeting(w, i, active);
  i.fn(w, i, mask);
  observer.alone(true);
}

namespace {

// The counters go to the observer and begin anew.
void settle(vm::BlockObserver& observer, const WatchTables& t, const vm::FunctionCode& function, const vm::EngineServices& services) {
  uint64_t* const counters = observer.pending.counters.data();
  if (observer.counts && observer.counted_function != &function) observer.enter(function);
  if (t.wanted.executions) {
    for (const auto& s : t.stretches) {
      const uint64_t warps = counters[s.at], threads = s.full ? 32 * warps : counters[s.at + 1];
      if (!warps) continue;
      for (uint32_t k = s.begin; k < s.end; ++k) {
        if (function.insns[k].watched == Watched::Extra) continue;
        vm::Executions& e = observer.counted[k];
        e.warps += warps;
        e.threads += threads;
        if (!t.on.contains(k)) e.threads_on += threads;
      }
    }
    for (const auto& r : t.unrolled)
      for (const auto& [k, by] : r.executions) {
        vm::Executions& e = observer.counted[k];
        const uint64_t blocks = counters[r.at];
        e.warps += by.warps * blocks;
        e.threads += by.threads * blocks;
        e.threads_on += by.threads_on * blocks;
        e.parted += by.parted * blocks;
      }
    for (const auto& [k, at] : t.on) observer.counted[k].threads_on += counters[at];
    for (const auto& [k, at] : t.parted) observer.counted[k].parted += counters[at];
  }
  for (const auto& s : t.sites) {
    settle_site(observer, services, s, counters);
    settle_parts(observer, services, s, counters);
  }
  for (const auto& [k, at] : t.banks)
    if (counters[at]) observer.met_in_banks(function.insns[k], counters[at], counters[at + 1], counters[at + 2]);
  for (const auto& r : t.unrolled) {
    if (!counters[r.at]) continue;
    for (const auto& [made, times] : r.made) {
      vm::Access access = services.describe_access(*made.insn);
      access.mask = made.mask;
      access.address = made.address;
      observer.repeated(*made.insn, access, times * counters[r.at]);
    }
  }
  std::fill_n(counters, t.counters, uint64_t{0});
}

}  // namespace

void enter(Context& c) {
  vm::BlockObserver& o = *c.block->observer;
  if (o.pending.of != c.watched.watch) {
    o.settle();
    o.pending = {c.watched.watch, std::vector<uint64_t>(2 * c.watched.watch->counters),
                 [&o, &t = *c.watched.watch, &f = *c.block->code->function, &s = *c.services] { settle(o, t, f, s); }};
  }
  c.watched.counters = o.pending.counters.data();
  c.watched.coarsened_counters = c.watched.counters + c.watched.watch->counters;
  if (o.counts && o.counted_function != c.block->code->function) o.enter(*c.block->code->function);
}

uint64_t executed_since_enter(const Context& c) {
  uint64_t sum = 0;
  for (const WatchTables::Stretch& s : c.watched.watch->stretches)
    sum += (c.watched.counters[s.at] + c.watched.coarsened_counters[s.at]) * s.instructions;
  for (const WatchTables::UnrolledBlock& r : c.watched.watch->unrolled)
    sum += (c.watched.counters[r.at] + c.watched.coarsened_counters[r.at]) * r.instructions;
  return sum;
}

void take_back(Context& c, uint32_t stretch, uint32_t from, uint32_t warp, uint32_t active) {
  const WatchTables::Stretch& s = c.watched.watch->stretches[stretch];
  const auto& insns = c.block->code->function->insns;
  vm::BlockObserver& observer = *c.block->observer;
  enter(c);
  const auto threads = static_cast<uint64_t>(__builtin_popcount(active));
  for (uint32_t k = std::max(from, s.begin); k < s.end; ++k) {
    if (insns[k].watched == Watched::Extra) continue;
    --c.watched.executed[warp];
    if (!c.watched.watch->wanted.executions) continue;
    vm::Executions& e = observer.counted[k];
    e.warps -= 1;
    e.threads -= threads;
    if (!c.watched.watch->on.contains(k)) e.threads_on -= threads;
  }
}

void take_back_after_trap(Context& c) {
  const uint32_t at = index_of(c, c.running.executing);
  for (uint32_t s = 0; s < c.watched.watch->stretches.size(); ++s)
    if (at >= c.watched.watch->stretches[s].begin && at < c.watched.watch->stretches[s].end)
      take_back(c, s, at + 1, c.running.executing_warp, c.running.executing_lanes);
}

std::vector<Symbol> watch_symbols() {
  return {
      {"wb_watched_instruction", reinterpret_cast<void*>(&wb_watched_instruction)},
      {"wb_watched_shaped", reinterpret_cast<void*>(&wb_watched_shaped)},
      {"wb_watched_batch", reinterpret_cast<void*>(&wb_watched_batch)},
      {"wb_watched_lanes", reinterpret_cast<void*>(&wb_watched_lanes)},
      {"wb_watched_barrier", reinterpret_cast<void*>(&wb_watched_barrier)},
      {"wb_passed_shaped", reinterpret_cast<void*>(&wb_passed_shaped)},
      {"wb_passed_lanes", reinterpret_cast<void*>(&wb_passed_lanes)},
      {"wb_other_gap", reinterpret_cast<void*>(&wb_other_gap)},
      {"wb_count_shaped", reinterpret_cast<void*>(&wb_count_shaped)},
      {"wb_settle_coarsened", reinterpret_cast<void*>(&wb_settle_coarsened)},
      {"wb_count_banks", reinterpret_cast<void*>(&wb_count_banks)},
      {"wb_count_lanes", reinterpret_cast<void*>(&wb_count_lanes)},
      {"wb_other_lanes", reinterpret_cast<void*>(&wb_other_lanes)},
  };
}

}  // namespace warpbeam::jit
