// Grids that a kernel has launched: their order, and what runs beside what.
#include "timing/device/children.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace warpbeam::timing::device {
namespace {

Child child(uint64_t self, uint32_t number, double nanoseconds = 100, double share = 0.1) {
  Child c;
  c.self = self, c.number = number, c.nanoseconds = nanoseconds, c.share = share;
  return c;
}
const Child& of(const std::vector<Child>& all, uint64_t self) { return *std::ranges::find(all, self, &Child::self); }

TEST(Children, AStreamIsOneAfterTheOtherAndOthersGoBeside) {
  std::vector<Child> all{child(1, 0), child(2, 1), child(3, 2)};
  all[1].behind = 0;  // 1 and 2 are in one stream
  const double whole = place_children(1000, 1, {}, all);
  EXPECT_GE(of(all, 2).begin, of(all, 1).end);
  EXPECT_LT(of(all, 3).begin, of(all, 1).end);
  EXPECT_EQ(whole, 1000) << "they are done before their parent";
}

TEST(Children, TheyComeBehindTheLastBlocksOfTheirParentAndItEndsAfterThem) {
  std::vector<Child> all{child(1, 0, 900)};
  EXPECT_EQ(place_children(1000, 4, {}, all), 1650);
  EXPECT_EQ(all[0].begin, 750);
}

TEST(Children, ABlockLaunchesOneAfterTheOtherAndTheEndIsKnownLater) {
  ChildCosts costs;
  costs.launch = 10, costs.each = 500, costs.end = 70;
  std::vector<Child> all{child(1, 0), child(2, 1), child(3, 0)};
  all[2].block = 1;
  EXPECT_EQ(place_children(50, 1, costs, all), 2 * 500 + 10 + 100 + 70);
  EXPECT_EQ(of(all, 2).begin - of(all, 1).begin, 500);
  EXPECT_EQ(of(all, 3).begin, of(all, 1).begin) << "another block launches it";
}

TEST(Children, ABlockThatWaitsLaunchesTheNextOnesAfterThat) {
  std::vector<Child> all{child(1, 0), child(2, 1), child(3, 2)};
  all[2].joined = 2;
  place_children(1000, 1, {}, all);
  EXPECT_GE(of(all, 3).begin, of(all, 1).end);
  EXPECT_GE(of(all, 3).begin, of(all, 2).end);
}

TEST(Children, AGridIsOverWhenItsOwnChildrenAre) {
  std::vector<Child> all{child(1, 0, 100), child(2, 0, 5000), child(3, 1)};
  all[1].parent = 1;
  all[2].behind = 0;
  const double whole = place_children(1000, 1, {}, all);
  EXPECT_EQ(of(all, 1).end, of(all, 2).end);
  EXPECT_GE(of(all, 3).begin, of(all, 2).end);
  EXPECT_EQ(whole, of(all, 3).end);
}

TEST(Children, TheTailStreamComesLastInOrder) {
  std::vector<Child> all{child(1, 0), child(2, 1), child(3, 2, 3000)};
  all[0].tail = all[1].tail = true;
  const double whole = place_children(1000, 1, {}, all);
  EXPECT_GE(of(all, 1).begin, of(all, 3).end);
  EXPECT_GE(of(all, 2).begin, of(all, 1).end);
  EXPECT_EQ(whole, of(all, 2).end);
}

TEST(Children, ThereAreAsManyAtOnceAsThereIsRoomFor) {
  std::vector<Child> all;
  for (uint32_t k = 0; k < 4; ++k) all.push_back(child(k + 1, k, 100, 0.5));
  EXPECT_EQ(place_children(10, 1, {}, all), 200);
  for (Child& each : all) each.share = 3;
  EXPECT_EQ(place_children(10, 1, {}, all), 400);
  EXPECT_EQ(of(all, 1).begin, 0);
  EXPECT_EQ(of(all, 4).begin, 300);
}

}  // namespace
}  // namespace warpbeam::timing::device
