// Who is ordered with whom: operations of streams, and threads that meet.
#include "observe/check/order.h"

#include <gtest/gtest.h>

#include "observe/check/knowledge.h"

namespace warpbeam::observe::check {
namespace {

using Kind = OpOrder::Kind;

TEST(OpOrder, one_stream_is_in_order) {
  OpOrder o;
  const uint32_t s = o.add_stream(Kind::Blocking, 0);
  const OpId a = o.issue(s, "a", {}, 1), b = o.issue(s, "b", {}, 2);
  EXPECT_TRUE(o.ordered(a, b));
  EXPECT_FALSE(o.ordered(b, a));
  EXPECT_FALSE(o.host_knows(a));
}

TEST(OpOrder, two_streams_are_not) {
  OpOrder o;
  const uint32_t s = o.add_stream(Kind::Blocking, 0), t = o.add_stream(Kind::Blocking, 0);
  const OpId a = o.issue(s, "a", {}, 10), b = o.issue(t, "b", {}, 20);
  EXPECT_FALSE(o.ordered(a, b));
  EXPECT_EQ(o.ordered_below(b, 30), 10u);
}

TEST(OpOrder, an_event_orders_them) {
  OpOrder o;
  const uint32_t s = o.add_stream(Kind::NonBlocking, 0), t = o.add_stream(Kind::NonBlocking, 0);
  const OpId a = o.issue(s, "a", {}, 1), record = o.issue(s, "record", {}, 2);
  const OpId wait = o.issue(t, "wait", std::span(&record, 1), 3), b = o.issue(t, "b", {}, 4);
  EXPECT_TRUE(o.ordered(a, wait));
  EXPECT_TRUE(o.ordered(a, b));
  EXPECT_EQ(o.ordered_below(b, 5), 5u);
}

TEST(OpOrder, the_default_stream_waits_for_blocking_streams_only) {
  OpOrder o;
  const uint32_t legacy = o.add_stream(Kind::Legacy, 0), s = o.add_stream(Kind::Blocking, 0), n = o.add_stream(Kind::NonBlocking, 0);
  const OpId a = o.issue(s, "a", {}, 1), b = o.issue(n, "b", {}, 2), c = o.issue(legacy, "c", {}, 3), d = o.issue(s, "d", {}, 4);
  EXPECT_TRUE(o.ordered(a, c));
  EXPECT_FALSE(o.ordered(b, c));
  EXPECT_TRUE(o.ordered(c, d));
}

TEST(OpOrder, what_the_host_waited_for_comes_before_what_it_issues) {
  OpOrder o;
  const uint32_t s = o.add_stream(Kind::Blocking, 0), t = o.add_stream(Kind::Blocking, 0);
  const OpId a = o.issue(s, "a", {}, 1);
  o.host_waited_stream(s);
  EXPECT_TRUE(o.host_knows(a));
  EXPECT_TRUE(o.ordered(a, o.issue(t, "b", {}, 2)));
}

std::shared_ptr<Snapshot> snapshot(uint32_t block, uint16_t warp, EventId when, EventId base = 0) {
  auto s = std::make_shared<Snapshot>();
  s->op = 1;
  s->block = block;
  s->warp = warp;
  s->when = when;
  s->block_base = base;
  return s;
}

Event event(EventId id, uint32_t block, uint16_t warp) {
  Event e;
  e.id = id;
  e.op = 1;
  e.block = block;
  e.warp = warp;
  return e;
}

TEST(Knowledge, who_comes_later_knows_what_was_released) {
  Meeting flag;
  flag.leave({snapshot(3, 0, 50), 1u, 60});
  CameList came;
  add(came, {&flag, 70});
  EXPECT_TRUE(knows(came, event(40, 3, 0), 0));
  EXPECT_FALSE(knows(came, event(55, 3, 0), 0));  // after the fence
  EXPECT_FALSE(knows(came, event(40, 3, 0), 1));  // another lane
  EXPECT_FALSE(knows(came, event(40, 4, 0), 0));  // another block
}

TEST(Knowledge, who_came_before_the_release_knows_nothing) {
  Meeting flag;
  flag.leave({snapshot(3, 0, 50), 1u, 60});
  CameList came;
  add(came, {&flag, 55});
  EXPECT_FALSE(knows(came, event(40, 3, 0), 0));
}

TEST(Knowledge, a_barrier_before_the_fence_releases_the_whole_block) {
  Meeting counter;
  counter.leave({snapshot(3, 0, 50, 45), 1u, 60});
  CameList came;
  add(came, {&counter, 70});
  EXPECT_TRUE(knows(came, event(44, 3, 7), 31));
  EXPECT_FALSE(knows(came, event(46, 3, 7), 31));
}

TEST(Knowledge, it_is_passed_on) {
  Meeting first, second;
  first.leave({snapshot(0, 0, 10), 1u, 11});
  auto middle = snapshot(1, 0, 20);
  add(middle->came, {&first, 15});
  second.leave({middle, 1u, 21});
  CameList came;
  add(came, {&second, 30});
  EXPECT_TRUE(knows(came, event(5, 0, 0), 0));
  EXPECT_TRUE(knows(came, event(18, 1, 0), 0));
}

}  // namespace
}  // namespace warpbeam::observe::check
