// Instructions, fences and events; barriers.cc and warp_syncs.cc have who meets, race.cc and addresses.cc look at accesses.
#include "observe/check/block_watch.h"
#include "vm/grid.h"
#include "vm/mbarrier.h"
#include "vm/spans.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warpbeam::observe::check {
namespace {

using isa::Sem;
using isa::Space;

Strength strength_of(isa::Scope s) {
  switch (s) {
    case isa::Scope::Cta: return Strength::Cta;
    case isa::Scope::Sys: return Strength::Sys;
    default: return Strength::Gpu;
  }
}

}  // namespace

Strength strength_of(const vm::Insn& i, vm::AccessKind kind) {
  const isa::Mods& m = i.mods();
  if (kind == vm::AccessKind::Atomic) return strength_of(m.scope);
  switch (m.sem) {
    case Sem::Volatile:
    case Sem::Mmio: return Strength::Sys;
    case Sem::Relaxed:
    case Sem::Acquire:
    case Sem::Release:
    case Sem::Sc: return strength_of(m.scope);
    default: break;
  }
  // What passes by the first cache is how libraries wrote flags before there were ordered accesses.
  switch (m.cache) {
    case isa::Cache::Cv: return Strength::Sys;
    case isa::Cache::Cg:
    case isa::Cache::Wt: return i.source->form.row->kind == isa::Kind::Async ? Strength::Weak : Strength::Gpu;
    default: return Strength::Weak;
  }
}

namespace {

bool releases(Sem s) { return s == Sem::Release || s == Sem::AcqRel || s == Sem::Sc; }

}  // namespace

BlockWatch::BlockWatch(Checker& checker, LaunchInfo& launch, const vm::Block& block)
    : c_(checker),
      l_(launch),
      block_(block),
      linear_(static_cast<uint32_t>(block.linear)),
      base_(checker.log.tick()),
      own_era_(++checker.blocks_seen | uint64_t{1} << 63),
      warps_((block.threads + 31) / 32),
      seen_(warps_.size()),
      groups_(warps_.size() * launch.places.groups()) {
  for (size_t w = 0; w < warps_.size(); ++w) warps_[w].seen = &seen_[w];
  c_.look_at_log();
  words_.sites = l_.sites.data();
  words_.who = reinterpret_cast<const uint32_t*>(l_.who.data());
  words_.groups = groups_.data();
  words_.warps = seen_.data();
  words_.global_bound = c_.settings.race ? l_.ordered_below : ~EventId{0};
  words_.ring = c_.log.ring();
  words_.next = c_.log.next_place();
  words_.op = l_.op;
  words_.block = linear_;
  words = &words_;
  known_good = &l_.known_good;
  set_base(base_);
  every_instruction = false;
  constexpr uint64_t kStep = 16384;  // more than a warp executes between two looks at its patience
  patience = c_.settings.most_instructions > kStep ? c_.settings.most_instructions - kStep : 0;
  if (!block.shared_bytes) return;
  if (!c_.spare_shadows.empty() && c_.spare_shadows.back().bytes() >= block.shared_bytes) {
    shared_ = std::move(c_.spare_shadows.back());
    c_.spare_shadows.pop_back();
    shared_.clear(block.shared_bytes);
  } else {
    c_.spare_shadows.clear();
    shared_ = Shadow(block.shared_bytes);
  }
}

BlockWatch::~BlockWatch() {
  if (left_elsewhere_) {
    c_.ended_meetings_.push_back(std::move(meetings_));
    c_.ended_barriers_.push_back(std::move(barriers_));
  }
  if (shared_ && c_.spare_shadows.size() < 4) c_.spare_shadows.push_back(std::move(shared_));
}

void BlockWatch::set_base(EventId base) {
  base_ = base;
  ++epoch_;
  words_.shared_bound = c_.settings.race ? base_ : ~EventId{0};
}

void BlockWatch::alone(bool begins) {
  if (!begins) {
    held_ = {};
    return;
  }
  held_ = std::unique_lock(c_.mutex);
  if (const uint64_t now = c_.changes + c_.regions.version(); now != c_.changes_of_era) {
    c_.changes_of_era = now;
    ++c_.era;
  }
  const bool asks = copies_ || block_.leader->members.size() > 1;
  words_.era = asks ? ~uint64_t{0} : c_.era;
  words_.own_era = asks ? ~uint64_t{0} : own_era_;
  words_.shared_words = shared_ ? reinterpret_cast<uint64_t>(shared_.words()) : 0;
}

// --- instructions ------------------------------------------------------------------------------------------------

void BlockWatch::instruction(vm::Warp& w, const vm::Insn& i, uint32_t mask, uint32_t) {
  WarpState& s = warps_[w.index];
  if (!s.doubts.empty()) {
    UndefinedValues::Blame blame;
    if (const uint32_t lanes = s.doubts.executes(w, i, mask, &blame)) stores_undefined(w, i, lanes, blame.site, blame.of_sum);
  }
  if (!mask) return;
  const Trait trait = trait_of(*i.source->form.row);
  switch (trait) {
    default: return;
    case Trait::Fence:
    case Trait::CommitCopies:
    case Trait::WaitCopies:
    case Trait::WaitAllCopies:
    case Trait::CopiesArrive:
    case Trait::CommitBulk:
    case Trait::WaitBulk: break;
    case Trait::ClusterArrive: return arrive_at_cluster(w, i, mask);
    case Trait::ClusterWait: return wait_at_cluster(w, mask);
  }
  const auto lock = hold();
  if (trait == Trait::Fence && i.source->form.row->syntax.starts_with("fence.proxy")) proxy_fence_ = c_.log.tick();
  if (trait == Trait::Fence) return fence(w, strength_of(i.mods().scope), mask);
  s.moves_on();  // what follows is another group of copies, or comes after they are complete
  auto& copies = trait == Trait::CommitBulk || trait == Trait::WaitBulk ? s.bulk_copies : s.copies;
  if (!copies) copies = std::make_unique<Copies>();
  if (trait == Trait::CommitCopies || trait == Trait::CommitBulk) copies->commit(mask, c_.log.tick());
  else if (trait == Trait::WaitCopies || trait == Trait::WaitBulk)
    copies->wait(mask, static_cast<uint32_t>(i.source->operands[0].imm), c_.log.tick());
  else copies->wait_all(mask, c_.log.tick());
}

void BlockWatch::still_running(vm::Warp& w, const vm::Insn& i, uint32_t mask, uint64_t instructions) {
  if (instructions > c_.settings.most_instructions) run_too_long(w, i, mask);
}

void BlockWatch::run_too_long(vm::Warp& w, const vm::Insn& i, uint32_t mask) {
  const int lane = __builtin_ctz(mask ? mask : w.active);
  // A loop that waits, in a block that changes nothing: the same finding as when the machine notices it first.
  if ((w.spins > 0 || w.polled) && w.block->progress == w.block->progress_seen)
    w.trap(vm::TrapKind::Deadlock, i, lane,
           "deadlock: the grid's running blocks only wait, and nothing they could wait for has changed for long", 0, w.block->who_waits());
  const auto lock = hold();
  Finding f;
  f.kind = FindingKind::EndlessKernel;
  f.kernel = spaced(w.frame->function->display_name);
  f.locations = {vm::Warp::location(i, *w.frame->function)};
  f.title = fmt::format("Kernel does not end: a warp has executed {} instructions", c_.settings.most_instructions);
  add_where(f, vm::Warp::inlined(i, *w.frame->function));
  add_callers(f, w);
  f.lines.push_back({thread_text(w, lane), {}});
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend = "look at the condition of the loop around this line; --max-instructions allows more";
  c_.report(0, std::move(f));
  l_.ended_by_checker = true;
  w.trap(vm::TrapKind::LaunchTimeout, i, lane, "the kernel does not end");
}

// --- fences, and what goes with them ------------------------------------------------------------------------------

std::shared_ptr<const Snapshot> BlockWatch::snapshot(const WarpState& s, uint16_t warp, Strength scope, const CameList& came) {
  auto out = std::make_shared<Snapshot>();
  out->op = l_.op;
  out->block = linear_;
  out->warp = warp;
  out->scope = scope;
  out->when = c_.log.tick();
  out->block_base = base_;
  out->warp_base = s.base;
  out->lanes = s.table;
  out->came = came_;
  add(out->came, came);
  return out;
}

void BlockWatch::fence(vm::Warp& w, Strength scope, uint32_t mask) {
  WarpState& s = warps_[w.index];
  s.moves_on();
  Lanes& lanes = s.extra();
  std::shared_ptr<const Snapshot> shared;
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    if (!lanes.came[l].empty()) {
      lanes.fence[l] = snapshot(s, static_cast<uint16_t>(w.index), scope, lanes.came[l]);
      continue;
    }
    if (!shared) shared = snapshot(s, static_cast<uint16_t>(w.index), scope, {});
    lanes.fence[l] = shared;
  }
  fenced_ = s.fenced = true;
}

// Each thread stores and passes its fence, then all meet, and one of them sets the flag: what the others had behind their
// fences is behind the flag as well.
// Only those since `base`, which cover what everyone had done before it.
void BlockWatch::add_fences(Fenced& fenced, const WarpState& s, uint32_t mask, EventId base) {
  if (!s.lanes) return;
  const auto add = [&](const std::shared_ptr<const Snapshot>& f, uint32_t by) {
    if (!f || f->when < base) return;
    const auto known = std::ranges::find(fenced, f, &Fenced::value_type::first);
    if (known != fenced.end()) known->second |= by;
    else fenced.emplace_back(f, by);
  };
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    add(s.lanes->fence[l], 1u << l);
    add(s.lanes->handed[l], 0);
    add(s.lanes->handed_in_block[l], 0);
  }
}

// What is behind fences of at least that scope.
std::shared_ptr<const Snapshot> BlockWatch::hand_on(const Fenced& fenced, Strength scope) {
  const auto reaches = [&](const auto& f) { return f.first->scope >= scope; };
  if (std::ranges::none_of(fenced, reaches)) return nullptr;
  barriers_.push_back(std::make_unique<Meeting>());
  auto out = std::make_shared<Snapshot>();
  out->op = l_.op;
  out->block = linear_;
  out->scope = scope;
  for (const auto& f : fenced) {
    if (!reaches(f)) continue;
    barriers_.back()->leave({f.first, f.second, c_.log.tick()});
    if (scope != Strength::Cta)
      out->scope = std::max(out->scope, f.first->scope);  // one that reaches other devices lets the rest come along
  }
  out->when = c_.log.tick();
  out->came = {{barriers_.back().get(), out->when}};
  return out;
}

void BlockWatch::hand_on_all() {
  if (!fenced_) return;
  fenced_ = false;
  Fenced fenced;
  for (const WarpState& s : warps_) add_fences(fenced, s, ~0u, base_);
  if (auto all = hand_on(fenced, Strength::Gpu)) handed_ = std::move(all);
}

// To lanes that have met, but not the whole block: a fence of the block's is of use to them as well.
void BlockWatch::hand_on(const Fenced& fenced, WarpState& s, uint32_t mask) {
  const auto everywhere = hand_on(fenced, Strength::Gpu);
  const bool wider = std::ranges::any_of(fenced, [](const auto& f) { return f.first->scope == Strength::Cta; });
  const auto in_block = wider ? hand_on(fenced, Strength::Cta) : nullptr;
  if (!everywhere && !in_block) return;
  Lanes& lanes = s.extra();
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    if (everywhere) lanes.handed[l] = everywhere;
    if (in_block) lanes.handed_in_block[l] = in_block;
  }
}

// At the barrier of a cooperative launch. Here blocks run one after the other, so that many have gone on to the next round when
// one of them sees that this one is complete: it may rely on what was left until then, and not on what came later.
// 0: it learns nothing.
EventId BlockWatch::comes_to_grid(const Now& n) {
  if (n.act == Act::Read) return grid_rounds_ && grid_rounds_ <= l_.grid_rounds.size() ? l_.grid_rounds[grid_rounds_ - 1] : 0;
  ++grid_rounds_;
  ++l_.arrived_at_grid;
  return 0;
}

// When the phase of an mbarrier was complete that was the last to be, as far as its accesses have shown, which are told of before
// they are made. Who waits for it learns nothing of those that have arrived for the next one already.
EventId BlockWatch::completed_at(uint64_t mbarrier) {
  uint64_t word = 0;
  std::memcpy(&word, block_.shared.data() + mbarrier, sizeof word);
  Phase& phase = phases_[mbarrier];
  if (const bool odd = word >> vm::kPhaseAt & 1; odd != phase.odd) phase = {odd, c_.log.tick()};
  return phase.completed;
}

// Atomic, volatile and ordered accesses are where threads meet: who passed a fence before leaves there what it knows, and
// who sees the value may rely on it. A fence on the reading side is not asked for: programs that lack it are many, and
// work wherever the reader has not cached the data before.
void BlockWatch::synchronise(Now& n) {
  const Sem sem = n.insn.mods().sem;
  const Trait trait = trait_of(*n.insn.source->form.row);
  const bool at_barrier = trait == Trait::Arrives || trait == Trait::CopiesArrive;
  const bool writes = n.act != Act::Read && trait != Trait::Waits, reads = n.act != Act::Write && !at_barrier;
  Lanes* lanes = n.state.lanes.get();
  if (writes && releases(sem)) {
    fence(n.warp, n.strength, n.access.mask);
    lanes = n.state.lanes.get();
  }
  if (at_barrier) n.state.moves_on();
  note_flags(n);
  note_lock(n);
  lanes = n.state.lanes.get();
  const auto warp = static_cast<uint16_t>(n.warp.index);
  for (uint32_t left = n.access.mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const uint64_t address = n.access.address[l];
    BlockWatch& home = n.shared && n.home ? *n.home : *this;
    const uint64_t where = n.shared ? address % vm::kClusterStride : address;
    const uint64_t on_device = where ^ static_cast<uint64_t>(c_.order.device_of(l_.op) + 1) << 48;  // what does not reach other devices
    const uint64_t of_block = n.shared ? where : where ^ (uint64_t(1) << 63);  // a key apart from shared offsets
    constexpr uint64_t kGridBarrier = 4;  // in the workspace
    const bool of_grid = !n.shared && block_.grid->workspace && address == block_.grid->workspace + kGridBarrier;
    const EventId completed = n.shared && n.insn.source->form.row->kind == isa::Kind::Async ? home.completed_at(where) : 0;
    if (const EventId when = of_grid ? comes_to_grid(n) : trait == Trait::Waits ? completed : reads ? c_.log.next() : 0) {
      auto come = [&](std::unordered_map<uint64_t, Meeting>& map, uint64_t key) {
        if (map.empty()) return;
        auto it = map.find(key);
        if (it != map.end()) add(n.state.extra().came[l], {&it->second, when});
      };
      if (!n.shared) come(*l_.meetings, where), come(*l_.meetings, on_device);
      come(home.meetings_, of_block);
      lanes = n.state.lanes.get();
    }
    if (!writes) continue;
    const CameList none;
    const CameList& came = lanes ? lanes->came[l] : none;
    std::shared_ptr<const Snapshot> left_there;
    if (at_barrier && sem != Sem::Relaxed) left_there = snapshot(n.state, warp, Strength::Cta, came);
    else if (lanes && lanes->fence[l]) left_there = lanes->fence[l];
    std::shared_ptr<Snapshot> without_fence;
    if (n.act == Act::Write && !n.shared && (!left_there || !came.empty() || !came_.empty())) {
      without_fence = std::make_shared<Snapshot>(*snapshot(n.state, warp, n.strength, came));
      without_fence->reads_only = true;
      n.state.moves_on();  // what comes behind the store has not been left there
    }
    const auto leave = [&](const std::shared_ptr<const Snapshot>& what, uint32_t by) {
      if (!what) return;
      const bool everywhere = !n.shared && what->scope != Strength::Cta && n.strength != Strength::Cta;
      const bool other_devices = what->scope == Strength::Sys && n.strength == Strength::Sys;
      Meeting& meeting = everywhere ? (*l_.meetings)[other_devices ? where : on_device] : home.meetings_[of_block];
      left_elsewhere_ = left_elsewhere_ || everywhere || &home != this;
      meeting.leave({what, by, c_.log.tick()});
    };
    leave(left_there, 1u << l);
    leave(without_fence, 1u << l);
    // What others handed on at a barrier is part of one's own fence, if that came later.
    const auto pass_on = [&](const std::shared_ptr<const Snapshot>& handed) {
      const bool covered =
          handed && lanes && lanes->fence[l] && lanes->fence[l]->when > handed->when && lanes->fence[l]->scope >= handed->scope;
      if (!covered) leave(handed, 0);
    };
    if (lanes) pass_on(lanes->handed[l]), pass_on(lanes->handed_in_block[l]);
    pass_on(handed_);
    const auto& grid = l_.launch->grid;
    if (of_grid && l_.arrived_at_grid == (l_.grid_rounds.size() + 1) * grid[0] * grid[1] * grid[2]) l_.grid_rounds.push_back(c_.log.tick());
  }
}

// --- accesses ----------------------------------------------------------------------------------------------------

// The event of an instruction: the warp's last one, if nothing has been synchronised since and the same lanes are there.
EventId BlockWatch::event_of(uint32_t warp, uint32_t place, uint32_t active) {
  WarpState& s = warps_[warp];
  const uint32_t number = place / vm::kTogether, own = l_.places.groups();
  if (number >= own && s.elsewhere.size() <= number - own) s.elsewhere.resize(number - own + 1);
  vm::WatchedGroup& g = number < own ? groups_[warp * own + number] : s.elsewhere[number - own];
  if (const uint64_t key = s.key(active); g.key != key) {
    vm::WatchedBurst& b = c_.log.begin();
    b.op = l_.op;
    b.block = linear_;
    b.mask = active;
    b.warp = warp;
    for (uint32_t k = 0; k < vm::kTogether; ++k) b.who[k] = std::bit_cast<uint32_t>(l_.who_at(number * vm::kTogether + k));
    g.first = b.first;
    g.key = key;
  }
  return g.first + place % vm::kTogether;
}

void BlockWatch::note_event(Now& n) {
  LaunchInfo::Known& k = l_.known_of(n.insn);
  if (!k.site) k.site = c_.sites.number(n.insn, n.warp);
  n.site = k.site;
  n.region = k.regions == c_.regions.version() ? k.region : nullptr;
  const isa::Row& row = *n.insn.source->form.row;
  const uint32_t place = k.place + (n.act == Act::Write && !vm::loads_or_stores(n.insn));
  n.id = event_of(n.warp.index, place, n.warp.active);
  if (l_.who_at(place).site) return;
  Who who = who_of(n.insn, n.act, k.site);
  const Trait trait = trait_of(row);
  who.is_copy = n.access.async && ((row.kind == isa::Kind::Async && trait == Trait::None) ||
                                   (trait == Trait::BulkStore && n.act == Act::Read) || c_.sites[k.site].product);
  if (who.is_copy) {
    copies_ = true;
    words_.era = words_.own_era = ~uint64_t{0};
  }
  c_.log.name(n.id, who);
}

void BlockWatch::access(vm::Warp& w, const vm::Insn& i, const vm::Access& a) {
  if (a.space == Space::ParamFunc || a.space == Space::ParamEntry) return;
  const auto lock = hold();
  Now n = now(w, i, a);
  look_at(n);
}

void BlockWatch::look_at(Now& n) {
  n.state.accesses(n.insn, n.access.mask);
  switch (n.access.space) {
    case Space::Local: return local_access(n);
    case Space::Shared:
    case Space::SharedCluster:
      n.shared = true;
      note_event(n);
      return shared_access(n);
    default: note_event(n); return global_access(n);
  }
}

std::string BlockWatch::thread_text(const vm::Warp& w, int lane) const {
  const auto& t = w.tid[lane];
  const auto& b = block_.index;
  return fmt::format("by thread ({},{},{}) in block ({},{},{})", t[0], t[1], t[2], b[0], b[1], b[2]);
}

}  // namespace warpbeam::observe::check
