#include "compiler/check_facts.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace warpbeam::compiler {

namespace {

constexpr std::string_view kUninitialised = "!uninitialised\t", kUnused = "!unused\t";

}  // namespace

std::string joined_facts(const std::vector<std::string>& texts) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  std::set<std::string> seen;
  std::string all;
  for (const std::string& text : texts) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      for (const std::string_view kind : {kUninitialised, kUnused})
        if (line.starts_with(kind) && line.compare(kind.size(), here.size(), here) == 0) line.erase(kind.size(), here.size());
      if (seen.insert(line).second) all.append(line).append("\n");
    }
  }
  return all;
}

std::string facts_file_of(const std::string& program) { return program + ".facts"; }

CheckFacts read_check_facts(const std::string& file) {
  CheckFacts facts;
  facts.file = file;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("!")) continue;
    std::vector<std::string> parts;
    std::istringstream words(line);
    for (std::string part; std::getline(words, part, '\t');) parts.push_back(part);
    if (line.starts_with(kUnused) && parts.size() == 2) facts.unused.insert(parts[1]);
    if (line.starts_with(kUninitialised) && parts.size() == 4) facts.uninitialised.push_back({parts[1], parts[2], parts[3] == "1"});
  }
  return facts;
}

}  // namespace warpbeam::compiler
