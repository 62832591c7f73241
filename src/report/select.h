// Which metrics somebody means.
#pragma once
#include <string>
#include <vector>

#include "report/recording.h"

namespace warpbeam::report {

struct Column {
  std::string name;    // as it was asked for
  std::string metric;  // Nsight Compute's name, the key in a launch's "metrics"
  std::string unit;
  std::string cls;  // F, S, C or T
  std::string per;  // what the metric is divided by: how many "sm" or "smsp" there are, a "second" or a "cycle" of the launch
  std::string reason;  // why there is no value, where there never is
  bool needs_times() const { return metric.empty() ? false : cls == "C" || cls == "T"; }
};

// `list`: names of either tool, with or without Nsight Compute's suffix, or `regex:` and an expression, with commas
// between them. An empty list is the set `set`: "basic", "exact" or "full". Names that mean nothing are left out, with a sentence
// each in `unknown`; fails where nothing is left.
Result<std::vector<Column>> select_metrics(const Json& table, const std::string& list, const std::string& set,
                                           std::vector<std::string>& unknown);

// Of a column for a launch, in as few digits as tell it from its neighbours; "n/a" where there is none.
std::string value_text(const Json& device, const Json& launch, const Column& column);
// "10.8 to 14.1" of a value that is predicted; empty where it is not.
std::string interval_text(const Json& launch, const Column& column);
// Why value_text says "n/a".
std::string reason_text(const Json& launch, const Column& column);
std::string number_text(double value);
std::string predicted_text(double value);

}  // namespace warpbeam::report
