// The table of metrics as data, for those who choose among them and print them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warpbeam::observe {

enum class MetricClass : uint8_t { F, S, C, T };
enum class MetricSet : uint8_t { None, Basic, Full };

struct MetricRow {
  std::string_view name;    // Nsight Compute's
  std::string_view nvprof;  // may be empty
  std::string_view unit;
  MetricClass cls;
  MetricSet set;
  std::string_view help;
  bool available() const { return set != MetricSet::None; }
};

// Those with values come first.
inline constexpr MetricRow kMetrics[] = {
#define METRIC(name, nvprof, unit, cls, set, value, help) {name, nvprof, unit, MetricClass::cls, MetricSet::set, help},
#include "observe/metrics.inc"
#undef METRIC
#define METRIC(name, nvprof, unit, cls, help) {name, nvprof, unit, MetricClass::cls, MetricSet::None, help},
#include "observe/metrics_without_values.inc"
#undef METRIC
};

}  // namespace warpbeam::observe
