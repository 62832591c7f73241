#pragma once
#include <vector>

#include "observe/profiler/totals.h"

namespace warpbeam::observe {

// One for each row of metrics.inc, in their order.
std::vector<double> metric_values(const Totals& totals);

}  // namespace warpbeam::observe
