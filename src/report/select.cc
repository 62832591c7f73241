#include "report/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/expression.h"

namespace warpbeam::report {
namespace {

Column column_of(const Json& row, const std::string& name) {
  return {name, row["name"], row["unit"], row["class"], "", row.value("reason", "")};
}

std::string stem(const std::string& name) { return name.substr(0, name.find('.')); }

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= list.size();) {
    size_t end = list.find(',', at);
    if (list.compare(at, 6, "regex:") == 0) {  // commas inside braces and brackets belong to the expression
      int depth = 0;
      for (end = at; end < list.size() && (list[end] != ',' || depth > 0); ++end) {
        if (list[end] == '{' || list[end] == '[' || list[end] == '(') ++depth;
        if (list[end] == '}' || list[end] == ']' || list[end] == ')') --depth;
      }
    }
    if (end == std::string::npos) end = list.size();
    if (end > at) words.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t above = row[k];
      row[k] = std::min({row[k] + 1, row[k - 1] + 1, diagonal + (a[i - 1] != b[k - 1])});
      diagonal = above;
    }
  }
  return row.back();
}

std::string nearest(const Json& table, const std::string& name) {
  std::string best;
  size_t least = name.size() / 3 + 1;
  for (const Json& row : table)
    for (const char* key : {"name", "nvprof"})
      if (const std::string known = row[key]; !known.empty() && distance(name, known) < least) {
        least = distance(name, known);
        best = known;
      }
  return best;
}

// What Nsight Compute makes of a counter: over the units that count, then for each second or cycle or of the best.
bool is_rollup(const std::string& suffix) {
  static const std::optional<Expression> kRollup = Expression::of(
      "(sum|avg|min|max|ratio|pct|max_rate)(\\.(per_second|per_cycle_(active|elapsed)|"
      "pct_of_peak_sustained_(active|elapsed)|peak_sustained(_active|_elapsed)?(\\.per_second)?))?");
  return kRollup->matches(suffix);
}

// Columns of a name that is no row's: without a suffix all of its forms, with one that the table does not have that one.
std::vector<Column> forms_of(const Json& table, const std::string& word, const std::string& per) {
  std::vector<Column> out;
  const size_t dot = word.find('.');
  for (const Json& row : table) {
    const std::string name = row["name"];
    if (stem(name) != stem(word)) continue;
    if (dot == word.npos) {
      out.push_back(column_of(row, name));
      continue;
    }
    const std::string rollup = word.substr(dot + 1);
    if (!is_rollup(rollup)) break;
    const bool counts = name == stem(name) + ".sum" && row["set"] != "none";
    if (counts && rollup == "avg" && !per.empty()) {
      out = {column_of(row, word)};
      out[0].per = per;
      break;
    }
    if (counts && word.starts_with("gpu__") && (rollup == "avg" || rollup == "min" || rollup == "max")) {  // there is one
      out = {column_of(row, word)};
      break;
    }
    if (counts && (rollup == "sum.per_second" || rollup == "sum.per_cycle_elapsed")) {
      const std::string unit = row["unit"];
      out = {{word, row["name"], rollup == "sum.per_second" ? unit + "/second" : unit + "/cycle", "T",
              rollup == "sum.per_second" ? "second" : "cycle", ""}};
      break;
    }
    if (out.empty())
      out = {{word, "", rollup.find("pct") == rollup.npos ? "" : "%", "T", "", "how work spreads over the units of a device is not known"}};
  }
  return out;
}

// Whether what all parts of a multiprocessor have together is what the multiprocessor has.
bool same_for_parts(const std::string& name) {
  const std::string rollup = name.find('.') == name.npos ? "sum" : name.substr(name.find('.') + 1);
  return rollup.starts_with("sum") || rollup == "ratio" || rollup.find("pct") != rollup.npos;
}

std::vector<Column> named(const Json& table, const std::string& word) {
  std::vector<Column> out;
  const std::string per = word.starts_with("smsp__") ? "smsp" : word.starts_with("sm__") || word.starts_with("l1tex__") ? "sm" : "";
  // What a multiprocessor counts is what its parts count.
  const std::string other = word.starts_with("smsp__")      ? "sm__" + word.substr(6)
                            : per == "sm" && word[0] == 's' ? "smsp__" + word.substr(4)
                                                            : word;
  const auto rows = [&](const std::string& name) {
    for (const Json& row : table)
      if (row["name"] == name || row["nvprof"] == name) out.push_back(column_of(row, word));
    return !out.empty();
  };
  if (rows(word) || (other != word && same_for_parts(word) && rows(other))) return out;
  const bool bare = word.find('.') == word.npos;
  out = forms_of(table, word, per);
  if (other == word || (!bare && !out.empty() && !out[0].metric.empty())) return out;
  std::vector<Column> more = forms_of(table, other, per);
  for (Column& column : more)
    if (column.name == other) column.name = word;
  if (bare) out.insert(out.end(), more.begin(), more.end());
  else if (!more.empty() && (out.empty() || !more[0].metric.empty())) out = std::move(more);
  return out;
}

}  // namespace

Result<std::vector<Column>> select_metrics(const Json& table, const std::string& list, const std::string& set,
                                           std::vector<std::string>& unknown) {
  std::vector<Column> columns;
  auto add = [&](Column column) {
    for (const Column& there : columns)
      if (there.name == column.name) return;
    columns.push_back(std::move(column));
  };
  if (list.empty()) {
    for (const Json& row : table)
      if (row["set"] == "basic" ||
          (row["set"] == "full" && (set == "full" || (set == "exact" && (row["class"] == "F" || row["class"] == "S")))))
        add(column_of(row, row["name"]));
    return columns;
  }
  for (const std::string& word : split(list)) {
    bool known = false;
    if (word.starts_with("regex:")) {
      const std::optional<Expression> expression = Expression::of(word.substr(6));
      if (!expression) return Error{1, fmt::format("'{}' is not a regular expression", word.substr(6))};
      for (const Json& row : table) {
        if (row["set"] == "none") continue;
        const std::string nvprof = row["nvprof"];
        const bool by_name = expression->found_in(row["name"]);
        if (!by_name && (nvprof.empty() || !expression->found_in(nvprof))) continue;
        add(column_of(row, by_name ? row["name"].get<std::string>() : nvprof));
        known = true;
      }
    } else {
      for (Column& column : named(table, word)) add(std::move(column)), known = true;
    }
    if (known) continue;
    const std::string near = nearest(table, word);
    unknown.push_back(fmt::format("there is no metric '{}'{} (--query-metrics lists them)", word,
                                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
  }
  if (columns.empty()) return Error{1, fmt::format("{}", fmt::join(unknown, "\n"))};
  return columns;
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.6f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// As many digits as a prediction may have.
std::string predicted_text(double value) {
  const double size = std::fabs(value);
  if (size >= 1e4 || size == 0) return number_text(std::round(value));
  return number_text(std::stod(fmt::format("{:.4g}", value)));
}

std::string value_text(const Json& device, const Json& launch, const Column& column) {
  const Json& metrics = launch["metrics"];
  const auto found = metrics.find(column.metric);
  if (found == metrics.end()) return "n/a";
  double among = 1;
  if (column.per == "second" || column.per == "cycle") {
    if (!launch.contains("predicted")) return "n/a";
    const double ns = launch["predicted"]["ns"].get<double>();
    among = column.per == "second" ? ns / 1e9 : ns * device["clock_mhz"].get<double>() / 1e3;
  } else if (!column.per.empty()) {
    among = device["multiprocessors"].get<double>();
  }
  if (column.per == "smsp") among *= device["partitions"].get<double>();
  const double value = found->get<double>() / among;
  return column.cls == "C" || column.cls == "T" ? predicted_text(value) : number_text(value);
}

std::string interval_text(const Json& launch, const Column& column) {
  if (!launch.contains("predicted") || !column.per.empty()) return "";
  const auto found = launch["predicted"].find(column.metric);
  if (found == launch["predicted"].end() || !found->is_object()) return "";
  const double low = (*found)["low"].get<double>(), high = (*found)["high"].get<double>();
  return low == high ? "" : predicted_text(low) + " to " + predicted_text(high);
}

std::string reason_text(const Json& launch, const Column& column) {
  if (!column.reason.empty()) return column.reason;
  if (launch.contains("predicted")) return "the models do not follow what this launch does";
  return launch.contains("trap") ? "the kernel failed" : "it was not asked for when this was recorded";
}

}  // namespace warpbeam::report
