// Who did what when. Every access that the checker remembers is an Event: one instruction of one warp between two
// synchronisations (a loop's repetitions share one). Events are numbered in the order in which they happen, and the
// numbers are the clock of the whole checker: "I know what that thread did before event 1000" is one number.
//
// Only the newest events are kept. A number whose event has been overwritten counts as ordered: after so many others
// the checker no longer knows, and what it does not know it does not report.
#pragma once
#include <cstdint>
#include <memory>

namespace warpbeam::observe::check {

using EventId = uint32_t;  // 0: none

enum class Strength : uint8_t { Weak, Cta, Gpu, Sys };  // of an access: weak, or strong with a scope
enum class Act : uint8_t { Read, Write, Atomic };

struct Event {
  EventId id = 0;
  uint32_t op = 0;      // the launch, copy … it is part of
  uint32_t block = 0;   // linear
  uint32_t site = 0;    // the instruction: Sites
  uint32_t mask = 0;    // lanes that were together when it was executed
  uint16_t warp = 0;
  Act act{};
  Strength strength{};
  bool is_copy = false;  // cp.async: it takes effect when it has been waited for
};

class EventLog {
 public:
  static constexpr uint32_t kKept = 1u << 22;  // 4 M events of 24 bytes: 96 MB at most

  EventLog();
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  EventId next() const { return next_; }
  EventId add(Event e) {
    e.id = next_++;
    ring_[e.id % kKept] = e;
    return e.id;
  }
  // A moment of its own, between events.
  EventId tick() { return next_++; }
  // Null when it is forgotten.
  const Event* find(EventId id) const {
    const Event& e = ring_[id % kKept];
    return e.id == id && id ? &e : nullptr;
  }
  bool exhausted() const { return next_ > 0xfff00000u; }

 private:
  Event* ring_;
  EventId next_ = 1;
};

}  // namespace warpbeam::observe::check
