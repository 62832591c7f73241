#include "report/details.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace warpbeam::report {
namespace {

std::string extents(const Json& shape) {
  return fmt::format("({}, {}, {})", shape[0].get<uint32_t>(), shape[1].get<uint32_t>(), shape[2].get<uint32_t>());
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
  out << fmt::format("{}, compute capability {}.{}. {}\n", device["name"].get<std::string>(),
                     device["major"].get<int>(), device["minor"].get<int>(), recording["basis"].get<std::string>());
  out << "Class F: exact from what the program executed. S: static, or decided at the launch.\n";
  size_t name_width = 6, unit_width = 4;
  for (const Column& column : columns) {
    name_width = std::max(name_width, column.name.size());
    unit_width = std::max(unit_width, column.unit.size());
  }
  for (const Json& launch : recording["launches"]) {
    out << fmt::format("\n  [{}] {}\n", launch["id"].get<uint64_t>(), launch_title(launch));
    if (launch.contains("trap"))
      out << fmt::format("      The kernel failed ({}); counts go as far as it came.\n",
                         launch["trap"].get<std::string>());
    const Json& occupancy = launch["occupancy"];
    std::string limits;
    for (const Json& limit : occupancy["limited_by"]) limits += (limits.empty() ? "" : ", ") + limit.get<std::string>();
    out << fmt::format(
        "      {} resident blocks on a multiprocessor, {} of {} warps{} (registers: {})\n",
        occupancy["resident_blocks"].get<uint64_t>(), occupancy["resident_warps"].get<uint64_t>(),
        device["max_warps"].get<uint64_t>(), limits.empty() ? "" : "; limited by " + limits,
        launch.value("registers_from", "estimate") == "ptxas" ? "as ptxas allots them" : "estimated from the PTX");
    out << fmt::format("      {:<{}}  {:<{}}  {:>16}\n", "Metric", name_width, "Unit", unit_width, "Value");
    for (const Column& column : columns)
      out << fmt::format("    {} {:<{}}  {:<{}}  {:>16}\n", column.cls, column.name, name_width, column.unit,
                         unit_width, value_text(device, launch, column));
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
