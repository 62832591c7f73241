// Which operations of the host program are ordered: launches, copies, fills, records and waits in streams, and the host
// itself. Every operation knows, for each stream, how many of its operations come before it; the host is stream 0.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "observe/check/events.h"

namespace warpbeam::observe::check {

using OpId = uint32_t;  // 0: none

class OpOrder {
 public:
  OpOrder();
  // A stream of the program. Legacy default streams of a device order themselves with its blocking streams.
  enum class Kind : uint8_t { Host, Legacy, Blocking, NonBlocking };
  uint32_t add_stream(Kind kind, int device);

  // The next operation of a stream, which the host issues now and which comes after those in `after` too.
  OpId issue(uint32_t stream, std::string what, std::span<const OpId> after, EventId first_event);
  // A node of a graph, on a branch of the graph's (a stream of its own): it comes after `start` and those in `after`, but not
  // after what else the host knows.
  OpId issue_node(uint32_t branch, std::string what, OpId start, std::span<const OpId> after, EventId first_event);
  bool in_graph(OpId op) const { return ops_[op].in_graph; }
  // A launch made by a kernel, or what the body of a graph's condition does. It is ordered with the rest of the program as
  // that kernel or condition is, and not judged against its relatives.
  OpId issue_child(OpId parent, std::string what);
  // The host does something by itself: what it issues from now on comes after.
  OpId host_step(std::string what, EventId first_event);
  // The host has waited for it, for a stream, or for everything of a device (-1: of all devices).
  void host_waited(OpId op);
  void host_waited_stream(uint32_t stream);
  void host_waited_device(int device);

  bool ordered(OpId before, OpId after) const;
  bool host_knows(OpId op) const;
  bool host_knows_all() const;
  // Events with smaller numbers all come before the operation.
  EventId ordered_below(OpId op, EventId next) const;
  void name(OpId op, std::string what) { ops_[op].what = std::move(what); }
  OpId root(OpId op) const { return ops_[op].root; }
  const std::string& what(OpId op) const { return ops_[op].what; }
  uint32_t stream_of(OpId op) const { return ops_[op].stream; }
  int device_of(OpId op) const { return streams_[ops_[op].stream].device; }

 private:
  using Clock = std::vector<uint32_t>;  // by stream
  struct Op {
    uint32_t stream = 0, seq = 0;
    bool in_graph = false;
    OpId root = 0;  // itself, or of a child the launch of the host it descends from
    std::string what;
    std::shared_ptr<const Clock> before;  // itself included
  };
  struct Stream {
    Kind kind{};
    int device = 0;
    std::vector<EventId> first_events;  // by sequence number, from 1
    std::shared_ptr<const Clock> clock;  // of its last operation
    uint32_t count() const { return static_cast<uint32_t>(first_events.size()); }
  };
  OpId add(uint32_t stream, std::string what, Clock clock, EventId first_event);
  static void join(Clock& into, const Clock& from);
  static uint32_t at(const Clock& c, uint32_t stream) { return stream < c.size() ? c[stream] : 0; }

  std::vector<Op> ops_;
  std::vector<Stream> streams_;
  Clock host_;
};

}  // namespace warpbeam::observe::check
