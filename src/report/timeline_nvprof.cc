// Timelines as nvprof prints them: its summary, --print-gpu-trace and --print-api-trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
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

void print_summary(std::ostream& out, const Json& t) {
  using Groups = std::map<std::string, std::vector<double>>;
  Groups device, calls, ranges;
  for (const Json& o : t["operations"])
    if (is_kernel(o) || is_memory(o)) device[name_of(t, o)].push_back(duration(o));
  for (const Json& c : t["calls"])
    calls[t["words"].at(c[0].get<size_t>()).get<std::string>()].push_back(c[4].get<double>() - c[3].get<double>());
  head(out, t);
  out << fmt::format("{:>16}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", "Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max",
                     "Name");
  const auto part = [&](std::string_view type, const Groups& groups) {
    double all = 0;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, values] : groups) {
      double sum = 0;
      for (double v : values) sum += v;
      all += sum;
      order.emplace_back(-sum, name);
    }
    std::ranges::sort(order);
    for (const auto& [sum, name] : order) {
      const auto& values = groups.at(name);
      const auto [least, most] = std::ranges::minmax(values);
      out << fmt::format("{:>16}  {:>6.2f}%  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {}\n", type, all > 0 ? -100 * sum / all : 0,
                         time_text(-sum), values.size(), time_text(-sum / static_cast<double>(values.size())), time_text(least),
                         time_text(most), name);
      type = "";
    }
  };
  part("GPU activities:", device);
  part("API calls:", calls);
}

void print_gpu_trace(std::ostream& out, const Json& t) {
  head(out, t);
  out << "   Start  Duration            Grid Size      Block Size     Regs*    SSMem*    DSMem*      Size  Throughput  SrcMemType  DstMemType           Device   Context    Stream  Name\n";
  std::vector<const Json*> all;
  for (const Json& o : t["operations"])
    if (is_kernel(o) || is_memory(o)) all.push_back(&o);
  std::ranges::sort(all, {}, [](const Json* o) { return std::pair((*o)["begin"].get<int64_t>(), (*o)["id"].get<int64_t>()); });
  const std::string device = t["device"]["name"].get<std::string>();
  for (const Json* each : all) {
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

void print_api_trace(std::ostream& out, const Json& t) {
  head(out, t);
  out << "   Start  Duration  Name\n";
  std::vector<const Json*> all;
  for (const Json& c : t["calls"]) all.push_back(&c);
  std::ranges::stable_sort(all, {}, [](const Json* c) { return (*c)[3].get<int64_t>(); });
  std::map<int64_t, const Json*> launches;
  for (const Json& o : t["operations"])
    if (is_kernel(o)) launches.try_emplace(o["call"].get<int64_t>(), &o);
  for (const Json* c : all) {
    const auto launch = launches.find((*c)[2].get<int64_t>());
    const std::string what = launch == launches.end() ? "" : fmt::format(" ({} [{}])", name_of(t, *launch->second), launch->first);
    out << fmt::format("{:>8}  {:>8}  {}{}\n", time_text((*c)[3].get<double>()), time_text((*c)[4].get<double>() - (*c)[3].get<double>()),
                       t["words"].at((*c)[0].get<size_t>()).get<std::string>(), what);
  }
}

}  // namespace

void print_nvprof(std::ostream& out, const std::vector<Json>& timelines, NvprofForm form) {
  for (const Json& t : timelines) {
    if (&t != &timelines.front()) out << '\n';
    switch (form) {
      case NvprofForm::Summary: print_summary(out, t); break;
      case NvprofForm::GpuTrace: print_gpu_trace(out, t); break;
      case NvprofForm::ApiTrace: print_api_trace(out, t); break;
    }
  }
}

}  // namespace warpbeam::report
