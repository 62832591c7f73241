// Metrics that follow from a prediction, each with its interval.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "observe/profiler/totals.h"
#include "timing/chip.h"

namespace warpbeam::observe {

struct PredictedValue {
  std::string_view name;  // Nsight Compute's
  double value = 0, low = 0, high = 0;
};

// In the order of metrics_predicted.inc, without those that are not known of this launch.
std::vector<PredictedValue> predicted_values(const timing::Prediction& p, const Totals& t);

// What bounds it, in words that go on after "bound by ": "device memory, at 91 % of what it can do".
std::string bound_in_words(const timing::Prediction& p, const Totals& t);

}  // namespace warpbeam::observe
