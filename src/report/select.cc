#include "report/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string_view>

namespace warpbeam::report {
namespace {

Column column_of(const Json& row, const std::string& name) {
  return {name, row["name"], row["unit"], row["class"], row["set"] != "none"};
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

}  // namespace

Result<std::vector<Column>> select_metrics(const Json& table, const std::string& list, const std::string& set) {
  std::vector<Column> columns;
  auto add = [&](Column column) {
    for (const Column& there : columns)
      if (there.name == column.name) return;
    columns.push_back(std::move(column));
  };
  if (list.empty()) {
    for (const Json& row : table)
      if (row["set"] == "basic" || (set == "full" && row["set"] == "full")) add(column_of(row, row["name"]));
    return columns;
  }
  for (const std::string& word : split(list)) {
    const size_t before = columns.size();
    bool known = false;
    if (word.starts_with("regex:")) {
      std::regex expression;
      try {
        expression.assign(word.substr(6));
      } catch (const std::regex_error&) {
        return Error{1, fmt::format("'{}' is not a regular expression", word.substr(6))};
      }
      for (const Json& row : table) {
        if (row["set"] == "none") continue;
        const std::string nvprof = row["nvprof"];
        if (std::regex_search(row["name"].get<std::string>(), expression))
          add(column_of(row, row["name"]));
        else if (!nvprof.empty() && std::regex_search(nvprof, expression))
          add(column_of(row, nvprof));
      }
      known = columns.size() > before;
    } else {
      for (const Json& row : table) {
        const std::string name = row["name"];
        if (name == word || (!word.empty() && row["nvprof"] == word)) {
          add(column_of(row, word));
          known = true;
        }
      }
      if (!known)  // without a suffix: every form of it
        for (const Json& row : table)
          if (stem(row["name"]) == word) {
            add(column_of(row, row["name"]));
            known = true;
          }
    }
    if (known) continue;
    const std::string near = nearest(table, word);
    return Error{1, fmt::format("there is no metric '{}'{} (--query-metrics lists them)", word,
                                near.empty() ? "" : fmt::format("; did you mean '{}'?", near))};
  }
  return columns;
}

std::string number_text(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.6f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string value_text(const Json& launch, const Column& column) {
  const Json& metrics = launch["metrics"];
  const auto found = metrics.find(column.metric);
  return found == metrics.end() ? "n/a" : number_text(found->get<double>());
}

}  // namespace warpbeam::report
