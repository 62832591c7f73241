// Tables of timelines, with the columns of Nsight Systems' reports of the same names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "report/timeline_tables.h"

namespace warpbeam::report {

std::string word_of(const Json& timeline, const Json& row, const char* key) {
  return row.contains(key) ? timeline["words"].at(row[key].get<size_t>()).get<std::string>() : "";
}

namespace {

std::string long_place(const std::string& place) { return place == "Device" || place == "Peer" ? "Device" : "Host"; }

bool longest_first(const std::pair<Group, Summary>& a, const std::pair<Group, Summary>& b) {
  return a.second.total != b.second.total ? a.second.total > b.second.total : a.first < b.first;
}

}  // namespace

std::string memory_operation(const Json& timeline, const Json& o) {
  if (o["kind"] == "fill") return "[CUDA memset]";
  return fmt::format("[CUDA memcpy {}-to-{}]", long_place(word_of(timeline, o, "from")), long_place(word_of(timeline, o, "to")));
}

Summary::Summary(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t n = values.size();
  if (n == 0) return;
  for (double v : values) total += v;
  average = total / static_cast<double>(n);
  median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  least = values.front(), most = values.back();
  double squares = 0;
  for (double v : values) squares += (v - average) * (v - average);
  deviation = n > 1 ? std::sqrt(squares / static_cast<double>(n - 1)) : 0;
}

Table time_table(std::string title, const std::string& count, Row last, const Groups& groups) {
  Table table{std::move(title),
              {"Time (%)", "Total Time (ns)", count, "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)"},
              {},
              last.size()};
  table.columns.insert(table.columns.end(), last.begin(), last.end());
  std::vector<std::pair<Group, Summary>> all;
  double total = 0;
  for (const auto& [name, values] : groups) {
    all.emplace_back(name, Summary(values));
    total += all.back().second.total;
  }
  std::ranges::sort(all, longest_first);
  for (const auto& [group, s] : all) {
    Row row = {fmt::format("{:.1f}", total > 0 ? 100 * s.total / total : 0),
               fmt::format("{:.0f}", s.total),
               fmt::to_string(groups.at(group).size()),
               fmt::format("{:.1f}", s.average),
               fmt::format("{:.1f}", s.median),
               fmt::format("{:.0f}", s.least),
               fmt::format("{:.0f}", s.most),
               fmt::format("{:.1f}", s.deviation)};
    if (!group.sort.empty()) row.push_back(group.sort);
    row.push_back(group.name);
    table.rows.push_back(std::move(row));
  }
  return table;
}

namespace {

Table kernels(const std::vector<Json>& timelines) {
  Groups groups;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"])
      if (is_kernel(o)) groups[{"", word_of(t, o, "name")}].push_back(duration(o));
  return time_table("CUDA GPU Kernel Summary", "Instances", {"Name"}, groups);
}

Table calls(const std::vector<Json>& timelines) {
  Groups groups;
  for (const Json& t : timelines)
    for (const Json& c : t["calls"])
      groups[{"", t["words"].at(c[0].get<size_t>()).get<std::string>()}].push_back(c[4].get<double>() - c[3].get<double>());
  return time_table("CUDA API Summary", "Num Calls", {"Name"}, groups);
}

Table memory_times(const std::vector<Json>& timelines) {
  Groups groups;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"])
      if (is_memory(o)) groups[{"", memory_operation(t, o)}].push_back(duration(o));
  return time_table("CUDA GPU MemOps Summary (by Time)", "Count", {"Operation"}, groups);
}

Table memory_sizes(const std::vector<Json>& timelines) {
  Groups groups;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"])
      if (is_memory(o)) groups[{"", memory_operation(t, o)}].push_back(o.value("bytes", 0.0) * 1e-6);
  Table table{"CUDA GPU MemOps Summary (by Size)",
              {"Total (MB)", "Count", "Avg (MB)", "Med (MB)", "Min (MB)", "Max (MB)", "StdDev (MB)", "Operation"},
              {}};
  std::vector<std::pair<Group, Summary>> all;
  for (const auto& [name, values] : groups) all.emplace_back(name, Summary(values));
  std::ranges::sort(all, longest_first);
  for (const auto& [group, s] : all)
    table.rows.push_back({fmt::format("{:.3f}", s.total), fmt::to_string(groups.at(group).size()), fmt::format("{:.3f}", s.average),
                          fmt::format("{:.3f}", s.median), fmt::format("{:.3f}", s.least), fmt::format("{:.3f}", s.most),
                          fmt::format("{:.3f}", s.deviation), group.name});
  return table;
}

Groups of_ranges(const std::vector<Json>& timelines, const std::string& sort) {
  Groups groups;
  for (const Json& t : timelines)
    for (const Json& r : t["ranges"])
      groups[{sort, t["words"].at(r[0].get<size_t>()).get<std::string>()}].push_back(r[3].get<double>() - r[2].get<double>());
  return groups;
}

Table ranges(const std::vector<Json>& timelines) {
  return time_table("NVTX Range Summary", "Instances", {"Style", "Range"}, of_ranges(timelines, "PushPop"));
}
Table pushed_ranges(const std::vector<Json>& timelines) {
  return time_table("NVTX Push/Pop Range Summary", "Instances", {"Range"}, of_ranges(timelines, ""));
}

// What the device does, and with it what the host calls.
Table everything(const std::vector<Json>& timelines, bool calls) {
  Groups groups;
  for (const Json& t : timelines) {
    for (const Json& o : t["operations"]) {
      if (is_kernel(o)) groups[{"CUDA_KERNEL", word_of(t, o, "name")}].push_back(duration(o));
      if (is_memory(o)) groups[{"MEMORY_OPER", memory_operation(t, o)}].push_back(duration(o));
    }
    if (calls)
      for (const Json& c : t["calls"])
        groups[{"CUDA_API", t["words"].at(c[0].get<size_t>()).get<std::string>()}].push_back(c[4].get<double>() - c[3].get<double>());
  }
  return time_table(calls ? "CUDA Summary (API/Kernels/MemOps)" : "CUDA GPU Summary (Kernels/MemOps)", "Instances",
                    {"Category", "Operation"}, groups);
}

Table device_summary(const std::vector<Json>& timelines) { return everything(timelines, false); }
Table device_and_calls(const std::vector<Json>& timelines) { return everything(timelines, true); }

Table trace(const std::vector<Json>& timelines) {
  Table table{"CUDA GPU Trace",
              {"Start (ns)", "Duration (ns)", "CorrId",  "GrdX",         "GrdY",         "GrdZ",       "BlkX",
               "BlkY",       "BlkZ",          "Reg/Trd", "StcSMem (MB)", "DymSMem (MB)", "Bytes (MB)", "Throughput (MB/s)",
               "SrcMemKd",   "DstMemKd",      "Device",  "Ctx",          "GreenCtx",     "Strm",       "Name"},
              {}};
  std::vector<std::pair<const Json*, const Json*>> all;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"])
      if (is_kernel(o) || is_memory(o)) all.emplace_back(&t, &o);
  std::ranges::sort(all, {}, [](const auto& each) {
    return std::pair((*each.second)["begin"].template get<int64_t>(), (*each.second)["id"].template get<int64_t>());
  });
  for (const auto& [timeline, operation] : all) {
    const Json &t = *timeline, &o = *operation;
    Row row = {fmt::to_string(o["begin"].get<int64_t>()), fmt::format("{:.0f}", duration(o)), fmt::to_string(o["call"].get<int64_t>())};
    if (o.contains("grid")) {
      for (const char* which : {"grid", "block"})
        for (int k = 0; k < 3; ++k) row.push_back(fmt::to_string(o[which][static_cast<size_t>(k)].get<uint32_t>()));
      row.push_back(fmt::to_string(o["registers"].get<uint32_t>()));
      for (const char* which : {"static_shared", "dynamic_shared"}) row.push_back(fmt::format("{:.3f}", o[which].get<double>() * 1e-6));
      row.insert(row.end(), 4, "");
    } else {
      row.insert(row.end(), 9, "");
      const double bytes = o.value("bytes", 0.0), time = duration(o);
      row.push_back(fmt::format("{:.3f}", bytes * 1e-6));
      row.push_back(fmt::format("{:.3f}", time > 0 ? bytes / time * 1e3 : 0));
      row.push_back(word_of(t, o, "from"));
      row.push_back(o["kind"] == "fill" ? "Device" : word_of(t, o, "to"));
    }
    row.push_back(fmt::format("{} ({})", t["device"]["name"].get<std::string>(), o["device"].get<int>()));
    row.insert(row.end(),
               {"1", "", fmt::to_string(o["stream"].get<uint64_t>()), is_memory(o) ? memory_operation(t, o) : word_of(t, o, "name")});
    table.rows.push_back(std::move(row));
  }
  return table;
}

struct Report {
  const char* name;
  Table (*make)(const std::vector<Json>&);
};
constexpr Report kReports[] = {{"nvtx_sum", ranges},
                               {"cuda_api_sum", calls},
                               {"cuda_gpu_kern_sum", kernels},
                               {"cuda_gpu_mem_time_sum", memory_times},
                               {"cuda_gpu_mem_size_sum", memory_sizes},
                               {"cuda_gpu_trace", trace},
                               {"cuda_api_trace", api_trace},
                               {"cuda_gpu_sum", device_summary},
                               {"cuda_api_gpu_sum", device_and_calls},
                               {"cuda_kern_exec_sum", kernel_execution},
                               {"cuda_kern_exec_trace", kernel_execution_trace},
                               {"nvtx_pushpop_sum", pushed_ranges},
                               {"nvtx_pushpop_trace", range_trace},
                               {"nvtx_gpu_proj_sum", projected_ranges_summary},
                               {"nvtx_gpu_proj_trace", projected_ranges}};

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void print_csv(std::ostream& out, const Table& table) {
  const auto line = [&](const Row& row) {
    for (size_t k = 0; k < row.size(); ++k) out << (k ? "," : "") << csv_cell(row[k]);
    out << '\n';
  };
  line(table.columns);
  for (const Row& row : table.rows) line(row);
}

void print_table(std::ostream& out, const Table& table, const char* name) {
  out << fmt::format("\n ** {} ({}):\n\n", table.title, name);
  std::vector<size_t> widths;
  for (size_t k = 0; k < table.columns.size(); ++k) {
    widths.push_back(table.columns[k].size());
    for (const Row& row : table.rows) widths[k] = std::max(widths[k], row[k].size());
  }
  const auto line = [&](const Row& row) {
    std::string text;
    for (size_t k = 0; k < row.size(); ++k)
      text += k + table.texts < row.size() ? fmt::format(" {:>{}} ", row[k], widths[k]) : fmt::format(" {:<{}} ", row[k], widths[k]);
    while (text.ends_with(' ')) text.pop_back();
    out << text << '\n';
  };
  line(table.columns);
  Row dashes;
  for (size_t width : widths) dashes.push_back(std::string(width, '-'));
  line(dashes);
  for (const Row& row : table.rows) line(row);
}

}  // namespace

const std::vector<std::string>& stats_reports() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (const Report& report : kReports) names.push_back(report.name);
    return names;
  }();
  return names;
}

void print_stats(std::ostream& out, const std::vector<Json>& timelines, const std::string& report, StatsFormat format) {
  for (const Report& each : kReports)
    if (report == each.name) {
      const Table table = each.make(timelines);
      if (format == StatsFormat::Csv) print_csv(out, table);
      else print_table(out, table, each.name);
    }
}

}  // namespace warpbeam::report
