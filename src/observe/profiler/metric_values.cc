#include "observe/profiler/metric_values.h"

#include "observe/metrics.h"

namespace warpbeam::observe {
namespace {

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }
double percent(double part, double whole) { return 100 * ratio(part, whole); }
double whole_if_none(double part, double whole) { return whole == 0 ? 100 : percent(part, whole); }

}  // namespace

std::vector<double> metric_values(const Totals& t) {
  return {
#define METRIC(name, nvprof, unit, cls, set, value, help) static_cast<double>(value),
#include "observe/metrics.inc"
#undef METRIC
  };
}

}  // namespace warpbeam::observe
