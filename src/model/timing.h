// How fast a GPU's parts are: named numbers for the model of time (src/timing), each with where it comes from.
//
// timing/<compute capability>.json has a generation's, timing/<device>.json what one product has for itself. A value that a
// file does not name is that of the file that it inherits.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "model/device.h"

namespace warpbeam::model {

struct TimingValue {
  double value = 0;
  std::string from;  // "measured": by bench/gpu/microbench; "fitted": to bench/timing's calibration half; "published: where"; "assumed"
};

// By name: "l2_latency", "int_add.latency".
using TimingTable = std::map<std::string, TimingValue, std::less<>>;

// That of the device, or of its compute capability, or of the nearest older one that has a table.
const TimingTable& timing_table(const Device& device);

}  // namespace warpbeam::model
