#include "jit/turns.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "jit/waiting_block.h"

namespace warpbeam::jit {
namespace {

// So many looks in vain, of each warp that is left: then the interpreter goes on, which knows what to do about lanes of one
// warp that wait for each other, other blocks that have to run, and deadlocks.
constexpr uint64_t kMostLooks = 256;
constexpr uint64_t kMostRounds = 1 << 16;  // of loops that may be doing something meanwhile
constexpr uint64_t kLooksAtOnce = 32;      // before the processor is left to who may be what is waited for
constexpr uint64_t kLooksOfBlock = 4;      // before other blocks go first

uint32_t lanes_in(uint32_t mask) { return ~mask ? static_cast<uint32_t>(__builtin_popcount(mask)) : vm::kWarpSize; }

constexpr uint32_t kPatience = 256, kLeastPatience = 16;  // as in vm/warp.cc

}  // namespace

bool Turns::run(Context& context, WarpCode code) {
  context_ = &context;
  block_ = context.block;
  code_ = code;
  count_ = left_ = (block_->threads + vm::kWarpSize - 1) / vm::kWarpSize;
  handing_over_ = false;
  context.events = seen_ = looks_ = 0;
  failure_ = nullptr;
  block_->barriers.fill({});
  context.turns = this;
  for (uint32_t w = 0; w < count_; ++w) {
    warps_[w].state = State::Fresh;
    warps_[w].spins = 0;
    warps_[w].patience = kPatience;
    warps_[w].stack.begin(&Turns::begin, this);
  }
  running_ = 0;
  threads_ = block_->threads;
  waiting_.fill(0);
  warps_[0].state = State::Ready;
  Stack::change(home_, warps_[0].stack);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (!handing_over_) return true;
  place_others();
  return false;
}

// What a warp does on its stack.
void Turns::begin(void* turns) {
  Turns& t = *static_cast<Turns*>(turns);
  bool done = false;
  try {
    done = t.code_(t.context_, t.running_) != 0;
  } catch (...) {
    t.failure_ = std::current_exception();
  }
  t.leave(done ? State::Done : State::HandedOver);
}

void Turns::leave(State state) {
  One& mine = warps_[running_];
  mine.state = state;
  --left_;
  ++context_->events;
  if (state == State::Done) {
    threads_ -= lanes_in(context_->live[running_]);
    context_->live[running_] = 0;
    if (block_->prepared_for == block_->linear) block_->warps[running_]->live = 0;
    for (uint32_t id = 0; id < block_->barriers.size(); ++id)
      if (block_->barriers[id].in_use) check(id);
  }
  if (failure_ || !left_) Stack::change(mine.stack, home_);
  next(mine);
}

// The next one that can go on does, which may be the same.
void Turns::next(One& from) {
  for (;;) {
    uint32_t w = static_cast<uint32_t>(&from - warps_.data());
    for (uint32_t k = 1; k <= count_; ++k) {
      if (++w >= count_) w = 0;
      One& other = warps_[w];
      if (!can_run(other) || (handing_over_ && other.state == State::Fresh)) continue;
      running_ = w;
      other.state = State::Ready;
      if (&other != &from) Stack::change(from.stack, other.stack);
      return;
    }
    // All that are left wait at barriers, or, where the block is handed over, have yet to begin.
    if (handing_over_) Stack::change(from.stack, home_);
    handing_over_ = true;
  }
}

bool Turns::stop(State state) {
  One& mine = warps_[running_];
  mine.state = state;
  next(mine);
  return handing_over_;
}

bool Turns::give_way() { return handing_over_ || stop(State::Ready); }

bool Turns::look_again(uint32_t weight, bool busy) {
  if (handing_over_) return true;
  One& mine = warps_[running_];
  mine.spins += weight;
  if (mine.spins < mine.patience) return false;
  mine.spins = 0;
  mine.patience = std::max(mine.patience / 2, kLeastPatience);
  const uint64_t now = block_->progress + context_->events;
  looks_ = now == seen_ ? looks_ + 1 : 0;
  seen_ = now;
  if (looks_ % kLooksAtOnce == kLooksAtOnce - 1) std::this_thread::yield();
  const bool in_vain = looks_ > (busy ? kMostRounds : kMostLooks) * left_;
  if (!context_->waiting) handing_over_ = in_vain;
  else if (looks_ && looks_ % (kLooksOfBlock * left_) == 0) handing_over_ = context_->waiting->stop(mine.stack, busy && !in_vain);
  return give_way();
}

// --- barriers: as the interpreter's (vm/exec_control.cc, Block::check_barrier) ---------------------------------------

vm::Barrier& Turns::enter(uint32_t id, uint32_t count) {
  vm::Barrier& b = block_->barriers[id];
  if (!b.in_use) b = vm::Barrier{count, 0, 0, true, false, true};
  return b;
}

bool Turns::wait_at(const vm::Insn& barrier, uint32_t lanes, uint32_t id, uint32_t count, uint32_t said) {
  if (handing_over_) return true;
  const bool counted = enter(id, count).expected != 0;
  One& mine = warps_[running_];
  mine.barrier = static_cast<uint8_t>(id);
  mine.lanes = lanes;
  mine.said = said;
  mine.waiting = &barrier;
  mine.state = State::AtBarrier;
  uint32_t& live = context_->live[running_];
  if (live != lanes) {  // all that are left of the warp
    threads_ -= lanes_in(live) - lanes_in(lanes);
    live = lanes;
  }
  waiting_[id] += counted ? static_cast<uint32_t>(vm::kWarpSize) : lanes_in(lanes);
  mine.patience = kPatience;
  check(id);
  if (mine.state == State::AtBarrier) stop(State::AtBarrier);
  return mine.waiting;  // who was let go before the block was handed over is beyond the barrier
}

void Turns::arrive_at(const vm::Insn&, uint32_t lanes, uint32_t id, uint32_t count) {
  vm::Barrier& b = enter(id, count);
  // A whole warp counts with the lanes its block shape lacks.
  b.arrived_without_waiting +=
      lanes == context_->live[running_] ? static_cast<uint32_t>(vm::kWarpSize) : static_cast<uint32_t>(__builtin_popcount(lanes));
  check(id);
}

void Turns::check(uint32_t id) {
  const vm::Barrier& b = block_->barriers[id];
  const uint32_t arrived = b.arrived_without_waiting + waiting_[id];
  if (arrived && arrived >= (b.expected ? b.expected : threads_)) release(id);
}

void Turns::release(uint32_t id) {
  uint32_t popc = 0;
  bool all = true, any = false;
  const auto each = [&](auto&& visit) {
    for (uint32_t w = 0; w < count_; ++w)
      if (warps_[w].state == State::AtBarrier && warps_[w].barrier == id) visit(warps_[w]);
  };
  bool asks = false;
  each([&](One& w) {
    w.state = State::Ready;
    if (!w.waiting->mods().red) {
      w.waiting = nullptr;
      return;
    }
    asks = true;
    popc += lanes_in(w.said);
    all = all && w.said == w.lanes;
    any = any || w.said;
  });
  for (uint32_t w = 0; w < count_ && asks; ++w) {
    One& one = warps_[w];
    if (one.barrier != id || one.state != State::Ready || !one.waiting) continue;
    const isa::Mods& m = one.waiting->mods();
    one.answer = one.waiting->source->form.row->operands.list[0].fixed != isa::Type::Pred ? popc : m.boolop == isa::BoolOp::And ? all : any;
    one.waiting = nullptr;
  }
  block_->barriers[id] = {};
  waiting_[id] = 0;
  ++context_->events;
}

// --- the hand-over --------------------------------------------------------------------------------------------------

void Turns::hand_over(const Handover& h, uint32_t lanes) {
  handing_over_ = true;
  ++h.times;
  place_warp(*context_, h, running_, lanes);
}

// Warps that have ended, and those that have not begun.
void Turns::place_others() {
  wb_prepare(context_, 0);
  for (uint32_t w = 0; w < count_; ++w) {
    const State state = warps_[w].state;
    if (state == State::HandedOver) continue;
    context_->services->place_warp(*block_, w, block_->code->function->insns.data(), state == State::Done ? 0 : context_->live[w]);
  }
  context_->services->resume(*block_);
}

extern "C" uint32_t wb_look_again(Context* c, uint32_t weight) { return c->turns->look_again(weight); }
extern "C" uint32_t wb_give_way(Context* c) { return c->turns->give_way(); }
extern "C" uint32_t wb_wait_at(Context* c, const vm::Insn* barrier, uint32_t lanes, uint32_t id, uint32_t count, uint32_t said) {
  return c->turns->wait_at(*barrier, lanes, id, count, said);
}
extern "C" uint32_t wb_stays(Context* c, uint32_t warp, const vm::Insn* i) { return c->block->warps[warp]->ip == i; }
extern "C" uint32_t wb_answer(Context* c) { return c->turns->answer(); }
extern "C" void wb_arrive_at(Context* c, const vm::Insn* barrier, uint32_t lanes, uint32_t id, uint32_t count) {
  c->turns->arrive_at(*barrier, lanes, id, count);
}
extern "C" void wb_leave_turns(Context* c, const Handover* h, uint32_t lanes) { c->turns->hand_over(*h, lanes); }

}  // namespace warpbeam::jit
