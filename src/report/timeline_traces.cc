// The reports that tell of single calls and ranges, and of what both have to do with the device.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/timeline_tables.h"

namespace warpbeam::report {

namespace {

std::string text(int64_t n) { return fmt::to_string(n); }

std::string name_of_call(const Json& t, const Json& call) { return t["words"].at(call[0].get<size_t>()).get<std::string>(); }

struct Launch {
  int64_t called, call_takes, waits, begins, takes;
  const Json *timeline, *call, *kernel;
  int64_t all() const { return begins + takes - called; }
};

// Kernels with the calls that asked for them, in the order of these.
std::vector<Launch> launches_of(const std::vector<Json>& timelines) {
  std::vector<Launch> all;
  for (const Json& t : timelines) {
    std::map<int64_t, const Json*> calls;
    for (const Json& c : t["calls"]) calls[c[2].get<int64_t>()] = &c;
    for (const Json& o : t["operations"]) {
      if (o["kind"] != "kernel" || o.contains("parent")) continue;  // no call has launched it
      const auto found = calls.find(o["call"].get<int64_t>());
      if (found == calls.end()) continue;
      const Json& c = *found->second;
      const int64_t begin = c[3].get<int64_t>(), end = c[4].get<int64_t>(), runs = o["begin"].get<int64_t>();
      all.push_back({begin, end - begin, std::max<int64_t>(0, runs - end), runs, o["end"].get<int64_t>() - runs, &t, &c, &o});
    }
  }
  std::ranges::stable_sort(all, {}, &Launch::called);
  return all;
}

// Ranges of a thread, and how they lie in each other.
struct Range {
  const Json *timeline, *json;
  int64_t id, parent = 0, begin, end, in_children = 0;
  int level = 0, children = 0;
  std::string name, stack, path;
  std::string thread() const { return text((*json)[1].get<int64_t>()); }
  std::string process() const { return text((*timeline)["process"].get<int64_t>()); }
};

std::vector<Range> ranges_of(const std::vector<Json>& timelines) {
  std::vector<Range> all;
  for (const Json& t : timelines) {
    std::map<int64_t, std::vector<const Json*>> threads;
    for (const Json& r : t["ranges"]) threads[r[1].get<int64_t>()].push_back(&r);
    for (auto& [thread, of_thread] : threads) {
      std::ranges::stable_sort(of_thread, {}, [](const Json* r) { return std::pair((*r)[2].get<int64_t>(), -(*r)[3].get<int64_t>()); });
      std::vector<size_t> open;
      for (const Json* r : of_thread) {
        Range range{&t,
                    r,
                    static_cast<int64_t>(all.size()) + 1,
                    0,
                    (*r)[2].get<int64_t>(),
                    (*r)[3].get<int64_t>(),
                    0,
                    0,
                    0,
                    t["words"].at((*r)[0].get<size_t>()).get<std::string>(),
                    "",
                    ""};
        while (!open.empty() && all[open.back()].end < range.end) open.pop_back();
        range.level = static_cast<int>(open.size());
        if (!open.empty()) {
          Range& parent = all[open.back()];
          range.parent = parent.id;
          parent.in_children += range.end - range.begin, ++parent.children;
          range.stack = parent.stack, range.path = parent.path;
        }
        range.stack += fmt::format(":{}", range.id);
        range.path += range.name;
        open.push_back(all.size());
        all.push_back(std::move(range));
      }
    }
  }
  return all;
}

struct Projected {
  int64_t begin = 0, end = 0, operations = 0;
};

// From the first to the last of what calls within a range asked the device for.
std::vector<Projected> projections_of(const std::vector<Range>& ranges) {
  std::vector<Projected> all(ranges.size());
  for (size_t k = 0; k < ranges.size(); ++k) {
    const Json& t = *ranges[k].timeline;
    std::map<int64_t, bool> within;
    for (const Json& c : t["calls"])
      if (c[1] == (*ranges[k].json)[1] && c[3].get<int64_t>() >= ranges[k].begin && c[4].get<int64_t>() <= ranges[k].end)
        within[c[2].get<int64_t>()] = true;
    Projected& p = all[k];
    for (const Json& o : t["operations"]) {
      if ((!is_kernel(o) && !is_memory(o)) || !within.contains(o["call"].get<int64_t>())) continue;
      const int64_t begin = o["begin"].get<int64_t>(), end = o["end"].get<int64_t>();
      p.begin = p.operations ? std::min(p.begin, begin) : begin;
      p.end = std::max(p.end, end);
      ++p.operations;
    }
  }
  return all;
}

void add(Row& row, const Summary& s) {
  for (double v : {s.average, s.median}) row.push_back(fmt::format("{:.1f}", v));
  for (double v : {s.least, s.most}) row.push_back(fmt::format("{:.0f}", v));
  row.push_back(fmt::format("{:.1f}", s.deviation));
}

}  // namespace

Table api_trace(const std::vector<Json>& timelines) {
  Table table{"CUDA API Trace", {"Start (ns)", "Duration (ns)", "Name", "Result", "CorrID", "Pid", "Tid", "T-Pri", "Thread Name"}, {}};
  std::vector<std::pair<const Json*, const Json*>> all;
  for (const Json& t : timelines)
    for (const Json& c : t["calls"]) all.emplace_back(&t, &c);
  std::ranges::stable_sort(all, {}, [](const auto& each) { return (*each.second)[3].template get<int64_t>(); });
  for (const auto& [timeline, call] : all) {
    const Json &t = *timeline, &c = *call;
    table.rows.push_back({text(c[3].get<int64_t>()), text(c[4].get<int64_t>() - c[3].get<int64_t>()), name_of_call(t, c), "0",
                          text(c[2].get<int64_t>()), text(t["process"].get<int64_t>()), text(c[1].get<int64_t>()), "20", "thread"});
  }
  return table;
}

Table kernel_execution_trace(const std::vector<Json>& timelines) {
  Table table{"CUDA Kernel Launch & Exec Time Trace",
              {"API Start (ns)", "API Dur (ns)", "Queue Start (ns)", "Queue Dur (ns)", "Kernel Start (ns)", "Kernel Dur (ns)",
               "Total Dur (ns)", "PID", "TID", "DevId", "API Function", "GridXYZ", "BlockXYZ", "Kernel Name"},
              {},
              4};
  for (const Launch& l : launches_of(timelines)) {
    const Json &t = *l.timeline, &o = *l.kernel;
    const auto three = [&](const char* key) {
      return fmt::format("{:>4} {:>4} {:>4}", o[key][0].get<int64_t>(), o[key][1].get<int64_t>(), o[key][2].get<int64_t>());
    };
    const bool queued = l.waits > 0;
    table.rows.push_back({text(l.called), text(l.call_takes), queued ? text(l.begins - l.waits) : "", queued ? text(l.waits) : "",
                          text(l.begins), text(l.takes), text(l.all()), text(t["process"].get<int64_t>()),
                          text((*l.call)[1].get<int64_t>()), text(o["device"].get<int64_t>()), name_of_call(t, *l.call), three("grid"),
                          three("block"), word_of(t, o, "name")});
  }
  return table;
}

Table kernel_execution(const std::vector<Json>& timelines) {
  Table table{"CUDA Kernel Launch & Exec Time Summary", {"PID", "TID", "DevId", "Count", "QCount"}, {}, 2};
  for (const char* what : {"T", "A", "Q", "K"})
    for (const char* of : {"Avg", "Med", "Min", "Max", "StdDev"}) table.columns.push_back(fmt::format("{}{} (ns)", what, of));
  table.columns.insert(table.columns.end(), {"API Name", "Kernel Name"});
  std::map<std::tuple<int64_t, int64_t, int64_t, std::string, std::string>, std::vector<Launch>> groups;
  for (const Launch& l : launches_of(timelines)) {
    const Json &t = *l.timeline, &o = *l.kernel;
    groups[{t["process"].get<int64_t>(), (*l.call)[1].get<int64_t>(), o["device"].get<int64_t>(), name_of_call(t, *l.call),
            word_of(t, o, "name")}]
        .push_back(l);
  }
  std::vector<std::pair<double, Row>> rows;
  for (const auto& [key, launches] : groups) {
    std::vector<double> all, calls, waits, kernels;
    for (const Launch& l : launches) {
      all.push_back(static_cast<double>(l.all()));
      calls.push_back(static_cast<double>(l.call_takes));
      if (l.waits > 0) waits.push_back(static_cast<double>(l.waits));
      kernels.push_back(static_cast<double>(l.takes));
    }
    const auto& [process, thread, device, call, kernel] = key;
    Row row = {text(process), text(thread), text(device), fmt::to_string(launches.size()), fmt::to_string(waits.size())};
    for (const auto* values : {&all, &calls, &waits, &kernels}) add(row, Summary(*values));
    row.insert(row.end(), {call, kernel});
    rows.emplace_back(-Summary(all).total, std::move(row));
  }
  std::ranges::sort(rows);
  for (auto& [order, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

Table range_trace(const std::vector<Json>& timelines) {
  Table table{"NVTX Push/Pop Range Trace",
              {"Start (ns)", "End (ns)", "Duration (ns)", "DurChild (ns)", "DurNonChild (ns)", "Name", "PID", "TID", "Lvl", "NumChild",
               "RangeId", "ParentId", "RangeStack", "NameTree"},
              {},
              2};
  for (const Range& r : ranges_of(timelines)) {
    const int64_t takes = r.end - r.begin;
    table.rows.push_back({text(r.begin), text(r.end), text(takes), text(r.in_children), text(takes - r.in_children), r.name, r.process(),
                          r.thread(), text(r.level), text(r.children), text(r.id), r.parent ? text(r.parent) : "", r.stack, r.path});
  }
  std::ranges::stable_sort(table.rows, {}, [](const Row& row) { return std::stoll(row[0]); });
  return table;
}

Table projected_ranges(const std::vector<Json>& timelines) {
  Table table{"NVTX GPU Projection Trace",
              {"Name", "Projected Start (ns)", "Projected Duration (ns)", "Orig Start (ns)", "Orig Duration (ns)", "Style", "PID", "TID",
               "NumGPUOps", "Lvl", "NumChild", "RangeId", "ParentId", "RangeStack"},
              {}};
  const std::vector<Range> ranges = ranges_of(timelines);
  const std::vector<Projected> projections = projections_of(ranges);
  for (size_t k = 0; k < ranges.size(); ++k) {
    const Range& r = ranges[k];
    const Projected& p = projections[k];
    if (p.operations == 0) continue;
    table.rows.push_back({r.name, text(p.begin), text(p.end - p.begin), text(r.begin), text(r.end - r.begin), "PushPop", r.process(),
                          r.thread(), text(p.operations), text(r.level), text(r.children), text(r.id), r.parent ? text(r.parent) : "",
                          r.stack});
  }
  std::ranges::stable_sort(table.rows, {}, [](const Row& row) { return std::stoll(row[1]); });
  return table;
}

Table projected_ranges_summary(const std::vector<Json>& timelines) {
  Table table{"NVTX GPU Projection Summary",
              {"Range", "Style", "Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances", "Proj Avg (ns)", "Proj Med (ns)",
               "Proj Min (ns)", "Proj Max (ns)", "Proj StdDev (ns)", "Total GPU Ops", "Avg GPU Ops", "Avg Range Lvl", "Avg Num Child"},
              {}};
  const std::vector<Range> ranges = ranges_of(timelines);
  const std::vector<Projected> projections = projections_of(ranges);
  struct Sum {
    std::vector<double> takes;
    double in_range = 0, operations = 0, levels = 0, children = 0;
  };
  std::map<std::string, Sum> groups;
  for (size_t k = 0; k < ranges.size(); ++k) {
    if (projections[k].operations == 0) continue;
    Sum& sum = groups[ranges[k].name];
    sum.takes.push_back(static_cast<double>(projections[k].end - projections[k].begin));
    sum.in_range += static_cast<double>(ranges[k].end - ranges[k].begin);
    sum.operations += static_cast<double>(projections[k].operations);
    sum.levels += ranges[k].level, sum.children += ranges[k].children;
  }
  std::vector<std::pair<double, Row>> rows;
  for (const auto& [name, sum] : groups) {
    const Summary s(sum.takes);
    const auto n = static_cast<double>(sum.takes.size());
    Row row = {name, "PushPop", fmt::format("{:.0f}", s.total), fmt::format("{:.0f}", sum.in_range), fmt::to_string(sum.takes.size())};
    add(row, s);
    row.push_back(fmt::format("{:.0f}", sum.operations));
    for (double v : {sum.operations / n, sum.levels / n, sum.children / n}) row.push_back(fmt::format("{:.1f}", v));
    rows.emplace_back(-s.total, std::move(row));
  }
  std::ranges::sort(rows);
  for (auto& [order, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace warpbeam::report
