#include "report/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "report/details.h"

namespace warpbeam::report {
namespace {

struct Field {
  const char* title;
  std::vector<const char*> names;  // summed
};

// Local memory goes the way of global memory.
const std::vector<Field> kFields = {
    {"executed", {"executed"}},
    {"threads", {"threads"}},
    {"divergent", {"divergent"}},
    {"sectors", {"global_transactions", "local_transactions"}},
    {"ideal", {"global_ideal_sectors", "local_ideal_sectors"}},
    {"wavefronts", {"shared_wavefronts"}},
    {"ideal", {"shared_ideal_wavefronts"}},
};

using Numbers = std::vector<uint64_t>;

// Cycles that warps wait there, as predicted.
struct Waits {
  double cycles = 0;
  std::string reason;  // the one that takes most of them
};

struct Row {
  std::string place;  // "file.cu:12" or the PTX line
  std::string text;
  Numbers numbers;
  Waits waits;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Numbers numbers_of(const Json& line) {
  Numbers out;
  for (const Field& field : kFields) {
    uint64_t sum = 0;
    for (const char* name : field.names)
      if (const auto found = line.find(name); found != line.end() && found->is_number_unsigned()) sum += found->get<uint64_t>();
    out.push_back(sum);
  }
  return out;
}

Waits waits_of(const Json& stalls) {
  Waits waits;
  double most = 0;
  for (const auto& [reason, cycles] : stalls.items()) {
    waits.cycles += cycles.get<double>();
    if (cycles.get<double>() > most) most = cycles.get<double>(), waits.reason = reason;
  }
  return waits;
}

double share(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

double all_waits(const std::vector<Row>& rows) {
  double sum = 0;
  for (const Row& row : rows) sum += row.waits.cycles;
  return sum;
}

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<Row> source_rows(const Json& recording, const Json& launch) {
  std::map<int, std::vector<std::string>> texts;
  std::vector<Row> rows;
  for (const Json& line : launch["lines"]) {
    const int file = line["file"];
    const size_t number = line["line"];
    if (file < 0) {
      rows.push_back({"(no line)", "", numbers_of(line), waits_of(line.value("stalls", Json::object()))});
      continue;
    }
    if (!texts.contains(file)) texts[file] = lines_of(recording["sources"][static_cast<size_t>(file)]);
    const auto& text = texts[file];
    rows.push_back({fmt::format("{}:{}", base_of(recording["files"][static_cast<size_t>(file)]), number),
                    number >= 1 && number <= text.size() ? text[number - 1] : "", numbers_of(line),
                    waits_of(line.value("stalls", Json::object()))});
  }
  return rows;
}

std::vector<Row> ptx_rows(const Json& recording, const Json& launch) {
  const Json& fields = recording["count_fields"];
  std::vector<Row> rows;
  std::map<std::pair<size_t, size_t>, Waits> waits;
  if (launch.contains("stalls"))
    for (const Json& row : launch["stalls"]) waits[{row[0], row[1]}] = waits_of(row[2]);
  for (const Json& counts : launch["counts"]) {
    Json line = Json::object();
    for (size_t k = 2; k < counts.size(); ++k) line[fields[k].get<std::string>()] = counts[k];
    const Json& instruction = recording["functions"][counts[0].get<size_t>()]["instructions"][counts[1].get<size_t>()];
    rows.push_back({fmt::format("{}", instruction[0].get<uint32_t>()), instruction[3], numbers_of(line), waits[{counts[0], counts[1]}]});
  }
  return rows;
}

std::vector<Row> rows_of(const Json& recording, const Json& launch, Listing listing) {
  return listing == Listing::Source ? source_rows(recording, launch) : ptx_rows(recording, launch);
}

}  // namespace

void print_source(std::ostream& out, const Json& recording, Listing listing) {
  out << recording["basis"].get<std::string>() << '\n';
  if (std::ranges::any_of(recording["launches"], [](const Json& launch) { return launch.contains("predicted"); }))
    out << "stall %: of the time that warps wait, as predicted; docs/timing.md says how well.\n";
  for (const Json& launch : recording["launches"]) {
    const std::vector<Row> rows = rows_of(recording, launch, listing);
    const double waits = all_waits(rows);
    size_t width = 4;
    for (const Row& row : rows) width = std::max(width, row.place.size());
    out << fmt::format("\n  [{}] {}\n  {:<{}}", launch["id"].get<uint64_t>(), launch_title(launch),
                       listing == Listing::Source ? "Line" : "PTX", width);
    for (const Field& field : kFields) out << fmt::format(" {:>10}", field.title);
    if (waits > 0) out << fmt::format(" {:>8} {:<19}", "stall %", "most of it");
    out << "  Text\n";
    Numbers total(kFields.size());
    for (const Row& row : rows) {
      out << fmt::format("  {:<{}}", row.place, width);
      for (size_t k = 0; k < row.numbers.size(); ++k) {
        out << fmt::format(" {:>10}", row.numbers[k] ? std::to_string(row.numbers[k]) : ".");
        total[k] += row.numbers[k];
      }
      if (waits > 0)
        out << fmt::format(" {:>8} {:<19}", row.waits.cycles > 0 ? fmt::format("{:.1f}", share(row.waits.cycles, waits)) : ".",
                           row.waits.reason);
      out << "  " << row.text << '\n';
    }
    out << fmt::format("  {:<{}}", "all", width);
    for (uint64_t sum : total) out << fmt::format(" {:>10}", sum);
    out << '\n';
  }
}

void print_source_csv(std::ostream& out, const Json& recording, Listing listing) {
  out << "\"ID\",\"Kernel Name\",\"Line\",\"executed\",\"threads\",\"divergent\",\"sectors\",\"ideal "
         "sectors\",\"wavefronts\",\"ideal wavefronts\",\"stall cycles\",\"stall %\",\"most of it\",\"Source\"\n";
  for (const Json& launch : recording["launches"]) {
    const std::vector<Row> rows = rows_of(recording, launch, listing);
    const double waits = all_waits(rows);
    for (const Row& row : rows) {
      out << fmt::format("\"{}\",{},{}", launch["id"].get<uint64_t>(), quoted(spaced_name(launch["kernel"])), quoted(row.place));
      for (uint64_t n : row.numbers) out << fmt::format(",\"{}\"", n);
      if (launch.contains("predicted"))
        out << fmt::format(",\"{:.0f}\",\"{:.2f}\",\"{}\"", row.waits.cycles, share(row.waits.cycles, waits), row.waits.reason);
      else out << ",\"n/a\",\"n/a\",\"\"";
      out << ',' << quoted(row.text) << '\n';
    }
  }
}

}  // namespace warpbeam::report
