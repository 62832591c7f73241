// `warpbeam bench`: runs the programs of bench/, which the build puts beside this one.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/commands.h"
#include "driver/options.h"
#include "driver/process.h"
#include "driver/toolchain.h"

namespace warpbeam::driver {
namespace {

constexpr std::string_view kPrefix = "bench_";

std::vector<std::string> bench_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    if (std::string name = entry.path().filename().string(); name.starts_with(kPrefix))
      names.push_back(name.substr(kPrefix.size()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

int bench_command(const Arguments& arguments) {
  const std::filesystem::path folder = std::filesystem::path(toolchain().driver).parent_path();
  const std::vector<std::string> names = bench_names(folder);
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    fmt::print("Usage: warpbeam bench NAME\n\nMeasures a part of Warpbeam on this machine:\n");
    for (const std::string& name : names) fmt::print("  {}\n", name);
    return arguments.empty() ? 1 : 0;
  }
  if (std::find(names.begin(), names.end(), arguments[0]) == names.end()) {
    fmt::print(stderr, "warpbeam bench: there is no bench '{}' (`warpbeam bench` lists them)\n", arguments[0]);
    return 2;
  }
  const std::string program = fmt::format("{}{}", kPrefix, arguments[0]);
  return run_program((folder / program).string(), program, {arguments.begin() + 1, arguments.end()});
}

}  // namespace warpbeam::driver
