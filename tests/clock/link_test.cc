#include "model/link.h"

#include <gtest/gtest.h>

namespace warpbeam::model {
namespace {

TEST(Link, GridsThatKernelsLaunchTakeLongerOnKepler) {
  const Link &kepler = link_of(*find_device("k40")), &pascal = link_of(*find_device("p100")), &hopper = link_of(*find_device("h100"));
  EXPECT_GT(kepler.child_front, 3 * pascal.child_front);
  EXPECT_GT(kepler.child_launch, 10 * pascal.child_launch);
  // Measured as those of the host.
  EXPECT_EQ(hopper.child_front, hopper.front);
  EXPECT_GT(hopper.child_each, hopper.launch_call);
}

TEST(Link, EveryDeviceHasAllNumbersWithTheirOrigin) {
  for (const Device& device : all_devices()) {
    const auto values = link_values(device);
    EXPECT_GT(values.size(), 30u);
    for (const LinkValue& value : values) {
      EXPECT_GE(value.value, 0) << device.key << " " << value.name;
      EXPECT_TRUE(value.from.starts_with("measured") || value.from.starts_with("published") || value.from.starts_with("fitted") ||
                  value.from.starts_with("assumed"))
          << value.from;
    }
    const Link& link = link_of(device);
    for (double speed : {link.pinned_to_device, link.pinned_to_host, link.pageable_to_device, link.pageable_to_host, link.peer,
                         link.both_ways, link.on_device_share, link.fill_share})
      EXPECT_GT(speed, 0) << device.key;
    EXPECT_LT(link.pageable_to_device, link.pinned_to_device) << device.key;
    EXPECT_LE(link.both_ways, 1) << device.key;
  }
}

TEST(Link, TheNewerAndTheProductHaveTheLastWord) {
  EXPECT_EQ(link_of(*find_device("h200")).copy_call, link_of(*find_device("h100")).copy_call);
  EXPECT_LT(link_of(*find_device("h200")).launch_cold, link_of(*find_device("h100")).launch_cold);
  EXPECT_LT(link_of(*find_device("k20")).pinned_to_device, link_of(*find_device("k40")).pinned_to_device);
  EXPECT_LT(link_of(*find_device("8800gtx")).pinned_to_device, link_of(*find_device("gtx280")).pinned_to_device);
}

}  // namespace
}  // namespace warpbeam::model
