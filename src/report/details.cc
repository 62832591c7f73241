#include "report/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

namespace warpbeam::report {
namespace {

struct TimeUnit {
  const char* name;
  double ns;
};

TimeUnit unit_for(double ns) {
  for (const TimeUnit unit : {TimeUnit{"s", 1e9}, TimeUnit{"ms", 1e6}, TimeUnit{"µs", 1e3}})
    if (ns >= unit.ns) return unit;
  return {"ns", 1};
}

// Three digits.
std::string in_unit(double ns, TimeUnit unit) {
  const double value = ns / unit.ns;
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

bool has_times(const Json& recording) {
  return std::ranges::any_of(recording["launches"], [](const Json& launch) { return launch.contains("predicted"); });
}

std::string extents(const Json& shape) {
  return fmt::format("({}, {}, {})", shape[0].get<uint32_t>(), shape[1].get<uint32_t>(), shape[2].get<uint32_t>());
}

std::string line_text(const Json& recording, const Json& line) {
  const int file = line["file"];
  if (file < 0) return "(no line)";
  const std::string path = recording["files"][static_cast<size_t>(file)];
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line["line"].get<uint32_t>());
}

// How long, what bounds it, why warps wait.
void print_prediction(std::ostream& out, const Json& recording, const Json& launch) {
  if (!launch.contains("predicted")) return;
  constexpr size_t kReasons = 3;
  const Json& p = launch["predicted"];
  const double ns = p["ns"];
  const TimeUnit unit = unit_for(ns);
  out << fmt::format("      {} {}, {} to {}, predicted\n", in_unit(ns, unit), unit.name, in_unit(p["low"], unit), in_unit(p["high"], unit));
  out << fmt::format("      bound by {}\n", p["bound_by"].get<std::string>());
  for (size_t k = 0; k < std::min(kReasons, p["stalls"].size()); ++k) {
    const Json& stall = p["stalls"][k];
    std::string lines;
    for (const Json& line : stall["lines"])
      lines += fmt::format("{} {} {:.0f} %", lines.empty() ? ":" : ",", line_text(recording, line), line["percent"].get<double>());
    out << fmt::format("      {} {:3.0f} % {} ({}){}\n", k ? "          " : "warps wait", stall["percent"].get<double>(),
                       stall["name"].get<std::string>(), stall["about"].get<std::string>(), lines);
  }
}

// All launches of each kernel together, those that take longest first.
void print_summary(std::ostream& out, const Json& recording) {
  constexpr size_t kMany = 3;  // more launches than that are hard to take in one by one
  struct Kernel {
    std::string name;
    size_t launches = 0;
    double ns = 0, low = 0, high = 0;
    std::map<std::string, double> bounds;
  };
  std::vector<Kernel> kernels;
  double all = 0;
  for (const Json& launch : recording["launches"]) {
    if (!launch.contains("predicted")) continue;
    const std::string name = spaced_name(launch["kernel"]);
    auto kernel = std::ranges::find(kernels, name, &Kernel::name);
    if (kernel == kernels.end()) kernel = kernels.insert(kernels.end(), Kernel{name, 0, 0, 0, 0, {}});
    const Json& p = launch["predicted"];
    ++kernel->launches;
    kernel->ns += p["ns"].get<double>(), kernel->low += p["low"].get<double>(), kernel->high += p["high"].get<double>();
    kernel->bounds[p["bound"]] += p["ns"].get<double>();
    all += p["ns"].get<double>();
  }
  if (kernels.empty() || recording["launches"].size() <= kMany) return;
  std::ranges::sort(kernels, {}, [](const Kernel& k) { return std::pair(-k.ns, k.name); });
  size_t width = 6;
  for (const Kernel& kernel : kernels) width = std::max(width, std::min<size_t>(60, kernel.name.size()));
  const TimeUnit unit = unit_for(kernels[0].ns);
  out << fmt::format("\n  {:<{}}  {:>8}  {:>10}  {:>21}  {:>5}  {}\n", "Kernel", width, "Launches", fmt::format("Time, {}", unit.name),
                     "Interval", "Share", "Bound by");
  for (const Kernel& kernel : kernels) {
    const auto most = std::ranges::max_element(kernel.bounds, {}, [](const auto& b) { return b.second; });
    out << fmt::format("  {:<{}}  {:>8}  {:>10}  {:>21}  {:>3.0f} %  {}\n",
                       kernel.name.size() > width ? kernel.name.substr(0, width - 1) + "…" : kernel.name, width, kernel.launches,
                       in_unit(kernel.ns, unit), fmt::format("{} to {}", in_unit(kernel.low, unit), in_unit(kernel.high, unit)),
                       all > 0 ? 100 * kernel.ns / all : 0, most->first);
  }
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string launch_title(const Json& launch) {
  return fmt::format("{} {}x{}", spaced_name(launch["kernel"]), extents(launch["grid"]), extents(launch["block"]));
}

void print_details(std::ostream& out, const Json& recording, const std::vector<Column>& columns) {
  const Json& device = recording["device"];
  if (recording["launches"].empty()) {
    out << "No launch was profiled.\n";
    return;
  }
  out << fmt::format("{}, compute capability {}.{}. {}\n", device["name"].get<std::string>(), device["major"].get<int>(),
                     device["minor"].get<int>(), recording["basis"].get<std::string>());
  if (has_times(recording))
    out << fmt::format(
        "Times are predicted for this GPU at {:.0f} MHz, not measured: nine of ten are meant to lie in the interval; docs/timing.md says how well they do.\n",
        device["clock_mhz"].get<double>());
  out << "Class F: exact from what the program executed. S: static, or decided at the launch.";
  out << (std::ranges::any_of(columns, &Column::needs_times) ? " C, T: predicted, by models of the caches and of time.\n" : "\n");
  print_summary(out, recording);
  size_t name_width = 6, unit_width = 4;
  for (const Column& column : columns) {
    name_width = std::max(name_width, column.name.size());
    unit_width = std::max(unit_width, column.unit.size());
  }
  for (const Json& launch : recording["launches"]) {
    out << fmt::format("\n  [{}] {}\n", launch["id"].get<uint64_t>(), launch_title(launch));
    if (launch.contains("trap"))
      out << fmt::format("      The kernel failed ({}); counts go as far as it came.\n", launch["trap"].get<std::string>());
    print_prediction(out, recording, launch);
    const Json& occupancy = launch["occupancy"];
    std::string limits;
    for (const Json& limit : occupancy["limited_by"]) limits += (limits.empty() ? "" : ", ") + limit.get<std::string>();
    out << fmt::format("      {} resident blocks on a multiprocessor, {} of {} warps{} (registers: {})\n",
                       occupancy["resident_blocks"].get<uint64_t>(), occupancy["resident_warps"].get<uint64_t>(),
                       device["max_warps"].get<uint64_t>(), limits.empty() ? "" : "; limited by " + limits,
                       launch.value("registers_from", "estimate") == "ptxas" ? "as ptxas allots them" : "estimated from the PTX");
    out << fmt::format("      {:<{}}  {:<{}}  {:>16}\n", "Metric", name_width, "Unit", unit_width, "Value");
    for (const Column& column : columns) {
      const std::string value = value_text(device, launch, column);
      const std::string more = value == "n/a" ? reason_text(launch, column) : interval_text(launch, column);
      out << fmt::format("    {} {:<{}}  {:<{}}  {:>16}{}{}\n", column.cls, column.name, name_width, column.unit, unit_width, value,
                         more.empty() ? "" : "  ", more);
    }
  }
}

void print_csv(std::ostream& out, const Json& recording, const std::vector<Column>& columns) {
  out << "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"";
  for (const Column& column : columns) out << ',' << quoted(column.name);
  out << "\n\"\",\"\",\"\",\"\"";
  for (const Column& column : columns) out << ',' << quoted(column.unit);
  out << '\n';
  for (const Json& launch : recording["launches"]) {
    out << fmt::format("\"{}\",{},\"{}\",\"{}\"", launch["id"].get<uint64_t>(), quoted(spaced_name(launch["kernel"])),
                       extents(launch["block"]), extents(launch["grid"]));
    for (const Column& column : columns) out << ",\"" << value_text(recording["device"], launch, column) << '"';
    out << '\n';
  }
}

}  // namespace warpbeam::report
