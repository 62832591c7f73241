// Timelines as nvprof prints them: its summary, --print-gpu-trace and --print-api-trace; as tables, or as --csv has them: names, units, and a line for each row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <ostream>
#include <string_view>

#include "report/timeline.h"

namespace warpbeam::report {

namespace {

std::string word(const Json& timeline, const Json& row, const char* key) {
  return row.contains(key) ? timeline["words"].at(row[key].get<size_t>()).get<std::string>() : "";
}

// Five digits, with the unit that leaves one to three before the point.
std::string scaled(double value, double step, std::initializer_list<std::string_view> units) {
  auto unit = units.begin();
  while (value >= step && unit + 1 != units.end()) value /= step, ++unit;
  if (unit == units.begin()) return fmt::format("{:.0f}{}", value, *unit);
  return fmt::format("{:.{}f}{}", value, value < 10 ? 4 : value < 100 ? 3 : 2, *unit);
}

std::string time_text(double nanoseconds) {
  if (nanoseconds >= 1e9) return fmt::format("{:.5f}s", nanoseconds * 1e-9);
  return scaled(nanoseconds, 1000, {"ns", "us", "ms"});
}
std::string size_text(double bytes) { return scaled(bytes, 1024, {"B", "KB", "MB", "GB"}); }
std::string speed_text(double bytes, double nanoseconds) {
  return nanoseconds > 0 ? scaled(bytes / nanoseconds * 1e9, 1024, {"B/s", "KB/s", "MB/s", "GB/s"}) : "-";
}

bool is_memory(const Json& o) { return o["kind"] == "copy" || o["kind"] == "fill"; }
bool is_kernel(const Json& o) { return o["kind"] == "kernel" || o["kind"] == "library"; }
double duration(const Json& o) { return o["end"].get<double>() - o["begin"].get<double>(); }

std::string name_of(const Json& t, const Json& o) {
  if (o["kind"] == "fill") return "[CUDA memset]";
  if (o["kind"] != "copy") return word(t, o, "name");
  const std::string from = word(t, o, "from"), to = word(t, o, "to");
  if (from == "Peer" || to == "Peer") return "[CUDA memcpy PtoP]";
  const auto letter = [](const std::string& place) { return place == "Device" ? 'D' : 'H'; };
  return fmt::format("[CUDA memcpy {}to{}]", letter(from), letter(to));
}

void head(std::ostream& out, const Json& t) {
  out << fmt::format("=={0}== Profiling application: {1}\n=={0}== Profiling result:\n", t["process"].get<int64_t>(),
                     t["program"].get<std::string>());
}

struct Group {
  std::string_view type;
  std::string name;
  double sum = 0, share = 0, least = 0, most = 0;  // share: percent of its type
  size_t count = 0;
};

// What took most of its type first.
std::vector<Group> groups(const Json& t) {
  std::map<std::string, std::vector<double>> device, calls;
  for (const Json& o : t["operations"])
    if (is_kernel(o) || is_memory(o)) device[name_of(t, o)].push_back(duration(o));
  for (const Json& c : t["calls"])
    calls[t["words"].at(c[0].get<size_t>()).get<std::string>()].push_back(c[4].get<double>() - c[3].get<double>());
  std::vector<Group> all;
  for (const auto& [type, values] : {std::pair("GPU activities", &device), std::pair("API calls", &calls)}) {
    const size_t first = all.size();
    double sum = 0;
    for (const auto& [name, each] : *values) {
      const auto [least, most] = std::ranges::minmax(each);
      all.push_back({type, name, std::accumulate(each.begin(), each.end(), 0.0), 0, least, most, each.size()});
      sum += all.back().sum;
    }
    for (size_t k = first; k < all.size(); ++k) all[k].share = sum > 0 ? 100 * all[k].sum / sum : 0;
    std::stable_sort(all.begin() + static_cast<long>(first), all.end(), [](const Group& x, const Group& y) { return x.sum > y.sum; });
  }
  return all;
}

void print_summary(std::ostream& out, const Json& t) {
  head(out, t);
  out << fmt::format("{:>16}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", "Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max",
                     "Name");
  std::string_view before;
  for (const Group& g : groups(t)) {
    out << fmt::format("{:>16}  {:>6.2f}%  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", g.type == before ? "" : fmt::format("{}:", g.type),
                       g.share, time_text(g.sum), g.count, time_text(g.sum / static_cast<double>(g.count)), time_text(g.least),
                       time_text(g.most), g.name);
    before = g.type;
  }
}

std::vector<const Json*> in_order(const Json& t) {
  std::vector<const Json*> all;
  for (const Json& o : t["operations"])
    if (is_kernel(o) || is_memory(o)) all.push_back(&o);
  std::ranges::sort(all, {}, [](const Json* o) { return std::pair((*o)["begin"].get<int64_t>(), (*o)["id"].get<int64_t>()); });
  return all;
}

void print_gpu_trace(std::ostream& out, const Json& t) {
  head(out, t);
  out << "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name\n";
  const std::string device = t["device"]["name"].get<std::string>();
  for (const Json* each : in_order(t)) {
    const Json& o = *each;
    const auto three = [&](const char* key) {
      return fmt::format("({} {} {})", o[key][0].get<int64_t>(), o[key][1].get<int64_t>(), o[key][2].get<int64_t>());
    };
    std::string grid = "-", block = "-", registers = "-", fixed = "-", dynamic = "-", size = "-", speed = "-", from = "-", to = "-";
    if (o.contains("grid")) {
      grid = three("grid"), block = three("block");
      registers = fmt::to_string(o["registers"].get<int64_t>());
      fixed = size_text(o["static_shared"].get<double>()), dynamic = size_text(o["dynamic_shared"].get<double>());
    }
    if (is_memory(o)) {
      size = size_text(o.value("bytes", 0.0)), speed = speed_text(o.value("bytes", 0.0), duration(o));
      from = o["kind"] == "fill" ? "Device" : word(t, o, "from");
      to = o["kind"] == "fill" ? "-" : word(t, o, "to");
    }
    out << fmt::format("{:>8}  {:>8}  {:>19}  {:>14}  {:>8}  {:>8}  {:>8}  {:>8}  {:>10}  {:>10}  {:>10}  {:>15}  {:>8}  {:>8}  {}\n",
                       time_text(o["begin"].get<double>()), time_text(duration(o)), grid, block, registers, fixed, dynamic, size, speed,
                       from, to, fmt::format("{} ({})", device.substr(0, 11), o["device"].get<int>()), 1, o["stream"].get<uint64_t>(),
                       is_memory(o) ? name_of(t, o) : fmt::format("{} [{}]", name_of(t, o), o["call"].get<int64_t>()));
  }
  out << "\nRegs: Number of registers used per CUDA thread.\nSSMem: Static shared memory allocated per CUDA block.\nDSMem: Dynamic shared memory allocated per CUDA block.\n"
         "SrcMemType: The type of source memory accessed by memory operation/copy\nDstMemType: The type of destination memory accessed by memory operation/copy\n";
}

struct Call {
  double begin, end;
  std::string name;
};

std::vector<Call> calls_in_order(const Json& t) {
  std::vector<const Json*> all;
  for (const Json& c : t["calls"]) all.push_back(&c);
  std::ranges::stable_sort(all, {}, [](const Json* c) { return (*c)[3].get<int64_t>(); });
  std::map<int64_t, const Json*> launches;
  for (const Json& o : t["operations"])
    if (is_kernel(o)) launches.try_emplace(o["call"].get<int64_t>(), &o);
  std::vector<Call> calls;
  for (const Json* c : all) {
    const auto launch = launches.find((*c)[2].get<int64_t>());
    const std::string what = launch == launches.end() ? "" : fmt::format(" ({} [{}])", name_of(t, *launch->second), launch->first);
    calls.push_back({(*c)[3].get<double>(), (*c)[4].get<double>(), t["words"].at((*c)[0].get<size_t>()).get<std::string>() + what});
  }
  return calls;
}

void print_api_trace(std::ostream& out, const Json& t) {
  head(out, t);
  out << "   Start  Duration  Name\n";
  for (const Call& c : calls_in_order(t)) out << fmt::format("{:>8}  {:>8}  {}\n", time_text(c.begin), time_text(c.end - c.begin), c.name);
}

// --- --csv

std::string csv_text(std::string_view text) {
  std::string all = "\"";
  for (char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + '"';
}
std::string ms(double nanoseconds) { return fmt::format("{:.6f}", nanoseconds * 1e-6); }
std::string us(double nanoseconds) { return fmt::format("{:.3f}", nanoseconds * 1e-3); }

void print_summary_csv(std::ostream& out, const Json& t) {
  out << "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,us,us,us,\n";
  for (const Group& g : groups(t))
    out << fmt::format("{},{:.6f},{},{},{},{},{},{}\n", csv_text(g.type), g.share, ms(g.sum), g.count,
                       us(g.sum / static_cast<double>(g.count)), us(g.least), us(g.most), csv_text(g.name));
}

void print_gpu_trace_csv(std::ostream& out, const Json& t) {
  out << "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\","
         "\"SrcMemType\",\"DstMemType\",\"Device\",\"Context\",\"Stream\",\"Name\",\"Correlation_ID\"\nms,us,,,,,,,,KB,KB,MB,GB/s,,,,,,,\n";
  const auto three = [](const Json& o, const char* key) {
    return o.contains(key) ? fmt::format("{},{},{}", o[key][0].get<int64_t>(), o[key][1].get<int64_t>(), o[key][2].get<int64_t>()) : ",,";
  };
  constexpr double kKiB = 1024, kMiB = kKiB * kKiB, kGiB = kMiB * kKiB;
  for (const Json* each : in_order(t)) {
    const Json& o = *each;
    std::string shape = ",,", memory = ",,,";  // registers and shared memory; size, speed, from, to
    if (o.contains("grid"))
      shape = fmt::format("{},{:.6f},{:.6f}", o["registers"].get<int64_t>(), o["static_shared"].get<double>() / kKiB,
                          o["dynamic_shared"].get<double>() / kKiB);
    if (const double bytes = o.value("bytes", 0.0), time = duration(o); is_memory(o)) {
      const bool fill = o["kind"] == "fill";
      memory = fmt::format("{:.6f},{},{},{}", bytes / kMiB, time > 0 ? fmt::format("{:.6f}", bytes / time * 1e9 / kGiB) : "",
                           csv_text(fill ? "Device" : word(t, o, "from")), fill ? "" : csv_text(word(t, o, "to")));
    }
    out << fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", ms(o["begin"].get<double>()), us(duration(o)), three(o, "grid"),
                       three(o, "block"), shape, memory,
                       csv_text(fmt::format("{} ({})", t["device"]["name"].get<std::string>(), o["device"].get<int>())), 1,
                       o["stream"].get<uint64_t>(), csv_text(name_of(t, o)), o["call"].get<int64_t>());
  }
}

void print_api_trace_csv(std::ostream& out, const Json& t) {
  out << "\"Start\",\"Duration\",\"Name\"\nms,us,\n";
  for (const Call& c : calls_in_order(t)) out << fmt::format("{},{},{}\n", ms(c.begin), us(c.end - c.begin), csv_text(c.name));
}

}  // namespace

void print_nvprof(std::ostream& out, const std::vector<Json>& timelines, NvprofForm form, StatsFormat format) {
  const bool csv = format == StatsFormat::Csv;
  for (const Json& t : timelines) {
    if (&t != &timelines.front()) out << '\n';
    switch (form) {
      case NvprofForm::Summary: csv ? print_summary_csv(out, t) : print_summary(out, t); break;
      case NvprofForm::GpuTrace: csv ? print_gpu_trace_csv(out, t) : print_gpu_trace(out, t); break;
      case NvprofForm::ApiTrace: csv ? print_api_trace_csv(out, t) : print_api_trace(out, t); break;
    }
  }
}

}  // namespace warpbeam::report
