#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vm/grid.h"

namespace warpbeam::vm {

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
  smid = static_cast<uint32_t>(block_index % std::max(1u, launch->sm_count));
  params_address = g.params_address;
  shared_bytes = code->static_shared + launch->dynamic_shared;
  if (fresh || shared.size() < shared_bytes) shared.assign(shared_bytes + 64, std::byte{0});
  barriers.fill({});
  printed.clear();
  const uint64_t epoch = launch->memory->epoch();
  if (fresh || epoch != ranges_epoch) {
    ranges.fill({});
    ranges_epoch = epoch;
  }
  fresh_warps = fresh_warps || fresh;
  prepared_for = ~uint64_t(0);
}

void Block::start() {
  const uint32_t n = (threads + kWarpSize - 1) / kWarpSize;
  while (warps.size() < n) warps.push_back(std::make_unique<Warp>());
  if (warps.size() > n) warps.resize(n);
  for (uint32_t w = 0; w < n; ++w) warps[w]->start(*this, w, fresh_warps);
  fresh_warps = false;
  observer = launch->observer ? launch->observer->begin_block(*this) : nullptr;
}

void Block::prepare_warps() {
  if (prepared_for == linear) return;
  start();
  prepared_for = linear;
}

uint64_t Block::footprint() const {
  uint64_t bytes = sizeof *this + shared.size();
  for (auto& w : warps) bytes += w->footprint();
  return bytes;
}

BlockStatus Block::run() {
  for (;;) {
    bool ran = false, progressed = false;
    for (auto& w : warps) {
      if (w->live == 0 || !w->has_ready()) continue;
      ran = true;
      if (w->run() != StopReason::Spinning) progressed = true;
    }
    if (live_threads == 0) return BlockStatus::Done;
    if (progressed) continue;
    if (ran) return BlockStatus::Yielded;  // every warp that could run only spun
    // Nothing can run. Lanes that wait for lanes of their warp which will not come are let go first.
    bool released = false;
    for (auto& w : warps) released = w->release_warp_sync() || released;
    if (released) continue;
    if (observer) observer->deadlock(*this);
    Trap t;
    t.kind = TrapKind::Deadlock;
    t.message = "deadlock: every live thread of the block waits at a barrier that cannot complete";
    t.kernel = code->function->display_name;
    t.block = index;
    t.detail = who_waits();
    for (auto& w : warps)
      if (w->live && !w->groups.empty()) {
        const Group& g = w->groups.front();
        t.thread = w->tid[__builtin_ctz(g.mask)];
        t.location = Warp::location(*g.waiting, *g.frame->function);
        break;
      }
    throw TrapException{std::move(t)};
  }
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

std::string Block::who_waits() const {
  std::string text;
  int lines = 0;
  for (auto& w : warps) {
    if (w->active && lines++ < 8) {
      const auto& t = w->tid[__builtin_ctz(w->active)];
      text += fmt::format("{}{} thread{} of warp {} (first: thread ({},{},{})) spin at {}", text.empty() ? "" : "\n  ", __builtin_popcount(w->active),
                          __builtin_popcount(w->active) == 1 ? "" : "s", w->index, t[0], t[1], t[2], Warp::location(*w->ip, *w->frame->function));
    }
    for (const Group& g : w->groups) {
      if (g.state == GroupState::Ready) continue;
      if (lines++ == 8) return text + "\n  …";
      const int lane = __builtin_ctz(g.mask);
      const auto& t = w->tid[lane];
      text += fmt::format("{}{} thread{} of warp {} (first: thread ({},{},{})) wait at {}", text.empty() ? "" : "\n  ", __builtin_popcount(g.mask),
                          __builtin_popcount(g.mask) == 1 ? "" : "s", w->index, t[0], t[1], t[2], Warp::location(*g.waiting, *g.frame->function));
      if (g.state == GroupState::AtBarrier) {
        const uint32_t expected = barriers[g.barrier].expected ? barriers[g.barrier].expected : live_threads;
        text += fmt::format(" for barrier {} of {} threads", g.barrier, expected);
      }
    }
  }
  return text;
}

}  // namespace warpbeam::vm
