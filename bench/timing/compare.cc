// Compares what `profile` predicted with what a GPU took: truth/CARD.json against NAME.json of each program.
//   compare TRUTH.json SPLIT.txt FOLDER
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Row {
  std::string program, kernel;
  size_t launch = 0;
  double truth = 0, predicted = 0;
  bool inside = true;  // of the interval
  double error() const { return predicted / truth - 1; }
};

struct Numbers {
  std::vector<Row> rows;
  void print(const char* name) const {
    if (rows.empty()) return;
    std::vector<double> size, sign;
    for (const Row& r : rows) size.push_back(std::fabs(r.error())), sign.push_back(r.error());
    std::ranges::sort(size);
    std::ranges::sort(sign);
    const auto inside = std::ranges::count_if(rows, &Row::inside);
    fmt::print("  {:<34} {:>5}  {:>7.1f} %  {:>7.1f} %  {:>+7.1f} %  {:>6.1f} %\n", name, rows.size(), 100 * size[size.size() / 2],
               100 * size[size.size() * 9 / 10], 100 * sign[sign.size() / 2],
               100.0 * static_cast<double>(inside) / static_cast<double>(rows.size()));
  }
  void print_worst(size_t count) const {
    std::vector<Row> worst = rows;
    std::ranges::sort(worst,
                      [](const Row& a, const Row& b) { return std::fabs(std::log(1 + a.error())) > std::fabs(std::log(1 + b.error())); });
    std::map<std::string, bool> seen;
    for (const Row& r : worst) {
      if (seen.size() == count) break;
      if (!seen.try_emplace(r.program + r.kernel, true).second) continue;
      fmt::print("    {:<22} {:<44} {:>10.2f} us  predicted {:>10.2f}  {:>+6.0f} %\n", r.program, r.kernel.substr(0, 44), r.truth / 1e3,
                 r.predicted / 1e3, 100 * r.error());
    }
  }
};

// Two launches of one program that do the same work in two ways: how often the faster one is told. Those that differ by less
// than a tenth do not count.
void print_pairs(const std::vector<Row>& rows) {
  size_t right = 0, all = 0;
  std::map<std::string, size_t> wrong;
  for (size_t a = 0; a < rows.size(); ++a)
    for (size_t b = a + 1; b < rows.size() && rows[b].program == rows[a].program; ++b) {
      if (rows[a].kernel == rows[b].kernel) continue;
      const double ratio = rows[a].truth / rows[b].truth;
      if (ratio > 1 / 1.1 && ratio < 1.1) continue;
      ++all;
      if ((rows[a].predicted > rows[b].predicted) == (ratio > 1)) ++right;
      else ++wrong[rows[a].program];
    }
  if (all)
    fmt::print("  which of two kernels of a program is faster: right in {:.1f} % of {} pairs that differ by 10 %\n",
               100.0 * static_cast<double>(right) / static_cast<double>(all), all);
  std::vector<std::pair<std::string, size_t>> most(wrong.begin(), wrong.end());
  std::ranges::sort(most, std::greater<>(), &std::pair<std::string, size_t>::second);
  constexpr size_t kNamed = 6;
  if (most.size() > kNamed) most.resize(kNamed);
  if (!most.empty()) fmt::print("    wrong most often in");
  for (const auto& [program, times] : most) fmt::print(" {} ({})", program, times);
  if (!most.empty()) fmt::print("\n");
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    fmt::print(stderr, "compare TRUTH.json SPLIT.txt FOLDER\n");
    return 2;
  }
  std::ifstream truth_file(words[1]), split_file(words[2]);
  const Json truth = Json::parse(truth_file, nullptr, false);
  if (truth.is_discarded()) {
    fmt::print(stderr, "compare: {} is no JSON\n", words[1]);
    return 2;
  }
  std::map<std::string, std::string> side;
  for (std::string line; std::getline(split_file, line);) {
    std::istringstream text(line);
    std::string name, which;
    if (line[0] != '#' && text >> name >> which) side[name] = which;
  }
  const Json& measured = truth["nvcc"];
  std::map<std::string, size_t> column;
  for (const Json& name : measured["columns"]) column.emplace(name.get<std::string>(), column.size());

  std::map<std::string, std::map<std::string, Numbers>> halves;
  std::map<std::string, std::vector<Row>> warm;
  for (const auto& [name, program] : measured["programs"].items()) {
    std::ifstream file(std::string(words[3]) + "/" + name + ".json");
    Json recording = Json::parse(file, nullptr, false);
    // What kernels launch themselves is part of them.
    if (!recording.is_discarded())
      std::erase_if(recording["launches"].get_ref<Json::array_t&>(), [](const Json& l) { return l.contains("launched_by"); });
    const Json& launches = program["launches"];
    if (recording.is_discarded() || recording["launches"].size() != launches.size()) {
      fmt::print("  {}: {}\n", name, recording.is_discarded() ? "not predicted" : "another number of launches");
      continue;
    }
    for (size_t k = 0; k < launches.size(); ++k) {
      const Json& launch = recording["launches"][k];
      if (!launch.contains("predicted")) continue;
      const auto metric = [&](const char* metric) { return launch["metrics"].value(metric, 0.0); };
      const auto value = [&](const char* what) {
        return column.contains(what) && launches[k][column[what]].is_number() ? launches[k][column[what]].get<double>() : -1.0;
      };
      Row row{name, program["kernels"][launches[k][column["kernel"]].get<size_t>()]["kernel"], k, value("ns"),
              metric("gpu__time_duration.sum")};
      const Json& time =
          launch["predicted"].contains("gpu__time_duration.sum") ? launch["predicted"]["gpu__time_duration.sum"] : launch["predicted"];
      row.inside = time.value("low", 0.0) <= row.truth && row.truth <= time.value("high", 1e30);
      std::map<std::string, Numbers>& half = halves[side.contains(name) ? side[name] : "new"];
      half["1 time, all"].rows.push_back(row);
      if (row.truth >= 5000) half["2 time of 5 us and more"].rows.push_back(row);
      if (const double bytes = value("dram_read"); bytes >= 1e6)
        half["3 bytes read from memory, from 1 MB"].rows.push_back({name, row.kernel, k, bytes, metric("dram__bytes_read.sum")});
      if (k + 1 == launches.size() || launches[k + 1][column["kernel"]] != launches[k][column["kernel"]])
        if (row.truth >= 5000) warm[side[name]].push_back(row);
    }
  }
  fmt::print("{}, driver {}; times by nvcc {}\n", truth.value("card", "?"), truth.value("driver", "?"), truth.value("nvcc_version", "?"));
  for (const auto& [name, numbers] : halves) {
    fmt::print("\n{}: programs {}\n", name, name == "look" ? "that are only compared with" : "that the model was fitted to");
    fmt::print("  {:<34} {:>5}  {:>9}  {:>9}  {:>9}  {:>8}\n", "", "n", "median", "p90", "bias", "inside");
    for (const auto& [what, of] : numbers) of.print(what.c_str() + 2);
    print_pairs(warm[name]);
    fmt::print("  the worst of 5 us and more:\n");
    numbers.at("2 time of 5 us and more").print_worst(10);
  }
}
