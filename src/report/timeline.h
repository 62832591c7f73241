// Timelines on a device's time: a page to look at, and for other programs Kineto's JSON (Perfetto, chrome://tracing,
// TensorBoard, HTA), the tables of Nsight Systems' SQLite export, and what its reports and nvprof print.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/recording.h"

namespace warpbeam::report {

// The recordings of a folder, one for each process, by ranks and as they came. An empty folder is an error that says so.
Result<std::vector<Json>> read_timelines(const std::string& folder, const std::string& ending = ".json");

// "rank 1: program", "program".
std::string process_name(const Json& timeline);

void write_kineto(std::ostream& out, const std::vector<Json>& timelines);
// Replaces the file.
Result<bool> write_sqlite(const std::string& path, const std::vector<Json>& timelines);

// A page to look at, with everything in it.
void write_timeline_page(std::ostream& out, const std::vector<Json>& timelines, size_t most_operations = 400'000);

enum class StatsFormat { Table, Csv };

enum class NvprofForm { Summary, GpuTrace, ApiTrace };
void print_nvprof(std::ostream& out, const std::vector<Json>& timelines, NvprofForm form, StatsFormat format);

// The names of the reports there are.
const std::vector<std::string>& stats_reports();
void print_stats(std::ostream& out, const std::vector<Json>& timelines, const std::string& report, StatsFormat format);

}  // namespace warpbeam::report
