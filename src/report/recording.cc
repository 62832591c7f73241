#include "report/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "report/schema.h"

namespace warpbeam::report {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestSource = 300 << 10;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : "";
}

// Appends the launches of `other`, whose file and function numbers come after those of `whole`.
void append(Json& whole, Json&& other) {
  const auto files = whole["files"].size(), functions = whole["functions"].size();
  for (Json& file : other["files"]) whole["files"].push_back(std::move(file));
  for (Json& function : other["functions"]) {
    for (Json& instruction : function["instructions"])
      if (instruction[1].get<int>() >= 0) instruction[1] = instruction[1].get<int>() + static_cast<int>(files);
    whole["functions"].push_back(std::move(function));
  }
  for (Json& launch : other["launches"]) {
    launch["id"] = whole["launches"].size();
    for (Json& row : launch["counts"]) row[0] = row[0].get<size_t>() + functions;
    if (launch.contains("stalls"))
      for (Json& row : launch["stalls"]) row[0] = row[0].get<size_t>() + functions;
    if (launch.contains("predicted"))
      for (Json& stall : launch["predicted"]["stalls"])
        for (Json& line : stall["lines"])
          if (line["file"].get<int>() >= 0) line["file"] = line["file"].get<int>() + static_cast<int>(files);
    for (Json& line : launch["lines"])
      if (line["file"].get<int>() >= 0) line["file"] = line["file"].get<int>() + static_cast<int>(files);
    if (launch.contains("accesses"))
      for (Json& access : launch["accesses"]) access[0] = access[0].get<size_t>() + functions;
    if (launch.contains("paths"))
      for (Json& path : launch["paths"])
        for (Json& step : path["steps"]) step[0] = step[0].get<size_t>() + functions;
    whole["launches"].push_back(std::move(launch));
  }
  for (Json& operation : other["timeline"]) whole["timeline"].push_back(std::move(operation));
}

}  // namespace

Result<Json> read_recording(const std::string& path) {
  // What is nested deeper belongs to nobody.
  constexpr int kDeepest = 32;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  Json document = Json::parse(read_file(path), shallow, false);
  if (!document.is_object() || document["format"] != "warpbeam profile")
    return Error{1, fmt::format("{} is not a recording of the profiler", path)};
  if (const Json& version = document["version"]; version != 1)
    return Error{1, fmt::format("{} was recorded by another version of Warpbeam", path)};
  if (auto ok = fits_recording(document); !ok) return Error{1, fmt::format("{} is damaged: {}", path, ok.error().message)};
  return document;
}

Result<Json> read_recordings(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  Json whole;
  for (const std::string& path : paths) {
    auto one = read_recording(path);
    if (!one) return one.error();
    if (whole.is_null()) whole = std::move(*one);
    else append(whole, std::move(*one));
  }
  if (whole.is_null())
    return Error{1, "the program ended without leaving a recording: it did not use CUDA, or was ended by a signal or _exit"};
  return whole;
}

void embed_sources(Json& recording) {
  Json sources = Json::array();
  for (const Json& file : recording["files"]) {
    std::string text = read_file(file.get<std::string>());
    sources.push_back(text.size() > kLongestSource ? "" : text);
  }
  recording["sources"] = std::move(sources);
}

void embed_sources_under(Json& recording, const std::string& folder) {
  std::error_code failed;
  const fs::path inside = fs::canonical(folder, failed);  // "": fails
  Json sources = Json::array();
  for (const Json& file : recording["files"]) {
    const fs::path path =
        inside.empty() ? fs::path() : fs::canonical(inside / file.get<std::string>(), failed);  // a whole path stands for itself
    const bool lies_there =
        !path.empty() && !failed && std::ranges::search(path, inside).begin() == path.begin() && fs::is_regular_file(path, failed);
    std::string text = lies_there ? read_file(path) : "";
    sources.push_back(text.size() > kLongestSource ? "" : text);
  }
  recording["sources"] = std::move(sources);
}

std::string spaced_name(const std::string& name) {
  std::string out;
  for (size_t k = 0; k < name.size(); ++k) {
    const char c = name[k];
    const bool pointer = c == '*' || c == '&';
    if (pointer && k > 0 && name.compare(0, 8, "operator") != 0 &&
        (std::isalnum(static_cast<unsigned char>(name[k - 1])) || name[k - 1] == '_' || name[k - 1] == '>'))
      out += ' ';
    out += c;
  }
  return out;
}

}  // namespace warpbeam::report
