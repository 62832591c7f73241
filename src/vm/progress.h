// How long a grid has made no progress, by a time that blocks on other threads set back to 0 whenever they end.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace warpbeam::vm {

// Nothing: there has been some since it was last asked. The time is read once: between two reads another thread may store 0, and
// the whole uptime of the computer would seem to have been waited.
template <class Time>
std::optional<int64_t> without_progress(const Time& last_progress, int64_t now) {
  const int64_t since = last_progress;
  if (since == 0) return std::nullopt;
  return now - since;
}

// A host thread's turn at a block of a grid, while it lasts. What only waits gives way again and again, each time in a turn of its own; what
// computes for long does so in one.
class Turn {
 public:
  explicit Turn(const void* grid);
  ~Turn() { slot_.grid = before_; }
  Turn(const Turn&) = delete;

  struct Slot {  // of a host thread
    std::atomic<const void*> grid{nullptr};
    std::atomic<uint64_t> number{0};
  };
  struct Seen {
    const Slot* slot;
    uint64_t number;
    bool lasts(const void* grid) const { return slot->grid == grid && slot->number == number; }
  };
  // Those of other threads.
  static std::vector<Seen> under_way(const void* grid);

 private:
  Slot& slot_;
  const void* before_;
};

// Whether the turns of other threads that were under way at some time after `since` have ended; the answer may take a few questions.
class TurnsOfOthers {
 public:
  bool have_ended(const void* grid, int64_t since, int64_t now);

 private:
  static constexpr int64_t kApart = 10'000'000;  // nanoseconds between two looks
  std::vector<Turn::Seen> seen_;
  int64_t asked_ = 0;
};

}  // namespace warpbeam::vm
