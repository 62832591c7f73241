// Who did what when. Every access that the checker remembers is an Event: one instruction of one warp between two
// synchronisations (a loop's repetitions share one). Events are numbered in the order in which they happen, and the
// numbers are the clock of the whole checker: "I know what that thread did before event 1000" is one number.
//
// Only the newest events are kept. A number whose event has been overwritten counts as ordered: after so many others
// the checker no longer knows, and what it does not know it does not report.
#pragma once
#include <bit>
#include <cstdint>
#include <optional>

#include "vm/watched_words.h"

namespace warpbeam::observe::check {

using EventId = uint32_t;  // 0: none

enum class Strength : uint8_t { Weak, Cta, Gpu, Sys };  // of an access: weak, or strong with a scope
enum class Act : uint8_t { Read, Write, Atomic };
inline const char* name(Act a) { return a == Act::Read ? "Read" : a == Act::Write ? "Write" : "Atomic"; }

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

// What the events of a place have in common, as a burst has it.
struct Who {
  uint32_t site : 24 = 0;  // 0: nobody
  uint32_t act : 2 = 0, strength : 2 = 0, is_copy : 1 = 0;
};
static_assert(sizeof(Who) == sizeof(uint32_t));

class EventLog {
 public:
  EventLog();
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  EventId next() const { return next_; }
  vm::WatchedBurst* ring() { return ring_; }
  EventId* next_place() { return &next_; }
  // A burst to be filled in, whose first event's number it has.
  vm::WatchedBurst& begin() {
    const EventId first = (next_ + vm::kTogether - 1) & ~(vm::kTogether - 1);
    vm::WatchedBurst& b = burst_of(first);
    b.first = first;
    next_ = first + vm::kTogether;
    return b;
  }
  // Says whose event that is, if the burst did not know when it began.
  void name(EventId id, Who who) {
    vm::WatchedBurst& b = burst_of(id);
    if (b.first == (id & ~(vm::kTogether - 1))) b.who[id % vm::kTogether] = std::bit_cast<uint32_t>(who);
  }
  // A moment of its own, between events.
  EventId tick() { return next_++; }
  // Null when it is forgotten.
  std::optional<Event> find(EventId id) const {
    const vm::WatchedBurst& b = burst_of(id);
    const auto who = std::bit_cast<Who>(b.who[id % vm::kTogether]);
    if (b.first != (id & ~(vm::kTogether - 1)) || !who.site) return std::nullopt;
    return Event{id,
                 b.op,
                 b.block,
                 who.site,
                 b.mask,
                 static_cast<uint16_t>(b.warp),
                 static_cast<Act>(who.act),
                 static_cast<Strength>(who.strength),
                 who.is_copy != 0};
  }
  bool exhausted() const { return next_ > 0xfff00000u; }

 private:
  vm::WatchedBurst& burst_of(EventId id) const { return ring_[id / vm::kTogether % vm::kBursts]; }
  vm::WatchedBurst* ring_;  // 64 MB at most
  EventId next_ = 1;
};

}  // namespace warpbeam::observe::check
