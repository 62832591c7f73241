#include "jit/waiting_block.h"

#include <sys/mman.h>

#include <mutex>
#include <new>
#include <utility>

#include "vm/grid.h"

namespace warpbeam::jit {
namespace {

constexpr uint32_t kLooks = 16;  // before a block of a cooperative launch stops: what it waits for may be others that have to run
constexpr uint32_t kMoreLooks = 1024;  // elsewhere blocks before it run on other threads, and are through soon
constexpr uint32_t kBusyLooks = 1u << 16;  // of loops that may be doing something meanwhile, before they count as waiting
constexpr uint64_t kStopsInVain = 16, kRoundsInVain = 4;
constexpr size_t kMostSpare = 256;

std::byte* aligned(std::vector<std::byte>& place, uint64_t bytes) {
  constexpr uint64_t kLine = 64;
  if (place.size() < bytes + kLine) place.resize(bytes + kLine);
  return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(place.data()) + kLine - 1) & ~uintptr_t(kLine - 1));
}

struct Spare {
  std::mutex mutex;
  std::vector<WaitingBlock*> all;
};
Spare& spare() {
  static Spare& one = *new Spare;  // never destroyed: host threads go on while a process ends
  return one;
}

}  // namespace

void WaitingBlock::Free::operator()(BlockState* state) const { munmap(state, sizeof(BlockState)); }

// Fresh pages hold zeros, as a new Context does, and most of them are never touched.
WaitingBlock::WaitingBlock() {
  void* memory = mmap(nullptr, sizeof(BlockState), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  state_.reset(static_cast<BlockState*>(memory));
}

WaitingBlock* WaitingBlock::take() {
  Spare& s = spare();
  {
    std::lock_guard lock(s.mutex);
    if (!s.all.empty()) {
      WaitingBlock* one = s.all.back();
      s.all.pop_back();
      return one;
    }
  }
  return new WaitingBlock;
}

void WaitingBlock::give_back(WaitingBlock* one) {
  Spare& s = spare();
  {
    std::lock_guard lock(s.mutex);
    if (s.all.size() < kMostSpare) {
      s.all.push_back(one);
      return;
    }
  }
  delete one;
}

vm::Went WaitingBlock::begin(vm::Block& block, BlockCode code, Turns::WarpCode warp_code) {
  block_ = &block;
  code_ = code;
  warp_code_ = warp_code;
  looks_ = busy_looks_ = 0;
  failure_ = nullptr;
  Context& c = state_->context;
  c.waiting = this;
  c.turns = nullptr;
  c.events = 0;
  if (warp_code && !turns_) turns_ = std::make_unique<Turns>();
  stack_.begin(&WaitingBlock::first, this);
  at_ = &stack_;
  return go_to();
}

vm::Went WaitingBlock::go_on() { return go_to(); }

vm::Went WaitingBlock::go_to() {
  Stack::change(home_, *at_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  block_->progress += std::exchange(state_->context.events, 0);
  return went_;
}

// What is done on the block's stack.
void WaitingBlock::first(void* one) {
  WaitingBlock& w = *static_cast<WaitingBlock*>(one);
  try {
    const bool done = w.warp_code_ ? w.turns_->run(w.state_->context, w.warp_code_) : w.code_(&w.state_->context) != 0;
    w.went_ = done ? vm::Went::Through : vm::Went::HandedOver;
  } catch (...) {
    w.failure_ = std::current_exception();
  }
  Stack::change(w.stack_, w.home_);
}

bool WaitingBlock::look_again(bool busy) {
  if (busy) ++busy_looks_;
  if (++looks_ < (block_->launch->cooperative ? kLooks : kMoreLooks)) return false;
  return stop(stack_, busy && busy_looks_ < kBusyLooks);
}

bool WaitingBlock::stop(Stack& here, bool busy) {
  looks_ = 0;
  if (!busy) {
    if (all_wait()) return true;
    vm::GridState& grid = *block_->grid;
    if (!block_->waits) {
      block_->waits = true;
      ++grid.waiting;
    }
    ++grid.stops_in_vain;
  }
  at_ = &here;
  went_ = vm::Went::Stopped;
  Stack::change(here, home_);
  return false;
}

// Each has looked some times since the last one went on.
bool WaitingBlock::all_wait() const {
  const vm::GridState& grid = *block_->grid;
  const uint64_t begun = grid.begun - grid.ended;
  if (grid.waiting < begun) return false;
  const bool more = begun < grid.resident_limit && (grid.next_block < grid.total_blocks || grid.handed_back);
  return !more && grid.stops_in_vain > kStopsInVain + kRoundsInVain * begun;
}

void WaitingBlock::passed() {
  looks_ = busy_looks_ = 0;
  vm::GridState& grid = *block_->grid;
  if (grid.stops_in_vain) grid.stops_in_vain = 0;
  if (std::exchange(block_->waits, false)) --grid.waiting;
}

std::byte* WaitingBlock::kept(uint64_t bytes) { return aligned(kept_, bytes); }

extern "C" uint32_t wb_poll(Context* c, uint32_t busy) { return c->turns ? c->turns->look_again(1, busy) : c->waiting->look_again(busy); }

extern "C" void wb_passed(Context* c) {
  ++c->events;
  if (c->waiting) c->waiting->passed();
}

extern "C" std::byte* wb_kept(Context* c, uint64_t bytes) {
  static thread_local std::vector<std::byte> place;
  return c->waiting ? c->waiting->kept(bytes) : aligned(place, bytes);
}

}  // namespace warpbeam::jit
