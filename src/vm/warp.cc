#include "vm/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vm/grid.h"

namespace warpbeam::vm {

namespace {

constexpr uint32_t kMaxCallDepth = 24 * 1024;
constexpr uint64_t kMaxFrameBytes = 256u << 20;  // registers of all calls a warp is in
constexpr uint32_t kSpinsBeforeOthers = 16;    // within the warp
constexpr uint32_t kLeastSpins = kSpinsBeforeOthers;  // before it yields; when that was in vain, half as many the next time, down to these
constexpr uint32_t kSliceLabels = 64;  // how long the others go first

}  // namespace

// --- running -----------------------------------------------------------------------------------------------------

StopReason Warp::run() {
  stop = StopReason::None;
  polled = false;
  interpreted = true;
  if (active == 0 && !pick()) return live ? StopReason::Waiting : StopReason::Finished;
  if (block->observer) run_observed();
  else run_alone();
  if (stop != StopReason::Spinning) patience = kSpinsBeforeYield;
  return stop;
}

void Warp::run_alone() {
  do {
    const Insn& i = *ip++;
    uint32_t mask = active;
    if (i.guard >= 0) {
      const uint32_t p = pred(i.guard);
      mask &= i.guard_negated ? ~p : p;
      if (mask == 0) continue;
    }
    i.fn(*this, i, mask);
  } while (stop == StopReason::None);
}

namespace {

// Do the threads go different ways? `mask`: of a branch the lanes that jump.
bool parts(Warp& w, const Insn& i, uint32_t mask, uint32_t here) {
  if (i.target != kNoTarget) return mask != here && mask != 0;
  if (i.step != Step::BranchTable) return false;
  const uint32_t* choice = w.lanes<uint32_t>(i.op[0]);
  for (uint32_t left = mask; left; left &= left - 1)
    if (choice[std::countr_zero(left)] != choice[std::countr_zero(mask)]) return true;
  return false;
}

bool gives_way_before(Warp& w, const Insn& i, uint32_t mask) {
  if (i.watched != Watched::Memory) return false;
  const isa::Class cls = i.source->form.row->cls;
  const isa::Space space = i.mods().space;
  const bool global = space == isa::Space::Global || space == isa::Space::Generic;
  if (i.source->form.row->kind == isa::Kind::Atomic) return global && w.give_way_to_atomic(i, mask);
  if (cls == isa::Class::Load) return global && w.give_way_to_load(i);
  return cls == isa::Class::Store && (global || space == isa::Space::Shared) && w.give_way_to_store(i, mask, space == isa::Space::Shared);
}

}  // namespace

void Warp::run_observed() {
  constexpr uint64_t kSeldom = 4096;  // instructions
  BlockObserver& observer = *block->observer;
  const auto tell = [&](const Insn& i, uint32_t mask, uint32_t here) {
    if (observer.counts) {
      if (frame->function != observer.counted_function) observer.enter(*frame->function);
      Executions& e = observer.counted[&i - observer.counted_function->insns.data()];
      ++e.warps;
      e.threads += static_cast<uint64_t>(std::popcount(here));
      e.threads_on += static_cast<uint64_t>(std::popcount(mask));
      e.parted += parts(*this, i, mask, here);
    }
    if (++executed % kSeldom == 0) observer.still_running(*this, i, mask, executed);
    if (observer.every_instruction || (i.watched == Watched::Notable && observer.notable)) observer.instruction(*this, i, mask, here);
  };
  do {
    const Insn& i = *ip++;
    const uint32_t here = active;
    uint32_t mask = here;
    if (i.guard >= 0) {
      const uint32_t p = pred(i.guard);
      mask &= i.guard_negated ? ~p : p;
    }
    if (mask && gives_way_before(*this, i, mask)) break;  // and nobody is told of it twice
    if (i.watched != Watched::Extra && (i.watched != Watched::WarpSync || mask == 0)) {
      tell(i, mask, here);
      if (i.watched == Watched::Memory && mask) {
        const Alone alone(observer);
        report_accesses(*this, i, mask);
        i.fn(*this, i, mask);
        continue;
      }
    }
    if (mask == 0) continue;
    if (i.watched != Watched::WarpSync) {
      i.fn(*this, i, mask);
      continue;
    }
    const NamedMembers members = named_members(*this, i);
    met = true;
    i.fn(*this, i, mask);
    if (!met) continue;
    tell(i, active, active | (here & ~mask));
    report_meeting(*this, i, active, members);
  } while (stop == StopReason::None);
}

bool Warp::before(const Frame* fa, const Insn* a, const Frame* fb, const Insn* b) {
  if (fa->depth != fb->depth) return fa->depth > fb->depth;
  if (fa->function != fb->function) return fa->function->index < fb->function->index;
  return a < b;
}

void Warp::run_group(size_t k) {
  const Group g = groups[k];
  groups.erase(groups.begin() + static_cast<ptrdiff_t>(k));
  active = g.mask;
  ip = g.ip;
  frame = g.frame;
  regs = frame->regs;
  released = g.released;
  // Those that are ready at the same place come along.
  for (size_t n = 0; n < groups.size();) {
    if (groups[n].state == GroupState::Ready && groups[n].frame == frame && groups[n].ip == ip) {
      active |= groups[n].mask;
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(n));
    } else {
      ++n;
    }
  }
}

bool Warp::has_ready() const {
  if (active) return true;
  for (const Group& g : groups)
    if (g.state == GroupState::Ready) return true;
  return false;
}

bool Warp::pick() {
  for (bool allow_behind : {false, true}) {
    size_t best = groups.size();
    for (size_t k = 0; k < groups.size(); ++k) {
      const Group& g = groups[k];
      if (g.state != GroupState::Ready || (g.behind && !allow_behind)) continue;
      if (best == groups.size() || before(g.frame, g.ip, groups[best].frame, groups[best].ip)) best = k;
    }
    if (best == groups.size()) continue;
    if (allow_behind)
      for (Group& g : groups) g.behind = false;
    run_group(best);
    return true;
  }
  active = 0;
  stop = live == 0 ? StopReason::Finished : StopReason::Waiting;
  return false;
}

void Warp::at_label() {
  if (slice && --slice == 0)
    for (Group& g : groups) g.behind = false;
  size_t first = groups.size();
  for (size_t k = 0; k < groups.size(); ++k) {
    const Group& g = groups[k];
    if (g.state != GroupState::Ready || g.behind) continue;
    if (g.frame == frame && (g.ip == ip || (g.ip == ip - 1 && g.ip->step == Step::Label))) {  // here, or at the label just passed
      active |= g.mask;
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(k));
      return at_label();
    }
    if (before(g.frame, g.ip, frame, ip) && (first == groups.size() || before(g.frame, g.ip, groups[first].frame, groups[first].ip)))
      first = k;
  }
  if (first == groups.size()) return;
  put_aside(active, ip, frame).released = released;
  run_group(first);
}

Group& Warp::put_aside(uint32_t mask, const Insn* where, Frame* in) {
  Group& g = groups.emplace_back();
  g.mask = mask;
  g.ip = where;
  g.frame = in;
  return g;
}

void Warp::split(uint32_t leaving, const Insn* where) {
  if (!leaving) return;
  put_aside(leaving, where, frame);
  active &= ~leaving;
}

void Warp::branch(const Insn& i, uint32_t taken) {
  const Insn* there = &frame->function->insns[i.target];
  if (there < ip) {  // the side that is further behind runs first
    split(active & ~taken, ip);
    ip = there;
  } else {
    split(taken, there);
  }
}

void Warp::exit_lanes(uint32_t mask) {
  live &= ~mask;
  active &= ~mask;
  block->live_threads -= static_cast<uint32_t>(__builtin_popcount(mask));
  for (Frame* f = frame; f;) {
    Frame* caller = f->caller;
    leave_frame(f, mask);
    f = caller;
  }
  for (uint8_t b = 0; b < block->barriers.size(); ++b)
    if (block->barriers[b].in_use) block->check_barrier(b);
  cluster_arrived &= live;
  cluster_passed &= live;
  if (block->leader->members.size() > 1 || cluster_arrived) block->leader->check_cluster_barrier();
  if (!active) pick();
}

// From place to place in the local memory of each lane.
void Warp::move_local(uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes) {
  std::byte* const first = local(0);
  const size_t stride = local_stride;
  const auto move = [&](auto known) {
    if (mask == ~0u) {
      for (size_t l = 0; l < kWarpSize; ++l) std::memcpy(first + l * stride + to, first + l * stride + from, known);
      return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
      std::byte* lane = first + static_cast<size_t>(__builtin_ctz(left)) * stride;
      std::memcpy(lane + to, lane + from, known);
    }
  };
  if (bytes == 4) move(std::integral_constant<size_t, 4>());
  else if (bytes == 8) move(std::integral_constant<size_t, 8>());
  else move(size_t{bytes});
}

void Warp::call(const Insn& i, const FunctionCode& callee, const CallSite& site, uint32_t mask) {
  if (mask != active) split(active & ~mask, ip);
  Frame* f = take_frame(callee);
  f->caller = frame;
  f->return_to = ip;
  f->site = &site;
  f->depth = frame->depth + site.depth + 1;
  f->local_base = frame->local_base + frame->function->local_bytes + site.below;
  f->lanes = mask;
  f->function = &callee;
  frame_bytes_ += callee.frame_bytes;
  if (f->local_base + callee.local_bytes > lowest_top || f->depth > kMaxCallDepth || frame_bytes_ > kMaxFrameBytes) {
    const int lane = __builtin_ctz(mask);
    trap(TrapKind::StackOverflow, i, lane, fmt::format("stack overflow in a call of {}", callee.display_name), 0,
         fmt::format("calls are {} deep and the stack has {} bytes per thread; cudaDeviceSetLimit(cudaLimitStackSize, …) gives more",
                     f->depth, block->launch->stack_limit));
  }
  for (size_t k = 0; k < site.args.size() && k < callee.params.size(); ++k) {
    const uint32_t from = frame->local_base + site.args[k].offset, to = f->local_base + callee.params[k].offset;
    const uint32_t bytes = std::min(site.args[k].size, callee.params[k].size);
    move_local(mask, to, from, bytes);
  }
  if (callee.allocates) f->stack_tops = stack_tops;
  prepare_frame(*f, callee);
  frame = f;
  regs = f->regs;
  ip = callee.insns.data();
}

void Warp::ret(uint32_t mask) {
  if (!frame->caller) return exit_lanes(mask);
  Frame* callee = frame;
  Frame* caller = callee->caller;
  const CallSite& site = *callee->site;
  for (size_t k = 0; k < site.returns.size() && k < callee->function->returns.size(); ++k) {
    const LocalPart& from = callee->function->returns[k];
    const uint32_t to = caller->local_base + site.returns[k].offset;
    move_local(mask, to, callee->local_base + from.offset, std::min(from.size, site.returns[k].size));
  }
  if (callee->function->allocates) {
    for (uint32_t left = mask; left; left &= left - 1) stack_tops[__builtin_ctz(left)] = callee->stack_tops[__builtin_ctz(left)];
    lowest_top = *std::min_element(stack_tops.begin(), stack_tops.end());
  }
  const Insn* back = callee->return_to;
  const bool all = mask == active;
  if (!all) {
    put_aside(mask, back, caller);
    active &= ~mask;
    leave_frame(callee, mask);
    return;
  }
  leave_frame(callee, mask);
  frame = caller;
  regs = caller->regs;
  ip = back;
  if (!groups.empty()) at_label();
}

// --- waiting -----------------------------------------------------------------------------------------------------

void Warp::park(GroupState state, const Insn& i, const Insn* next) {
  Group& g = put_aside(active, next, frame);
  g.state = state;
  g.waiting = &i;
  active = 0;
}

// What it has spun still counts: the only warp that is left of a block comes past every barrier at once, and would never
// give way to the block that it waits for.
void Warp::wait_at_barrier(const Insn& i, uint8_t barrier) {
  park(GroupState::AtBarrier, i, ip);
  groups.back().barrier = barrier;
  block->check_barrier(barrier);
  pick();
}

void Warp::begin_turns() {
  read_shared = read_global = changed_global = false;
  turns = 0;
}

bool Warp::give_way_to_others(const Insn& i) {
  constexpr uint32_t kMostTurns = 4096;
  read_global = changed_global = false;
  // The checker sees more kinds of hazards where each warp runs on to the next barrier.
  if (!interpreted || turns > kMostTurns || (block->observer && block->launch->observer->one_block_at_a_time())) return false;
  ++turns;
  // Those that are behind, and those of a lower number: of several warps that store to one place the last one's value stays.
  bool first = true;
  for (const auto& w : block->warps)
    first = first && (w.get() == this || w->turns > turns || (w->turns == turns && w->index > index) || !w->live || !w->has_ready());
  if (first) return false;
  ip = &i;  // once more
  stop = StopReason::GaveWay;
  return true;
}

void Warp::wait_for_cluster(const Insn& i) {
  park(GroupState::AtCluster, i, ip);
  spins = 0;
  pick();
}

void Warp::release_cluster() {
  cluster_passed |= cluster_arrived;
  cluster_arrived = 0;
  for (Group& g : groups) {
    if (g.state != GroupState::AtCluster) continue;
    g.state = GroupState::Ready;
    cluster_passed &= ~g.mask;
  }
}

void Warp::wait_for_children(const Insn& i) {
  park(GroupState::AtChildren, i, ip);
  spins = 0;
  block->waits_for_children = true;
  pick();
}

uint32_t Warp::waiting_at(uint8_t barrier) const {
  uint32_t mask = 0;
  for (const Group& g : groups)
    if (g.state == GroupState::AtBarrier && g.barrier == barrier) mask |= g.mask;
  return mask;
}

void Warp::release_barrier(uint8_t barrier) {
  begin_turns();
  const Barrier& b = block->barriers[barrier];
  for (Group& g : groups) {
    if (g.state != GroupState::AtBarrier || g.barrier != barrier) continue;
    g.state = GroupState::Ready;
    const Insn& i = *g.waiting;
    const isa::Row& row = *i.source->form.row;
    if (!i.source->form.mods.red) continue;
    std::byte* r = g.frame->regs;
    if (row.operands.list[0].fixed == isa::Type::Pred) {
      const bool v = i.source->form.mods.boolop == isa::BoolOp::And ? b.all : b.any;
      uint32_t& d = *reinterpret_cast<uint32_t*>(r + i.op[0]);
      d = v ? d | g.mask : d & ~g.mask;
    } else {
      for (int l = 0; l < kWarpSize; ++l)
        if (g.mask >> l & 1) reinterpret_cast<uint32_t*>(r + i.op[0])[l] = b.popc;
    }
  }
  // Groups that waited at the same place go on together.
  for (size_t k = 0; k < groups.size(); ++k)
    for (size_t n = k + 1; n < groups.size();)
      if (groups[k].state == GroupState::Ready && groups[n].state == GroupState::Ready && groups[k].ip == groups[n].ip &&
          groups[k].frame == groups[n].frame) {
        groups[k].mask |= groups[n].mask;
        groups.erase(groups.begin() + static_cast<ptrdiff_t>(n));
      } else {
        ++n;
      }
}

bool Warp::gather(const Insn& i, uint32_t membermask) {
  if (released) {
    released = false;
    return true;
  }
  const uint32_t needed = membermask & live;
  if ((needed & ~active) == 0) [[likely]]
    return true;
  // Those who wait at this very instruction join in.
  for (size_t k = 0; k < groups.size();) {
    Group& g = groups[k];
    if (g.state == GroupState::AtWarpSync && g.frame == frame && g.waiting == &i) {
      active |= g.mask;
      groups.erase(groups.begin() + static_cast<ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
  if ((needed & ~active) == 0) return true;
  met = false;
  park(GroupState::AtWarpSync, i, &i);
  groups.back().wait_mask = membermask;
  pick();
  return false;
}

bool Warp::release_warp_sync() {
  size_t best = groups.size();
  for (size_t k = 0; k < groups.size(); ++k)
    if (groups[k].state == GroupState::AtWarpSync &&
        (best == groups.size() || before(groups[k].frame, groups[k].ip, groups[best].frame, groups[best].ip)))
      best = k;
  if (best == groups.size()) return false;
  groups[best].state = GroupState::Ready;
  groups[best].released = true;
  if (block->observer) block->observer->warp_sync_abandoned(*this, *groups[best].waiting, groups[best].wait_mask, groups[best].mask);
  return true;
}

void Warp::spin(uint32_t weight) {
  polled = true;
  wait_inside(weight);
}

void Warp::wait_inside(uint32_t weight) {
  const uint32_t turn = spins / kSpinsBeforeOthers;
  spins += weight;
  if (spins / kSpinsBeforeOthers != turn && !groups.empty()) {
    bool others = false;
    for (const Group& g : groups) others = others || (g.state == GroupState::Ready && !g.behind);
    if (others) {
      put_aside(active, ip, frame).behind = true;
      active = 0;
      slice = kSliceLabels;
      pick();
      return;
    }
  }
  if (spins >= patience) {
    spins = 0;
    patience = std::max(patience / 2, kLeastSpins);
    stop = StopReason::Spinning;
  }
}

}  // namespace warpbeam::vm
