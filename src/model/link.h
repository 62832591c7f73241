// What lies between the host and a GPU: how long calls, submissions, copies and completions take, for the model of the
// device (src/timing/device). link.inc says what each number is, link.json has the numbers, each under where it comes from.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/device.h"

namespace warpbeam::model {

inline constexpr double kMiB = 1 << 20;  // of what is told by the MiB

struct Link {
#define WB_LINK(name, unit, about) double name = 0;
#include "model/link.inc"
#undef WB_LINK
};

const Link& link_of(const Device& device);

struct LinkValue {
  std::string_view name, unit, about;
  double value = 0;
  std::string from;  // "measured: how", "published: where", "fitted: to what", "assumed"
};

// All of a device's numbers with their origins, for whoever prints them.
std::vector<LinkValue> link_values(const Device& device);

}  // namespace warpbeam::model
