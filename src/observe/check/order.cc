#include "observe/check/order.h"

#include <algorithm>

namespace warpbeam::observe::check {

OpOrder::OpOrder() {
  ops_.emplace_back();
  ops_[0].before = std::make_shared<Clock>();
  add_stream(Kind::Host, -1);
}

uint32_t OpOrder::add_stream(Kind kind, int device) {
  Stream s;
  s.kind = kind;
  s.device = device;
  s.clock = std::make_shared<Clock>();
  streams_.push_back(std::move(s));
  return static_cast<uint32_t>(streams_.size() - 1);
}

void OpOrder::join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t k = 0; k < from.size(); ++k) into[k] = std::max(into[k], from[k]);
}

OpId OpOrder::issue(uint32_t stream, std::string what, std::span<const OpId> after, EventId first_event) {
  Clock clock = host_;
  if (clock.size() < streams_.size()) clock.resize(streams_.size());
  Stream& own = streams_[stream];
  join(clock, *own.clock);
  for (const Stream& other : streams_) {
    if (&other == &own || other.device != own.device) continue;
    const bool waits =
        (own.kind == Kind::Legacy && other.kind == Kind::Blocking) || (own.kind == Kind::Blocking && other.kind == Kind::Legacy);
    if (waits) join(clock, *other.clock);
  }
  for (OpId a : after) join(clock, *ops_[a].before);
  return add(stream, std::move(what), std::move(clock), first_event);
}

OpId OpOrder::issue_node(uint32_t branch, std::string what, OpId start, std::span<const OpId> after, EventId first_event) {
  Clock clock = *ops_[start].before;
  clock.resize(streams_.size());
  for (OpId a : after) join(clock, *ops_[a].before);
  const OpId op = add(branch, std::move(what), std::move(clock), first_event);
  ops_[op].in_graph = true;
  return op;
}

OpId OpOrder::add(uint32_t stream, std::string what, Clock clock, EventId first_event) {
  Stream& own = streams_[stream];
  own.first_events.push_back(first_event);
  clock[stream] = own.count();
  Op op;
  op.stream = stream;
  op.seq = own.count();
  op.what = std::move(what);
  op.before = std::make_shared<const Clock>(std::move(clock));
  op.root = static_cast<OpId>(ops_.size());
  own.clock = op.before;
  ops_.push_back(std::move(op));
  return static_cast<OpId>(ops_.size() - 1);
}

OpId OpOrder::issue_child(OpId parent, std::string what) {
  Op op = ops_[parent];
  op.what = std::move(what);
  ops_.push_back(std::move(op));
  return static_cast<OpId>(ops_.size() - 1);
}

OpId OpOrder::host_step(std::string what, EventId first_event) {
  if (host_.empty()) host_.resize(1);
  streams_[0].first_events.push_back(first_event);
  host_[0] = streams_[0].count();
  Op op;
  op.seq = host_[0];
  op.what = std::move(what);
  op.before = std::make_shared<const Clock>(host_);
  op.root = static_cast<OpId>(ops_.size());
  ops_.push_back(std::move(op));
  return static_cast<OpId>(ops_.size() - 1);
}

void OpOrder::host_waited(OpId op) { join(host_, *ops_[op].before); }

void OpOrder::host_waited_stream(uint32_t stream) { join(host_, *streams_[stream].clock); }

void OpOrder::host_waited_device(int device) {
  for (const Stream& s : streams_)
    if (device < 0 || s.device == device) join(host_, *s.clock);
}

bool OpOrder::ordered(OpId before, OpId after) const {
  return ops_[before].root == ops_[after].root || at(*ops_[after].before, ops_[before].stream) >= ops_[before].seq;
}

bool OpOrder::host_knows(OpId op) const { return at(host_, ops_[op].stream) >= ops_[op].seq; }

bool OpOrder::host_knows_all() const {
  for (uint32_t s = 1; s < streams_.size(); ++s)
    if (at(host_, s) < streams_[s].count()) return false;
  return true;
}

EventId OpOrder::ordered_below(OpId op, EventId next) const {
  EventId bound = next;
  for (uint32_t s = 0; s < streams_.size(); ++s) {
    if (s == ops_[op].stream) continue;
    const uint32_t known = at(*ops_[op].before, s);
    if (known < streams_[s].count()) bound = std::min(bound, streams_[s].first_events[known]);
  }
  return bound;
}

}  // namespace warpbeam::observe::check
