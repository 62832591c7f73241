#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vm/grid.h"
#include "vm/rows.h"

namespace warpbeam::vm {

namespace {

// Rounds in which the threads of a block or cluster only looked at its own barriers and nothing changed. A loop that gives up
// after so many tries is not taken for a deadlock.
constexpr uint32_t kIdleRounds = 3000000, kWatchedRounds = 20000;  // a watched round costs more

// Rounds of a block's warps from barrier to barrier in which they looked for what other blocks do. After so many without a
// change, and after so many at all, the other blocks get their turn.
constexpr uint32_t kIdleMeetings = 16, kMeetings = 4096;

}  // namespace

void Block::begin_unit(GridState& g, uint64_t unit) {
  const auto& cluster = g.launch.cluster;
  const auto& dim = g.launch.grid;
  const uint32_t size = cluster[0] * cluster[1] * cluster[2];
  members.assign(1, this);
  while (peers.size() + 1 < size) peers.push_back(std::make_unique<Block>());
  peers.resize(size - 1);
  for (auto& peer : peers) {
    peer->leader = this;
    members.push_back(peer.get());
  }
  idle_rounds = 0;
  const uint64_t across = dim[0] / cluster[0], down = dim[1] / cluster[1];
  const std::array<uint64_t, 3> first{unit % across * cluster[0], unit / across % down * cluster[1], unit / across / down * cluster[2]};
  for (uint32_t rank = 0; rank < size; ++rank) {
    Block& b = *members[rank];
    b.cluster_rank = rank;
    b.cluster_index = {rank % cluster[0], rank / cluster[0] % cluster[1], rank / cluster[0] / cluster[1]};
    const uint64_t x = first[0] + b.cluster_index[0], y = first[1] + b.cluster_index[1], z = first[2] + b.cluster_index[2];
    b.begin(g, x + dim[0] * (y + dim[1] * z));
  }
}

void Block::start_unit() {
  for (Block* b : members) b->start();
}

void Block::begin(GridState& g, uint64_t block_index) {
  const bool fresh = grid != &g;
  grid = &g;
  launch = &g.launch;
  code = g.code;
  linear = block_index;
  const auto& dim = launch->grid;
  index = {static_cast<uint32_t>(block_index % dim[0]), static_cast<uint32_t>(block_index / dim[0] % dim[1]),
           static_cast<uint32_t>(block_index / dim[0] / dim[1])};
  threads = launch->block[0] * launch->block[1] * launch->block[2];
  live_threads = threads;
  fresh_warps = fresh_warps || row;
  row = 0;
  smid = static_cast<uint32_t>(block_index % std::max(1u, launch->sm_count));
  params_address = g.params_address;
  shared_bytes = code->static_shared + launch->dynamic_shared;
  if (fresh || shared.size() < shared_bytes) shared.assign(shared_bytes + kSharedSlack, std::byte{0});
  barriers.fill({});
  printed.clear();
  children.reset();
  waits_for_children = false;
  const uint64_t epoch = launch->memory->epoch();
  if (fresh || epoch != ranges_epoch) {
    ranges.fill({});
    ranges_epoch = epoch;
  }
  fresh_warps = fresh_warps || fresh;
  prepared_for = ~uint64_t(0);
}

void Block::have_warps() {
  const uint32_t n = warps_wanted();
  while (warps.size() < n) warps.push_back(std::make_unique<Warp>());
  if (warps.size() > n) warps.resize(n);
}

void Block::take_local_memory() {
  have_warps();
  for (auto& w : warps) w->take_local_memory(*this, true);
}

void Block::start() {
  have_warps();
  for (uint32_t w = 0; w < warps.size(); ++w) warps[w]->start(*this, w, fresh_warps);
  fresh_warps = false;
  if (!observer) begin_watch();
}

void Block::begin_watch() { observer = launch->observer ? launch->observer->begin_block(*this) : nullptr; }

void Block::end_watch() {
  if (observer) launch->observer->end_block(*this, std::move(observer));
  for (auto& peer : peers) peer->end_watch();
}

void Block::become_next() {
  if (!printed.empty()) {
    std::lock_guard lock(grid->mutex);
    grid->printed[linear] += std::move(printed);
    printed.clear();
  }
  ++linear;
  if (++smid >= launch->sm_count) smid = 0;
  if (++index[0] < launch->grid[0]) return;
  index[0] = 0;
  if (++index[1] < launch->grid[1]) return;
  index[1] = 0;
  ++index[2];
}

void Block::prepare_warps() {
  if (prepared_for == linear) return;
  start();
  prepared_for = linear;
}

uint64_t Block::footprint() const {
  uint64_t bytes = sizeof *this + shared.size();
  for (auto& w : warps) bytes += w->footprint();
  for (auto& peer : peers) bytes += peer->footprint();
  return bytes;
}

BlockStatus Block::advance(bool& polled) {
  uint32_t meetings = 0, idle_meetings = 0;
  uint64_t seen = progress;
  for (;;) {
    bool ran = false, progressed = false, looked = false;
    if (waits_for_children) release_if_children_done(*this);
    for (auto& w : warps) {
      if (w->live == 0 || !w->has_ready()) continue;
      ran = true;
      if (w->run() != StopReason::Spinning) progressed = true;
      looked = looked || w->polled;
    }
    polled = polled || looked;
    if (live_threads == 0) return BlockStatus::Done;
    if (progressed) {
      // A loop that waits for another block and has a barrier in it comes to the barrier before it has spun for long.
      idle_meetings = looked && progress == seen ? idle_meetings + 1 : 0;
      meetings += looked;
      seen = progress;
      if (idle_meetings >= kIdleMeetings || meetings >= kMeetings) return BlockStatus::Yielded;
      continue;
    }
    if (ran) return BlockStatus::Yielded;  // every warp that could run only spun
    // Nothing can run.
    if (waits_for_children) return BlockStatus::AwaitsChildren;
    // Lanes that wait for lanes of their warp which will not come are let go first.
    bool released = false;
    for (auto& w : warps) released = w->release_warp_sync() || released;
    if (!released) return BlockStatus::Blocked;
  }
}

BlockStatus Block::run() {
  if (members.empty()) members.assign(1, this);  // handed over by a compiled kernel
  for (;;) {
    bool polled = false, spun = false, awaits = false, done = true;
    uint64_t before = 0, after = 0;
    uint32_t live = 0, left = 0;
    for (Block* b : members) {
      before += b->progress;
      live += b->live_threads;
    }
    for (Block* b : members) {
      if (b->live_threads == 0) continue;
      const BlockStatus status = b->advance(polled);
      done = done && status == BlockStatus::Done;
      spun = spun || status == BlockStatus::Yielded;
      awaits = awaits || status == BlockStatus::AwaitsChildren;
    }
    if (done) return BlockStatus::Done;
    for (Block* b : members) {
      after += b->progress;
      left += b->live_threads;
    }
    const bool changed = before != after || live != left;
    if (!spun) {  // all of them wait at barriers: of the cluster, one's arrival may just have let others go
      if (changed && members.size() > 1) continue;
      if (awaits) return BlockStatus::AwaitsChildren;
      deadlock(members.size() == 1 ? "deadlock: every live thread of the block waits at a barrier that cannot complete"
                                   : "deadlock: every live thread of the cluster waits at a barrier that cannot complete");
    }
    if (polled || awaits) {
      idle_rounds = 0;
      if (changed) ++progress;  // the leader speaks for the cluster
      return BlockStatus::Yielded;
    }
    // They wait for barriers in their own shared memory, which nobody else can complete.
    idle_rounds = changed ? 0 : idle_rounds + 1;
    if (idle_rounds > (observer ? kWatchedRounds : kIdleRounds))
      deadlock("deadlock: every live thread waits for an mbarrier or a barrier that nothing will complete");
    if (grid->failed) return BlockStatus::Yielded;
  }
}

void Block::deadlock(const std::string& message) {
  Trap t;
  t.kind = TrapKind::Deadlock;
  t.message = message;
  t.kernel = code->function->display_name;
  bool named = false;
  for (Block* b : members) {
    if (b->live_threads == 0) continue;
    if (b->observer) b->observer->deadlock(*b);
    const std::string waiting = b->who_waits();
    if (!waiting.empty()) {
      if (!t.detail.empty()) t.detail += "\n";
      if (members.size() > 1) t.detail += fmt::format("block ({},{},{}): ", b->index[0], b->index[1], b->index[2]);
      t.detail += waiting;
    }
    for (auto& w : b->warps) {
      if (named || !w->live || (w->groups.empty() && !w->active)) continue;
      named = true;
      t.block = b->index;
      if (w->active) {
        t.thread = w->tid[__builtin_ctz(w->active)];
        t.location = Warp::location(*w->ip, *w->frame->function);
      } else {
        const Group& g = w->groups.front();
        t.thread = w->tid[__builtin_ctz(g.mask)];
        t.location = Warp::location(g.waiting ? *g.waiting : *g.ip, *g.frame->function);
      }
    }
  }
  throw TrapException{std::move(t)};
}

void Block::check_cluster_barrier() {
  bool anybody = false;
  for (const Block* b : members)
    for (const auto& w : b->warps) {
      if (w->live & ~w->cluster_arrived) return;
      anybody = anybody || w->live;
    }
  if (!anybody) return;
  for (Block* b : members) {
    for (auto& w : b->warps) w->release_cluster();
    ++b->progress;
  }
  if (leader->observer) leader->observer->cluster_complete(*leader);
}

void Block::check_barrier(uint8_t b) {
  Barrier& barrier = barriers[b];
  if (!barrier.in_use) return;
  uint32_t arrived = barrier.arrived_without_waiting;
  for (auto& w : warps) {
    const uint32_t waiting = w->waiting_at(b);
    if (!waiting) continue;
    // A warp whose live lanes are all here counts in full, whatever its block shape or early exits lack.
    arrived += barrier.expected && waiting == w->live ? kWarpSize : static_cast<uint32_t>(__builtin_popcount(waiting));
  }
  const uint32_t expected = barrier.expected ? barrier.expected : live_threads;
  if (arrived < expected || arrived == 0) return;
  if (observer) observer->barrier_complete(*this, b);
  for (auto& w : warps) w->release_barrier(b);
  barrier = {};
}

// Of what was inlined also where it was called, as far as the program tells.
static std::string place_of(const Insn& i, const FunctionCode& f) {
  std::string text = Warp::location(i, f), called;
  for (const Warp::Inlined& call : Warp::inlined(i, f))
    if (call.called_at != text) called += fmt::format("{}{}", called.empty() ? " (called in " : ", ", call.called_at);
  return called.empty() ? text : text + called + ")";
}

std::string Block::who_waits() const {
  std::string text;
  int lines = 0;
  for (auto& w : warps) {
    if (w->active && lines++ < 8) {
      const auto& t = w->tid[__builtin_ctz(w->active)];
      text += fmt::format("{}{} thread{} of warp {} (first: thread ({},{},{})) spin at {}", text.empty() ? "" : "\n  ",
                          __builtin_popcount(w->active), __builtin_popcount(w->active) == 1 ? "" : "s", w->index, t[0], t[1], t[2],
                          place_of(*w->ip, *w->frame->function));
    }
    for (const Group& g : w->groups) {
      if (g.state == GroupState::Ready) continue;
      if (lines++ == 8) return text + "\n  …";
      const int lane = __builtin_ctz(g.mask);
      const auto& t = w->tid[lane];
      text += fmt::format("{}{} thread{} of warp {} (first: thread ({},{},{})) wait at {}", text.empty() ? "" : "\n  ",
                          __builtin_popcount(g.mask), __builtin_popcount(g.mask) == 1 ? "" : "s", w->index, t[0], t[1], t[2],
                          place_of(*g.waiting, *g.frame->function));
      if (g.state == GroupState::AtCluster) text += " for the cluster's barrier";
      if (g.state == GroupState::AtBarrier) {
        const uint32_t expected = barriers[g.barrier].expected ? barriers[g.barrier].expected : live_threads;
        text += fmt::format(" for barrier {} of {} threads", g.barrier, expected);
      }
    }
  }
  return text;
}

}  // namespace warpbeam::vm
