#pragma once
#include <vector>

#include "observe/profiler/totals.h"

namespace warpbeam::observe {

// One for each row of metrics.inc, those that are not available included.
std::vector<double> metric_values(const Totals& totals);

}  // namespace warpbeam::observe
