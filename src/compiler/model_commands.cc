// `warpbeam devices`: the device table on the command line.
#include <fmt/format.h>

#include <iostream>

#include "compiler/commands.h"
#include "model/device.h"
#include "model/print.h"

namespace warpbeam::compiler {

namespace {

int fail(std::string_view command, const std::string& message) {
  fmt::print(stderr, "warpbeam {}: {}\n", command, message);
  return 1;
}

const model::Device* device_called(std::string_view command, const std::string& spelling) {
  if (const model::Device* device = model::find_device(spelling)) return device;
  std::string near = model::nearest_device(spelling);
  fail(command, fmt::format("there is no device '{}'{}", spelling, near.empty() ? "" : "; did you mean '" + near + "'?"));
  return nullptr;
}

}  // namespace

int devices_command(const Arguments& arguments) {
  bool verbose = false;
  bool named = false;
  for (const auto& word : arguments) {
    if (word == "-h" || word == "--help") {
      fmt::print(
          "Usage: warpbeam devices [-v] [NAME...]\n\nThe GPUs that a program can run on; with a name, all that is "
          "known of it.\n");
      return 0;
    }
    if (word == "-v" || word == "--verbose") {
      verbose = true;
      continue;
    }
    if (word.starts_with("-")) return fail("devices", fmt::format("unknown option '{}'", word));
    named = true;
    const model::Device* device = device_called("devices", word);
    if (!device) return 1;
    model::print_device(std::cout, *device);
  }
  if (!named) model::print_devices(std::cout, verbose);
  std::cout.flush();
  return std::cout ? 0 : 1;
}

}  // namespace warpbeam::compiler
