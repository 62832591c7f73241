#include "compiler/host_lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/process.h"
#include "compiler/temporary_directory.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

using Frames = std::vector<report::HostFrame>;

// Vectors and temporary memory of these give memory back by themselves.
bool is_of_library(const report::HostFrame& f) {
  return f.file.find("/thrust/") != std::string::npos || f.file.find("/cub/") != std::string::npos;
}

// Code that the program did not write: our headers, the C++ library, and the stubs around launches.
bool is_foreign(const report::HostFrame& f) {
  return f.file.empty() || f.file == "??" || f.file.starts_with(toolchain().include_directory) || f.file.starts_with("/usr/") ||
         f.function.find("__device_stub__") != std::string::npos || f.file.find("/sysdeps/") != std::string::npos ||
         f.function.starts_with("__libc_");
}

// addr2line -i gives a function and a place for every inlined frame; an address line separates them.
void read_answers(const std::string& text, const std::string& module, std::map<std::string, Frames>& out,
                  std::set<std::string>& of_library) {
  std::istringstream lines(text);
  std::string line, function, place;
  Frames* frames = nullptr;
  bool innermost = false;
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  while (std::getline(lines, line)) {
    if (line.starts_with("0x")) {
      std::ostringstream key;
      key << module << "+0x" << std::hex << std::stoull(line, nullptr, 16);
      place = key.str();
      frames = &out[place];
      innermost = true;
      continue;
    }
    if (!frames) continue;
    function = line;
    if (!std::getline(lines, line)) break;
    if (const size_t remark = line.find(" (discriminator"); remark != std::string::npos) line.resize(remark);
    const size_t colon = line.rfind(':');
    report::HostFrame f;
    f.function = function.substr(0, function.find('('));
    f.file = line.substr(0, colon);
    if (colon != std::string::npos) f.line = static_cast<uint32_t>(std::strtoul(line.c_str() + colon + 1, nullptr, 10));
    if (innermost && is_of_library(f)) of_library.insert(place);
    innermost = false;
    if (is_foreign(f)) continue;
    if (f.file.starts_with(here)) f.file.erase(0, here.size());
    frames->push_back(std::move(f));
  }
}

}  // namespace

void look_up_host_lines(report::CheckReport& report) {
  std::map<std::string, std::map<std::string, std::string>> wanted;  // module: place to offset
  const auto want = [&](const std::string& place) {
    if (const size_t plus = place.rfind('+'); plus != std::string::npos) wanted[place.substr(0, plus)][place] = place.substr(plus + 1);
  };
  for (const auto& f : report.findings)
    for (const auto& line : f.lines) std::ranges::for_each(line.stack, want);
  std::ranges::for_each(report.frees, want);
  std::map<std::string, Frames> known;
  std::set<std::string> of_library;
  auto folder = TemporaryDirectory::make();
  if (!folder) return;
  for (const auto& [module, places] : wanted) {
    if (module.starts_with("/lib/") || module.starts_with("/usr/")) continue;
    Command command{{toolchain().line_reader, "-a", "-f", "-C", "-i", "-e", module}, folder->file("lines")};
    for (const auto& [place, offset] : places) command.words.push_back(offset);
    run_commands(std::span(&command, 1), 1);
    std::ifstream in(command.standard_output);
    std::stringstream text;
    text << in.rdbuf();
    read_answers(text.str(), module, known, of_library);
  }
  report.freed_by_library =
      !report.frees.empty() && std::ranges::all_of(report.frees, [&](const auto& place) { return of_library.contains(place); });
  for (auto& f : report.findings)
    for (auto& line : f.lines) {
      for (const auto& place : line.stack)
        if (auto it = known.find(place); it != known.end())
          for (const auto& frame : it->second)
            if (line.frames.size() < 4) line.frames.push_back(frame);
      if (f.locations.empty() && !line.frames.empty())
        f.locations.push_back(line.frames[0].file + ":" + std::to_string(line.frames[0].line));
    }
}

}  // namespace warpbeam::compiler
