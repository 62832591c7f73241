// Which form an access gets: the same for elements of 1 to 8 bytes, but where the form says so.
#include "jit/access_plan.h"

#include <gtest/gtest.h>

namespace warpbeam::jit {
namespace {

using enum AccessForm;

AccessFacts facts(bool load, int element, int count = 1) {
  AccessFacts f;
  f.load = load;
  f.element = element;
  f.count = count;
  f.probes = f.permutes_wide = true;
  return f;
}

TEST(AccessPlan, IsTheSameForAllSizes) {
  for (const bool load : {true, false})
    for (const int element : {1, 2, 4, 8})
      for (const int count : {1, 2, 4}) {
        AccessFacts f = facts(load, element, count);
        if (f.bytes() > 16) continue;
        f.full = true;
        for (const int runs : {1, 2, 4}) {
          f.runs = runs;
          f.stride = f.bytes();
          EXPECT_EQ(plan_access(f), Dense);
          f.stride = 0;
          EXPECT_EQ(plan_access(f), runs == 1 ? OnePlace : load ? PlaceARun : count == 1 ? Probe : Apart);
        }
        f.runs = 1;
        f.stride = 17 * f.bytes();
        EXPECT_EQ(plan_access(f), count == 1 ? Probe : Apart);
        f.runs = 0;
        EXPECT_EQ(plan_access(f), count == 1 ? Probe : Apart);
        f.probes = false;
        EXPECT_EQ(plan_access(f), Apart);
        f.line = true;
        EXPECT_EQ(plan_access(f), load || count > 1 ? Apart : LaneByLane);
        f.may_wait = true;
        EXPECT_EQ(plan_access(f), load || count > 1 ? Apart : Deferred);
        f.few = true;
        EXPECT_EQ(plan_access(f), PrefixLanes);
      }
}

TEST(AccessPlan, TakesWindowsOnlyForWholeWarps) {
  for (const int element : {4, 8}) {
    AccessFacts f = facts(true, element);
    f.runs = 1;
    f.stride = element;
    f.window = f.full = true;
    EXPECT_EQ(plan_access(f), Window);
    f.full = false;
    EXPECT_EQ(plan_access(f), Dense);
    f.full = true;
    f.runs = 2;
    EXPECT_EQ(plan_access(f), Dense);
  }
}

TEST(AccessPlan, MasksWhatLiesBetweenSteps) {
  for (const bool load : {true, false})
    for (const int element : {1, 2, 4, 8})
      for (const int step : {-2, 2, 3, 4, 8, 16, 17}) {
        AccessFacts f = facts(load, element);
        f.runs = 1;
        f.stride = step * element;
        EXPECT_EQ(plan_access(f), step > 0 && step * element <= 16 ? Steps : Probe);
        f.permutes_wide = false;
        EXPECT_EQ(plan_access(f), Probe);
      }
}

// A part of a warp's elements of several numbers each is no vector access: some of them would be masked in pieces.
TEST(AccessPlan, LeavesPartsOfPairsApart) {
  for (const bool load : {true, false}) {
    AccessFacts f = facts(load, 4, 2);
    f.runs = 1;
    f.stride = 8;
    EXPECT_EQ(plan_access(f), Apart);
    f.full = true;
    EXPECT_EQ(plan_access(f), Dense);
  }
}

}  // namespace
}  // namespace warpbeam::jit
