// Accesses that are no race by the letter, or by luck: `volatile` ones that nothing orders, and plain reads behind a lock that
// was taken without a fence. Both are warnings.
#include <fmt/format.h>

#include "observe/check/block_watch.h"

namespace warpbeam::observe::check {
namespace {

bool acquires(isa::Sem sem) { return sem == isa::Sem::Acquire || sem == isa::Sem::AcqRel || sem == isa::Sem::Sc; }

}  // namespace

// Two volatile accesses: each is made, whole, and in no order with the other. That is what flags are for; a flag is a place that
// somebody waits for, or whose value only decides where to go on.
bool BlockWatch::loose(const Now& n, const Event& e) const {
  const Site &mine = c_.sites[n.site], &theirs = c_.sites[e.site];
  if (!mine.is_volatile || !theirs.is_volatile || n.shared || e.is_copy || e.act == Act::Atomic || n.act == Act::Atomic) return false;
  if (mine.waits || theirs.waits || mine.decides || theirs.decides) return false;
  return e.op == l_.op && !(e.block == linear_ && e.warp == n.warp.index);
}

// Places that somebody waits for, or goes on by.
void BlockWatch::note_flags(const Now& n) {
  const Site& site = c_.sites[n.site];
  if (!site.is_volatile || n.act != Act::Read || (!site.waits && !site.decides)) return;
  constexpr size_t kMost = 1 << 16;
  for (uint32_t left = n.access.mask; left && l_.flags->size() < kMost; left &= left - 1)
    l_.flags->insert(n.access.address[static_cast<size_t>(__builtin_ctz(left))]);
}

// A compare-and-swap, or an exchange whose old value is looked at, may take a lock.
void BlockWatch::note_lock(Now& n) {
  const isa::Mods& m = n.insn.mods();
  const bool takes =
      n.act == Act::Atomic && !n.shared && !acquires(m.sem) && (m.op == isa::Op::Cas || (m.op == isa::Op::Exch && n.access.returns));
  if (!takes) return;
  for (uint32_t left = n.access.mask; left; left &= left - 1)
    n.state.extra().took[static_cast<size_t>(__builtin_ctz(left))] = {c_.log.next(), n.site};
}

// What another block has left behind its fence is read plainly, by a thread that took a lock and has passed no fence since: its
// multiprocessor may have the place in its cache from before.
void BlockWatch::look_behind_lock(Now& n, const Cell& c, int lane, uint64_t offset) {
  const auto& [took, at] = n.state.lanes->took[static_cast<size_t>(lane)];
  if (took <= std::max(base_, n.state.base)) return;
  const auto& fence = n.state.lanes->fence[static_cast<size_t>(lane)];
  if (fence && fence->when >= took) return;
  const std::optional<Event> e = c_.log.find(c.write);
  if (!e || e->act != Act::Write || e->is_copy || e->op != l_.op || e->block == linear_ || c_.sites[n.site].guesses) return;
  if (!ordered(n, *e, c.write_lane, lane)) return;
  const uint64_t key = uint64_t(n.site) << 34 | uint64_t(e->site & 0xffffff) << 10 | 13;
  if (c_.repeated(key)) return;
  const Site &mine = c_.sites[n.site], &theirs = c_.sites[e->site];
  Finding f = finding(n, lane, FindingKind::RaceAcquire,
                      fmt::format("Race possible between Write access at {} in {}", theirs.kernel, theirs.location));
  f.severity = Severity::Warning;
  f.apart = Apart::InLaunch;
  f.locations.push_back(theirs.location);
  f.lines.clear();
  f.lines.push_back({fmt::format("and Read access at {} in {} behind a lock, with no fence since", mine.kernel, mine.location), {}});
  add_inlined(f, mine.inlined, mine.kernel);
  add_callers(f, n.warp);
  f.lines.push_back({"Write " + c_.thread_text(*e, c.write_lane), {}});
  f.lines.push_back({"Read " + thread_text(n.warp, lane), {}});
  f.lines.push_back({"the lock was taken at " + c_.sites[at].location, {}});
  add_place(f, n, n.region->zero + offset);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.facts.emplace_back("lock", c_.sites[at].location);
  f.mend =
      "put __threadfence() after the lock has been taken: the multiprocessor may have cached the place before; or read with __ldcg or a volatile access";
  c_.report(key, std::move(f));
}

}  // namespace warpbeam::observe::check
