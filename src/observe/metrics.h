// The table of metrics as data, for those who choose among them and print them.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warpbeam::observe {

enum class MetricClass : uint8_t { F, S, C, T };
enum class MetricSet : uint8_t { None, Basic, Full };

// Why a metric has no value.
namespace no_value {
inline constexpr std::string_view kHost = "traffic to and from the host is not modelled", kLinks = "traffic between GPUs is not modelled",
                                  kErrorCorrection = "error correction is not modelled",
                                  kImages = "what textures and surfaces do in the caches is not modelled",
                                  kRequests = "the model counts sectors, not requests to L2",
                                  kSamples = "nothing is sampled: the ratios of the same reason say it",
                                  kNoSuchWait = "the model knows no such wait",
                                  kPipes = "the model does not part this pipe from its neighbours",
                                  kReplays = "the model repeats no instruction", kKinds = "issued instructions are not counted by kind",
                                  kClocks = "this clock is not modelled";
}

struct MetricRow {
  std::string_view name;    // Nsight Compute's
  std::string_view nvprof;  // may be empty
  std::string_view unit;
  MetricClass cls;
  MetricSet set;
  std::string_view help;
  std::string_view reason;  // of one that has no value
  bool available() const { return set != MetricSet::None; }
};

// Exact ones come first, then those that are predicted, then those without a value.
inline constexpr MetricRow kMetrics[] = {
#define METRIC(name, nvprof, unit, cls, set, value, help) {name, nvprof, unit, MetricClass::cls, MetricSet::set, help, {}},
#include "observe/metrics.inc"
#undef METRIC
#define METRIC(name, nvprof, unit, cls, set, interval, value, help) {name, nvprof, unit, MetricClass::cls, MetricSet::set, help, {}},
#include "observe/metrics_predicted.inc"
#undef METRIC
#define METRIC(name, nvprof, unit, cls, reason, help) {name, nvprof, unit, MetricClass::cls, MetricSet::None, help, no_value::k##reason},
#include "observe/metrics_without_values.inc"
#undef METRIC
};

}  // namespace warpbeam::observe
