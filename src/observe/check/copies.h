// The asynchronous copies of a warp: cp.async, and apart from them what bulk copies (cp.async.bulk.global.shared::cta) read. What
// they write and read happens at some moment before the thread that made
// them waits for their group; to everybody else it is as if the thread did it while it waited. A copy nobody has waited for
// is ordered with nothing.
#pragma once
#include <array>
#include <deque>
#include <vector>

#include "observe/check/events.h"

namespace warpbeam::observe::check {

class Copies {
 public:
  static constexpr EventId kNever = ~EventId{0};

  void commit(uint32_t mask, EventId now);
  void wait(uint32_t mask, uint32_t still_running, EventId now);  // all groups but the newest ones
  void wait_all(uint32_t mask, EventId now);
  // When the copy `id` of that lane took effect.
  EventId took_effect(EventId id, uint32_t lane) const;

 private:
  struct Waited {
    EventId below, at;  // copies below one number are complete since another
  };
  struct Lane {
    std::deque<EventId> groups;  // where each ends
    std::vector<Waited> waited;
  };
  std::array<Lane, 32> lanes_;
};

// The products (wgmma) of a warp. Four warps make them together, and one of them that has waited for a group of products knows
// that it is complete for all four: groups are counted, since each warp commits them at moments of its own.
class Products {
 public:
  void commit(EventId now) { ends_.push_back(now); }
  void wait(uint64_t still_running, EventId now);  // all groups but the newest ones
  uint64_t group_of(EventId product) const;
  EventId complete(uint64_t group) const;  // when this warp has waited for it; Copies::kNever

 private:
  struct Waited {
    uint64_t groups;
    EventId at;
  };
  std::vector<EventId> ends_;
  std::vector<Waited> waited_;
};

}  // namespace warpbeam::observe::check
