// How much of a device is in use, over time.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "report/timeline.h"

namespace warpbeam::report {

struct Use {
  std::string_view name;     // as Nsight Systems calls the metric
  std::vector<std::pair<int64_t, double>> steps;  // nanoseconds, and percent from then on; the last one is 0
};

// Of one device, by the operations of all processes.
std::vector<Use> use_of(const std::vector<Json>& timelines, int device);
// Means of equal parts of the time from `begin` on, as whole percent.
std::vector<int> sampled(const Use& use, int64_t begin, int64_t each, size_t count);

}  // namespace warpbeam::report
