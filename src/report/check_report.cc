#include "report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/schema.h"

namespace warpbeam::report {
namespace {

constexpr const char* kBar = "=========";
constexpr std::string_view kRecording = R"({
  notes?:<s> frees?:[s]
  findings?:[{check?:s kind?:s title?:s kernel?:s mend?:s severity?:s count?:u locations?:[s] callers?:[s]
              lines?:[{text?:s stack?:[s]}] facts?:<s>}]
})";

std::string plural(uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

// What a star stands for grows until the rest fits; only the last star's needs to be tried again.
bool fits(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = pattern.npos, from = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') star = p++, from = t;
    else if (p < pattern.size() && pattern[p] == text[t]) ++p, ++t;
    else if (star != pattern.npos) p = star + 1, t = ++from;
    else return false;
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

// Every place that a finding names, host and device.
std::vector<std::string> places(const CheckFinding& f) {
  std::vector<std::string> all = f.locations;
  all.insert(all.end(), f.callers.begin(), f.callers.end());
  all.insert(all.end(), f.other_callers.begin(), f.other_callers.end());
  for (const auto& line : f.lines)
    for (const auto& frame : line.frames)
      if (frame.line) all.push_back(fmt::format("{}:{}", frame.file, frame.line));
  return all;
}

bool rule_fits(const std::vector<std::pair<std::string, std::string>>& rule, const CheckFinding& f) {
  for (const auto& [name, pattern] : rule) {
    bool ok = false;
    if (name == "check") ok = fits(pattern, f.check);
    if (name == "kind") ok = fits(pattern, f.kind);
    if (name == "kernel") ok = fits(pattern, f.kernel) || fits(pattern, f.kernel.substr(0, f.kernel.find('(')));
    if (name == "title") ok = fits(pattern, f.title);
    if (name == "variable") ok = f.facts.contains("variable") && fits(pattern, f.facts.at("variable"));
    if (name == "file" || name == "line")
      for (const std::string& place : places(f)) {
        const size_t colon = place.rfind(':');
        if (colon == std::string::npos) continue;
        const std::string file = place.substr(0, colon), base = file.substr(file.rfind('/') + 1);
        ok = ok || (name == "file" ? fits(pattern, file) || fits(pattern, base) : fits(pattern, place.substr(colon + 1)));
      }
    if (!ok) return false;
  }
  return !rule.empty();
}

// "a.cu:3, 5, b.cu:7"
std::string listed(const std::vector<std::string>& places) {
  std::string out, file;
  for (const std::string& place : places) {
    const size_t colon = place.rfind(':');
    const bool same = out.size() && place.substr(0, colon) == file;
    file = place.substr(0, colon);
    out += (out.empty() ? "" : ", ") + (same ? place.substr(colon + 1) : place);
  }
  return out;
}

// Lines that race, or read too early, for the same reason.
std::string other_lines(const CheckFinding& f) {
  const auto own = f.facts.find("accesses");
  std::vector<std::string> others;
  for (const std::string& place : f.locations)
    if (place != f.locations[0] && (own == f.facts.end() || !own->second.ends_with(' ' + place)) && f.folded) others.push_back(place);
  return others.empty() ? "" : "and so in " + listed(others);
}

// Calls of the function that it is in, which had the same to tell.
std::string other_calls(const CheckFinding& f) { return f.other_callers.empty() ? "" : "and so when called in " + listed(f.other_callers); }

}  // namespace

std::string HostFrame::text() const {
  const std::string name = function.empty() ? "??" : function;
  return line ? fmt::format("{} in {}:{}", name, file, line) : file.empty() ? name : fmt::format("{} in {}", name, file);
}

Result<void> CheckReport::read(const std::string& path) {
  std::ifstream in(path);
  const Json j = Json::parse(in, nullptr, false);
  if (!j.is_object()) return Error{1, fmt::format("{} is no recording of the checker", path)};
  if (auto ok = fits_shape(j, kRecording); !ok) return Error{1, fmt::format("{} is damaged: {}", path, ok.error().message)};
  const auto remarks = j.value("notes", Json::object()), found = j.value("findings", Json::array());
  for (const auto& [name, value] : remarks.items()) notes[name] = value.get<std::string>();
  for (const auto& place : j.value("frees", std::vector<std::string>())) frees.push_back(place);
  for (const auto& item : found) {
    CheckFinding f;
    f.check = item.value("check", "");
    f.kind = item.value("kind", "");
    f.title = item.value("title", "");
    f.kernel = item.value("kernel", "");
    f.mend = item.value("mend", "");
    f.is_error = item.value("severity", "error") == "error";
    f.count = item.value("count", uint64_t(1));
    f.locations = item.value("locations", std::vector<std::string>());
    f.callers = item.value("callers", std::vector<std::string>());
    const auto lines = item.value("lines", Json::array()), facts = item.value("facts", Json::object());
    for (const auto& line : lines) f.lines.push_back({line.value("text", ""), line.value("stack", std::vector<std::string>()), {}});
    for (const auto& [name, value] : facts.items()) f.facts[name] = value.get<std::string>();
    findings.push_back(std::move(f));
  }
  return {};
}

uint64_t CheckReport::errors() const {
  return static_cast<uint64_t>(std::ranges::count_if(findings, [](const auto& f) { return f.is_error; }));
}

uint64_t CheckReport::warnings() const { return findings.size() - errors(); }

std::string CheckReport::text() const {
  std::string out;
  auto line = [&](std::string_view indent, std::string_view words) { out += fmt::format("{} {}{}\n", kBar, indent, words); };
  for (const CheckFinding& f : findings) {
    line("", (f.is_error ? f.check == "race" ? "Error: " : "" : "Warning: ") + f.title);
    for (const auto& l : f.lines) {
      if (!l.stack.empty() && l.frames.empty() && l.text.ends_with(" launched")) continue;
      std::string words = l.text;
      if (!l.frames.empty()) words += " at " + l.frames[0].text();
      line("    ", words);
      for (size_t k = 1; k < l.frames.size(); ++k) line("        ", "called by " + l.frames[k].text());
    }
    if (const std::string there = f.elsewhere(); !there.empty()) line("    ", there);
    if (const std::string others = other_lines(f); !others.empty()) line("    ", others);
    if (const std::string others = other_calls(f); !others.empty()) line("    ", others);
    if (f.count > 1)
      line("    ", f.check == "race"   ? fmt::format("[{} hazards]", f.count)
                   : f.check == "init" ? fmt::format("[{} reads]", f.count)
                                       : fmt::format("[{} times]", f.count));
    if (!f.mend.empty()) line("    ", "Mend: " + f.mend);
    line("", "");
  }
  for (const auto& [name, value] : notes) line("", (name == "leaks" ? "" : "Note: ") + value);
  std::string summary = fmt::format("ERROR SUMMARY: {}", plural(errors(), "error"));
  if (warnings()) summary += fmt::format(" ({})", plural(warnings(), "warning"));
  line("", summary);
  return out;
}

std::string CheckReport::json() const {
  nlohmann::ordered_json j;
  j["errors"] = errors();
  j["warnings"] = warnings();
  j["notes"] = notes;
  auto& list = j["findings"] = nlohmann::ordered_json::array();
  for (const CheckFinding& f : findings) {
    nlohmann::ordered_json o;
    o["check"] = f.check;
    o["kind"] = f.kind;
    o["severity"] = f.is_error ? "error" : "warning";
    o["title"] = f.title;
    o["kernel"] = f.kernel;
    o["locations"] = f.locations;
    std::vector<std::string> callers = f.callers;
    callers.insert(callers.end(), f.other_callers.begin(), f.other_callers.end());
    if (!callers.empty()) o["callers"] = callers;
    o["count"] = f.count;
    if (f.kinds.size() > 1) o["kinds"] = f.kinds;
    if (f.kernels.size() > 1) o["kernels"] = f.kernels;
    for (const auto& [name, value] : f.facts) o[name] = value;
    auto& lines = o["details"] = nlohmann::ordered_json::array();
    for (const auto& l : f.lines) {
      nlohmann::ordered_json d;
      d["text"] = l.text;
      auto& host = d["host"] = nlohmann::ordered_json::array();
      for (const auto& frame : l.frames) host.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
      if (l.frames.empty()) d.erase("host");
      lines.push_back(std::move(d));
    }
    o["mend"] = f.mend;
    list.push_back(std::move(o));
  }
  return j.dump(2) + "\n";
}

Result<uint64_t> suppress(CheckReport& report, const std::string& rules) {
  std::ifstream in(rules);
  if (!in) return Error{1, fmt::format("cannot read the suppressions in '{}'", rules)};
  std::vector<std::vector<std::pair<std::string, std::string>>> all;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (size_t remark = line.find('#'); remark != std::string::npos) line.resize(remark);
    std::istringstream words(line);
    std::vector<std::pair<std::string, std::string>> rule;
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      static const std::vector<std::string> kNames = {"check", "kind", "kernel", "file", "line", "title", "variable"};
      if (equals == std::string::npos || std::ranges::find(kNames, name) == kNames.end())
        return Error{
            1, fmt::format("{}:{}: '{}': words like kind=race_raw were expected (check, kind, kernel, file, line, title, variable)", rules,
                           number, word)};
      rule.emplace_back(name, word.substr(equals + 1));
    }
    if (!rule.empty()) all.push_back(std::move(rule));
  }
  const size_t before = report.findings.size();
  const auto fits_one = [&](const CheckFinding& f) {
    return std::ranges::any_of(all, [&](const auto& rule) { return rule_fits(rule, f); });
  };
  // A race is one mistake in whichever order its accesses came.
  std::set<std::string> races;
  const auto race_of = [](const CheckFinding& f) { return f.facts.contains("accesses") ? f.kernel + '|' + f.facts.at("accesses") : ""; };
  for (const CheckFinding& f : report.findings)
    if (fits_one(f)) races.insert(race_of(f));
  races.erase("");
  std::erase_if(report.findings, [&](const CheckFinding& f) { return fits_one(f) || races.contains(race_of(f)); });
  return uint64_t(before - report.findings.size());
}

}  // namespace warpbeam::report
