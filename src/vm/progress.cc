#include "vm/progress.h"

#include <deque>
#include <mutex>

namespace warpbeam::vm {
namespace {

struct Slots {
  std::mutex mutex;
  std::deque<Turn::Slot> all;
  std::vector<Turn::Slot*> free;  // of threads that have ended
};
Slots& slots() {
  static Slots* const one = new Slots;  // threads may end after everything else
  return *one;
}

struct OwnSlot {
  OwnSlot() {
    std::lock_guard lock(slots().mutex);
    if (slots().free.empty()) {
      slot = &slots().all.emplace_back();
    } else {
      slot = slots().free.back();
      slots().free.pop_back();
    }
  }
  ~OwnSlot() {
    std::lock_guard lock(slots().mutex);
    slots().free.push_back(slot);
  }
  Turn::Slot* slot;
};
Turn::Slot& own_slot() {
  static thread_local OwnSlot own;
  return *own.slot;
}

}  // namespace

Turn::Turn(const void* grid) : slot_(own_slot()), before_(slot_.grid.load(std::memory_order_relaxed)) {
  slot_.number.store(slot_.number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot_.grid.store(grid, std::memory_order_release);
}

std::vector<Turn::Seen> Turn::under_way(const void* grid) {
  const Slot* own = &own_slot();
  std::vector<Seen> out;
  std::lock_guard lock(slots().mutex);
  for (const Slot& s : slots().all)
    if (&s != own && s.grid == grid) out.push_back({&s, s.number});
  return out;
}

bool TurnsOfOthers::have_ended(const void* grid, int64_t since, int64_t now) {
  bool last = asked_ < since;  // what was seen then is of no interest any more
  if (!last && now - asked_ < kApart) return false;
  for (const Turn::Seen& turn : seen_) last = last || turn.lasts(grid);
  if (!last) return true;
  seen_ = Turn::under_way(grid);
  asked_ = now;
  return seen_.empty();
}

}  // namespace warpbeam::vm
