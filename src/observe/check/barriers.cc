// Barriers of a block and of a cluster: whom they order, who does not come, and who ends too early.
#include <fmt/format.h>

#include <algorithm>

#include "observe/check/block_watch.h"
#include "observe/check/reachability.h"
#include "vm/spans.h"

namespace warpbeam::observe::check {

using isa::Sem;

// --- of a block ---------------------------------------------------------------------------------------------------

CameList BlockWatch::came_of(const WarpState& s, uint32_t mask) {
  CameList came;
  if (s.lanes)
    for (uint32_t left = mask; left; left &= left - 1) add(came, s.lanes->came[__builtin_ctz(left)]);
  return came;
}

void BlockWatch::all_meet() {
  set_base(c_.log.tick());
  for (WarpState& s : warps_) {
    if (!s.lanes) continue;
    for (CameList& list : s.lanes->came) {
      add(came_, list);
      list.clear();
    }
  }
}

// All who come to a barrier must give the same number of threads. The machine goes by the first one's.
void BlockWatch::look_at_count(const vm::Warp& w, const vm::Insn& i, uint8_t barrier, uint32_t threads, uint32_t mask) {
  const vm::FunctionCode& f = *w.frame->function;
  const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
  Count& first = counts_[barrier];
  if (!threads) threads = static_cast<uint32_t>(32 * warps_.size());
  if (!first.by) {
    first = {&i, &f, threads, w.index, lane};
    return;
  }
  if (first.threads == threads) return;
  l_.counts_differ = true;
  Finding found;
  found.kind = FindingKind::CountsDiffer;
  found.kernel = spaced(f.display_name);
  found.locations = {vm::Warp::location(i, f), vm::Warp::location(*first.by, *first.function)};
  found.title =
      fmt::format("Threads come to barrier {} that expect different numbers of threads there: {} and {}", barrier, first.threads, threads);
  add_where(found, vm::Warp::inlined(i, f));
  found.lines.push_back({fmt::format("{}, for {} threads", thread_text(w, static_cast<int>(lane)), threads), {}});
  const auto& t = block_.warps[first.warp]->tid[first.lane];
  found.lines.push_back(
      {fmt::format("thread ({},{},{}) came before, for {} threads, at {}", t[0], t[1], t[2], first.threads, found.locations[1]), {}});
  add_inlined(found, vm::Warp::inlined(*first.by, *first.function), found.kernel);
  found.lines.push_back({"the kernel was launched", l_.stack});
  found.mend = "bar.sync and bar.arrive of one barrier must name the number of all threads that wait there or arrive";
  c_.report(0, std::move(found));
}

void BlockWatch::barrier_arrive(vm::Warp& w, const vm::Insn& i, uint8_t barrier, uint32_t expected, uint32_t mask, bool waits) {
  const auto lock = hold();
  if (c_.settings.sync) look_at_count(w, i, barrier, expected, mask);
  if (waits) return;
  WarpState& s = warps_[w.index];
  s.moves_on();
  arrivals_[barrier].push_back({snapshot(s, static_cast<uint16_t>(w.index), Strength::Cta, came_of(s, mask)), mask});
}

void BlockWatch::barrier_complete(vm::Block& b, uint8_t barrier) {
  const auto lock = hold();
  counts_[barrier] = {};
  struct Part {
    vm::Warp* warp;
    const vm::Group* group;
  };
  std::vector<Part> parts;
  uint32_t waiting = 0;
  for (auto& w : b.warps)
    for (const vm::Group& g : w->groups)
      if (g.state == vm::GroupState::AtBarrier && g.barrier == barrier) {
        parts.push_back({w.get(), &g});
        waiting += static_cast<uint32_t>(__builtin_popcount(g.mask));
      }
  if (parts.empty()) return;
  const bool whole = b.barriers[barrier].expected == 0;

  if (whole && c_.settings.sync) {
    const Part& first = parts.front();
    const std::string here = vm::Warp::location(*first.group->waiting, *first.group->frame->function);
    auto divergence = [&](const char* title, const vm::Warp& w, uint32_t lanes, const std::string& there, const std::string& what,
                          const vm::Insn* at = nullptr, const vm::FunctionCode* of = nullptr, Severity severity = Severity::Error) {
      Finding f;
      f.severity = severity;
      f.kind = FindingKind::BarrierDivergence;
      f.kernel = spaced(b.code->function->display_name);
      f.locations = {here, there};
      f.title = title;
      add_where(f, vm::Warp::inlined(*first.group->waiting, *first.group->frame->function));
      const int lane = __builtin_ctz(first.group->mask);
      f.lines.push_back({thread_text(*first.warp, lane), {}});
      const auto& t = w.tid[__builtin_ctz(lanes)];
      f.lines.push_back({fmt::format("thread ({},{},{}) {}", t[0], t[1], t[2], what), {}});
      if (at) add_inlined(f, vm::Warp::inlined(*at, *of), f.kernel);
      f.lines.push_back({"the kernel was launched", l_.stack});
      f.mend = "every thread of the block must reach the same __syncthreads(): move it out of the condition";
      c_.report(0, std::move(f));
    };
    for (const Part& p : parts) {
      if (p.group->waiting == first.group->waiting) continue;
      const std::string there = vm::Warp::location(*p.group->waiting, *p.group->frame->function);
      if (there == here && p.warp != first.warp) continue;  // the compiler may have made two of one
      divergence(p.warp == first.warp ? "Barrier error detected. Divergent thread(s) in warp."
                                      : "Barrier error detected. Divergent thread(s) in block.",
                 *p.warp, p.group->mask, there, "waits at " + there, p.group->waiting, p.group->frame->function);
      break;
    }
    // Threads that ended without this barrier, after code that stands behind it, went around it. Those that returned before
    // may: the barrier does not wait for them. Where the kernel returns nowhere but at its end, or not behind what the thread has
    // done, nobody has. In between are
    // loops with fewer rounds for some threads, which then end: a GPU lets them, and whatever is added behind the loop makes
    // it a mistake. Where a round may go around the barrier, the threads were still in the loop when others waited.
    const auto of = [](const vm::Warp& w) {
      return w.live ? "Barrier error detected. Divergent thread(s) in warp." : "Barrier error detected. Divergent thread(s) in block.";
    };
    for (auto& w : b.warps) {
      if (bypass_reported_) break;
      for (uint32_t gone = w->present & ~w->live; gone; gone &= gone - 1) {
        const int lane = __builtin_ctz(gone);
        const vm::Insn& barrier_here = *first.group->waiting;
        const vm::FunctionCode& f = *first.group->frame->function;
        const vm::Insn* last = warps_[w->index].last_of(lane);
        const vm::Insn* before = all_at_ ? all_at_ : warps_[w->index].at_barrier >> lane & 1 ? warps_[w->index].barrier : nullptr;
        const bool was_here = before && same_line(*before, barrier_here),
                   in_rounds = was_here || (before && in_one_loop(f, barrier_here, *before));
        const bool behind = last && last >= &barrier_here && last < f.insns.data() + f.insns.size();
        if (behind) {
          const std::string there = vm::Warp::location(*last, f);
          divergence(of(*w), *w, 1u << lane, there, "went around it, executed " + there, last, &f);
        } else if (in_rounds && may_go_around(f, barrier_here, was_here ? *before : barrier_here)) {
          divergence(of(*w), *w, 1u << lane, here, "was at it before, went around it and has ended");
        } else if (in_rounds) {
          divergence("Threads end that were at this barrier before, while others come to it once more", *w, 1u << lane, here, "has ended",
                     nullptr, nullptr, Severity::Warning);
        } else if (ran_to_the_end(*w, barrier_here, f, lane)) {
          divergence(of(*w), *w, 1u << lane, here, fmt::format("went around it and has ended: {}", where_it_returns()));
        } else {
          continue;
        }
        bypass_reported_ = true;
        break;
      }
    }
  }

  for (const Part& p : parts) warps_[p.warp->index].moves_on();
  if (whole) {
    if (all_at_)
      for (WarpState& s : warps_) s.barrier = all_at_, s.at_barrier = ~0u;
    all_at_ = nullptr;
    for (const Part& p : parts) {
      WarpState& s = warps_[p.warp->index];
      if (s.barrier != p.group->waiting) s.at_barrier = 0;
      s.barrier = p.group->waiting;
      s.at_barrier |= p.group->mask;
    }
  }
  if (waiting == b.live_threads && arrivals_[barrier].empty()) {
    hand_on_all();
    all_meet();
    return;
  }
  // Some warps: they meet, like at a flag.
  barriers_.push_back(std::make_unique<Meeting>());
  Meeting& meeting = *barriers_.back();
  for (Arrival& a : arrivals_[barrier]) meeting.leave({a.snapshot, a.mask, c_.log.tick()});
  arrivals_[barrier].clear();
  for (const Part& p : parts) {
    WarpState& s = warps_[p.warp->index];
    meeting.leave(
        {snapshot(s, static_cast<uint16_t>(p.warp->index), Strength::Cta, came_of(s, p.group->mask)), p.group->mask, c_.log.tick()});
  }
  Fenced fenced;
  for (const Part& p : parts) add_fences(fenced, warps_[p.warp->index], p.group->mask, 0);
  const EventId now = c_.log.tick();
  for (const Part& p : parts) {
    WarpState& s = warps_[p.warp->index];
    for (uint32_t left = p.group->mask; left; left &= left - 1) add(s.extra().came[__builtin_ctz(left)], {&meeting, now});
    hand_on(fenced, s, p.group->mask);
  }
}

namespace {

// The file and the line in the function itself that led to an instruction.
std::pair<std::string, uint32_t> outer_place(const vm::Insn& i, const vm::FunctionCode& f) {
  const std::vector<vm::Warp::Inlined> calls = vm::Warp::inlined(i, f);
  const std::string place = calls.empty() ? vm::Warp::location(i, f) : calls.back().called_at;
  const size_t colon = place.rfind(':');
  if (colon == place.npos) return {};
  return {place.substr(0, colon), static_cast<uint32_t>(std::strtoul(place.c_str() + colon + 1, nullptr, 10))};
}

}  // namespace

// Has a thread that has ended done something behind the kernel's last early return? Then it has not returned early.
bool BlockWatch::ran_to_the_end(const vm::Warp& w, const vm::Insn& here, const vm::FunctionCode& f, int lane) const {
  if (!l_.last_return || *l_.last_return == 0) return l_.last_return.has_value();
  const std::string file = outer_place(here, f).first;
  const auto behind = [&](const vm::Insn* i) {
    if (!i || i < f.insns.data() || i >= f.insns.data() + f.insns.size()) return false;
    // The compiler may load from shared memory before it is known to be needed.
    if (i->source->form.row->cls == isa::Class::Load && i->mods().space == isa::Space::Shared) return false;
    const auto [of, line] = outer_place(*i, f);
    return of == file && line > *l_.last_return;
  };
  const WarpState& s = warps_[w.index];
  return behind(s.last_of(lane)) || behind(all_at_) || (s.at_barrier >> lane & 1 && behind(s.barrier));
}

std::string BlockWatch::where_it_returns() const {
  return *l_.last_return ? fmt::format("the kernel returns nowhere behind line {} but at its end", *l_.last_return)
                         : "the kernel returns nowhere but at its end";
}

bool BlockWatch::all_came(const vm::Insn& i) {
  if (!arrivals_[0].empty()) return false;
  all_at_ = &i;
  hand_on_all();
  for (WarpState& s : warps_) s.moves_on();
  all_meet();
  return true;
}

// --- of a cluster -------------------------------------------------------------------------------------------------

void BlockWatch::arrive_at_cluster(const vm::Warp& w, const vm::Insn& i, uint32_t mask) {
  const auto lock = hold();
  WarpState& s = warps_[w.index];
  s.moves_on();
  if (!s.arrived_at_cluster) s.arrived = c_.log.next();
  s.arrived_at_cluster |= mask;
  if (i.mods().sem != Sem::Relaxed) {
    cluster_arrivals_.push_back({snapshot(s, static_cast<uint16_t>(w.index), Strength::Cta, came_of(s, mask)), mask});
    return;
  }
  arrived_relaxed_ = true;
  Fenced fenced;
  add_fences(fenced, s, mask, 0);
  for (auto& [what, by] : fenced) cluster_arrivals_.push_back({std::move(what), by});
  if (handed_) cluster_arrivals_.push_back({handed_, 0});
}

void BlockWatch::wait_at_cluster(const vm::Warp& w, uint32_t mask) {
  const auto lock = hold();
  WarpState& s = warps_[w.index];
  s.moves_on();
  for (uint32_t left = mask & s.to_wait_at_cluster; left; left &= left - 1) add(s.extra().came[__builtin_ctz(left)], s.cluster);
  s.to_wait_at_cluster &= ~mask;
}

// Between its arrival and its waiting each thread has made no access.
bool BlockWatch::does_nothing_at_cluster(const vm::Block& b) const {
  if (arrived_relaxed_) return false;
  for (const auto& w : b.warps) {
    const auto about_to_wait = [&] {
      return w->cluster_passed == w->active && w->ip->guard < 0 && w->ip->source && w->ip->source->form.row &&
             trait_of(*w->ip->source->form.row) == Trait::ClusterWait;
    };
    if (w->cluster_passed && !about_to_wait()) return false;
    const WarpState& s = warps_[w->index];
    const auto since = [&](const vm::WatchedGroup& g) { return g.first >= s.arrived; };
    const auto own = groups_.begin() + static_cast<ptrdiff_t>(w->index * l_.places.groups());
    if (s.arrived_at_cluster &&
        (std::any_of(own, own + static_cast<ptrdiff_t>(l_.places.groups()), since) || std::ranges::any_of(s.elsewhere, since)))
      return false;
  }
  return true;
}

// The blocks of the cluster have come: who has waited knows what all did before they arrived.
void BlockWatch::cluster_complete(vm::Block& leader) {
  const auto lock = hold();
  l_.clusters.push_back(std::make_unique<Meeting>());
  Meeting& meeting = *l_.clusters.back();
  bool together = true;
  Fenced fenced;
  for (const vm::Block* member : leader.members) {
    const auto& watch = static_cast<BlockWatch&>(*member->observer);
    together = together && watch.does_nothing_at_cluster(*member);
    if (watch.fenced_)
      for (const WarpState& s : watch.warps_) add_fences(fenced, s, ~0u, watch.base_);
  }
  const auto handed = hand_on(fenced, Strength::Gpu);
  left_elsewhere_ = true;
  for (vm::Block* member : leader.members) {
    auto& watch = static_cast<BlockWatch&>(*member->observer);
    if (handed) watch.handed_ = handed;
    if (together) {
      watch.fenced_ = false;
      watch.all_meet();
      meeting.leave({watch.snapshot(watch.warps_[0], 0, Strength::Cta, {}), 0, c_.log.tick()});
    } else {
      for (const Arrival& a : watch.cluster_arrivals_) meeting.leave({a.snapshot, a.mask, c_.log.tick()});
    }
    watch.cluster_arrivals_.clear();
    watch.arrived_relaxed_ = false;
    watch.left_elsewhere_ = true;
  }
  const Came now{&meeting, c_.log.tick()};
  for (vm::Block* member : leader.members) {
    auto& watch = static_cast<BlockWatch&>(*member->observer);
    for (const auto& w : member->warps) {
      WarpState& s = watch.warps_[w->index];
      s.moves_on();
      s.arrived_at_cluster = 0;
      if (together) continue;
      s.cluster = now;
      s.to_wait_at_cluster = w->cluster_passed;
      for (uint32_t left = w->live & ~w->cluster_passed; left; left &= left - 1) add(s.extra().came[__builtin_ctz(left)], now);
    }
    if (together) {
      add(watch.came_, now);
      watch.visits_.clear();
    } else {
      std::erase_if(watch.visits_, [&](const Visit& v) {
        const std::optional<Event> e = c_.log.find(v.id);
        return !e || watch.someone_knows(*e, v.lane);
      });
    }
  }
}

// A thread of the block, that is.
bool BlockWatch::someone_knows(const Event& e, uint32_t lane) const {
  if (knows(came_, e, lane)) return true;
  return std::ranges::any_of(warps_, [&](const WarpState& s) {
    return s.lanes && std::ranges::any_of(s.lanes->came, [&](const CameList& came) { return !came.empty() && knows(came, e, lane); });
  });
}

// What is told to an mbarrier, or by way of one, may come at any time: whoever needs it waits there.
void BlockWatch::note_visit(const Now& n, int lane, uint64_t offset) {
  constexpr size_t kMost = 64;
  const Trait trait = trait_of(*n.insn.source->form.row);
  if (trait == Trait::Arrives || trait == Trait::CopiesArrive || trait == Trait::Waits || trait == Trait::BulkStore) return;
  if (visits_.size() < kMost && (visits_.empty() || visits_.back().id != n.id))
    visits_.push_back({n.id, static_cast<uint32_t>(lane), offset});
}

// Shared memory goes with its block: one of its threads must know of all that others do there.
void BlockWatch::ends() {
  if (!c_.settings.race) return;
  for (const Visit& v : visits_) {
    const std::optional<Event> e = c_.log.find(v.id);
    if (!e) continue;
    const uint64_t key = uint64_t(e->site) << 8 | 9;
    if (c_.repeated(key)) continue;
    bool known = someone_knows(*e, v.lane);
    // A flag that one of its own threads has looked at since.
    if (e->strength != Strength::Weak)
      shared_.peek(v.offset, [&](const Cell& c) {
        for (const EventId id : {c.read_a, c.read_b, c.write})
          if (const std::optional<Event> own = c_.log.find(id);
              own && own->id > v.id && own->op == l_.op && own->block == linear_ && own->strength != Strength::Weak)
            known = true;
      });
    if (known) continue;
    const Site& site = c_.sites[e->site];
    const char* act = name(e->act);
    const auto& b = block_.index;
    Finding f;
    f.kind = FindingKind::RaceBlockEnd;
    f.kernel = site.kernel;
    f.locations = {site.location};
    f.apart = Apart::InLaunch;
    f.title = fmt::format("Race reported between {} access at {} in {} and the end of the block whose shared memory it is", act,
                          site.kernel, site.location);
    add_inlined(f, site.inlined, site.kernel);
    f.lines.push_back({fmt::format("{} {}", act, c_.thread_text(*e, v.lane)), {}});
    std::string text = fmt::format("offset {:#x} of shared memory", v.offset);
    for (const auto& s : l_.shared)
      if (v.offset >= s.offset && v.offset < uint64_t(s.offset) + s.size) {
        const std::string name = c_.shapes.place(*s.name, v.offset - s.offset);
        f.facts.emplace_back("variable", name);
        text = fmt::format("{} (__shared__ memory, byte {} of {})", name, v.offset - s.offset, s.size);
      }
    f.lines.push_back(
        {fmt::format("Address {} of block ({},{},{}), which does not wait for it before it ends", text, b[0], b[1], b[2]), {}});
    f.lines.push_back({"the kernel was launched", l_.stack});
    f.mend = "blocks of a cluster must stay until nobody uses their shared memory any more: end the kernel with cluster.sync()";
    c_.report(key, std::move(f));
  }
}

}  // namespace warpbeam::observe::check
