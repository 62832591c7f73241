#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "findings/kinds.h"

namespace warpbeam::report {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

std::string as_uri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/._-~").find(c) != std::string_view::npos) out += c;
    else out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// Of "saxpy.cu:3"; null for what is no place.
Json location_of(const std::string& place, const std::string& root) {
  const size_t colon = place.rfind(':');
  unsigned line = 0;
  if (colon == std::string::npos || std::from_chars(place.data() + colon + 1, place.data() + place.size(), line).ec != std::errc() ||
      line == 0)
    return nullptr;
  const fs::path file = (fs::path(root) / place.substr(0, colon)).lexically_normal();
  const fs::path within = file.lexically_relative(fs::path(root).lexically_normal());
  Json artifact;
  if (within.empty() || *within.begin() == "..") {
    artifact["uri"] = "file://" + as_uri(file.string());
  } else {
    artifact["uri"] = as_uri(within.string());
    artifact["uriBaseId"] = "%SRCROOT%";
  }
  return {{"physicalLocation", {{"artifactLocation", artifact}, {"region", {{"startLine", line}}}}}};
}

std::string message_of(const CheckFinding& f) {
  std::string text = f.title;
  if (!f.kernel.empty()) text += fmt::format("\nin {}", f.kernel);
  for (const auto& line : f.lines) {
    text += "\n" + line.text;
    for (const auto& frame : line.frames) text += "\n    " + frame.text();
  }
  if (!f.mend.empty()) text += "\n" + f.mend;
  return text;
}

Json result_of(const CheckFinding& f, const std::string& root) {
  Json result = {{"ruleId", f.kind},
                 {"level", f.is_error ? "error" : "warning"},
                 {"message", {{"text", message_of(f)}}},
                 {"occurrenceCount", f.count}};
  Json locations = Json::array(), related = Json::array();
  std::vector<std::string> places = f.locations;
  for (const auto& line : f.lines)
    for (const auto& frame : line.frames)
      if (frame.line) places.push_back(fmt::format("{}:{}", frame.file, frame.line));
  for (size_t k = 0; k < places.size(); ++k) {
    Json location = location_of(places[k], root);
    if (location.is_null()) continue;
    // A finding is shown at one place; the others are links from there.
    if (locations.empty()) {
      locations.push_back(std::move(location));
    } else {
      location["id"] = related.size();
      location["message"] = {{"text", k < f.locations.size() ? "the other side" : "the host's code"}};
      related.push_back(std::move(location));
    }
  }
  result["locations"] = std::move(locations);
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  return result;
}

}  // namespace

std::string sarif(const CheckReport& report, const std::string& root, const std::string& version) {
  Json rules = Json::array(), results = Json::array();
  std::vector<std::string> kinds;
  for (const CheckFinding& f : report.findings) {
    if (std::ranges::find(kinds, f.kind) == kinds.end()) {
      kinds.push_back(f.kind);
      Json rule = {{"id", f.kind}, {"properties", {{"tags", {"cuda", f.check}}}}};
      if (const auto* row = findings::find_kind(f.kind)) rule["shortDescription"] = {{"text", row->about}};
      rules.push_back(std::move(rule));
    }
    results.push_back(result_of(f, root));
  }
  const Json driver = {{"name", "Warpbeam"}, {"version", version}, {"rules", rules}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"originalUriBaseIds", {{"%SRCROOT%", {{"uri", "file://" + as_uri(root) + "/"}}}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", results}};
  const Json whole = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", Json::array({run})}};
  return whole.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace warpbeam::report
