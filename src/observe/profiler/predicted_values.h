// Metrics that follow from a prediction, by Nsight Compute's names.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "observe/profiler/totals.h"
#include "timing/chip.h"

namespace warpbeam::observe {

std::vector<std::pair<std::string_view, double>> predicted_values(const timing::Prediction& p, const Totals& t);

}  // namespace warpbeam::observe
