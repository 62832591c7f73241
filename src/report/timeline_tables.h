// Tables of timelines, while they are made.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "report/timeline.h"

namespace warpbeam::report {

using Row = std::vector<std::string>;

struct Table {
  std::string title;
  Row columns;
  std::vector<Row> rows;
  size_t texts = 1;  // columns at the end that are words
};

std::string word_of(const Json& timeline, const Json& row, const char* key);
std::string memory_operation(const Json& timeline, const Json& o);  // as these reports call a copy or a fill
inline bool is_memory(const Json& o) { return o["kind"] == "copy" || o["kind"] == "fill"; }
inline bool is_kernel(const Json& o) { return o["kind"] == "kernel" || o["kind"] == "library"; }
inline double duration(const Json& o) { return o["end"].get<double>() - o["begin"].get<double>(); }

struct Summary {
  double total = 0, average = 0, median = 0, least = 0, most = 0, deviation = 0;
  explicit Summary(std::vector<double> values);
};

// Of what has the same name, and perhaps is of the same sort, which stands before the name.
struct Group {
  std::string sort, name;
  auto operator<=>(const Group&) const = default;
};
using Groups = std::map<Group, std::vector<double>>;

// Time by name, the longest first.
Table time_table(std::string title, const std::string& count, Row last, const Groups& groups);

// The reports of timeline_traces.cc.
Table api_trace(const std::vector<Json>& timelines);
Table kernel_execution_trace(const std::vector<Json>& timelines);
Table kernel_execution(const std::vector<Json>& timelines);
Table range_trace(const std::vector<Json>& timelines);
Table projected_ranges(const std::vector<Json>& timelines);
Table projected_ranges_summary(const std::vector<Json>& timelines);

}  // namespace warpbeam::report
