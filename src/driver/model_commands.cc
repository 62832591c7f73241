// `warpbeam devices` and `warpbeam occupancy`: the device table on the command line.
#include <fmt/format.h>

#include <charconv>
#include <climits>
#include <iostream>

#include "driver/commands.h"
#include "model/device.h"
#include "model/occupancy.h"
#include "model/print.h"

namespace warpbeam::driver {

namespace {

constexpr std::string_view kOccupancyHelp = R"(Usage: warpbeam occupancy --block THREADS [options]

How many blocks of a kernel are resident on one multiprocessor, and what limits them.

  --block N             threads per block
  --regs N              registers per thread (default 32)
  --shared, --smem BYTES
                        static shared memory per block (default 0)
  --dynamic BYTES       dynamic shared memory per block (default 0)
  --device NAME         default: WARPBEAM_DEVICE, or h200
)";

int fail(std::string_view command, const std::string& message) {
  fmt::print(stderr, "warpbeam {}: {}\n", command, message);
  return 1;
}

const model::Device* device_called(std::string_view command, const std::string& spelling) {
  if (const model::Device* device = model::find_device(spelling)) return device;
  std::string near = model::nearest_device(spelling);
  fail(command,
       fmt::format("there is no device '{}'{}", spelling, near.empty() ? "" : "; did you mean '" + near + "'?"));
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

int occupancy_command(const Arguments& arguments) {
  int block = 0, regs = 32, fixed = 0, dynamic = 0;
  const char* set = std::getenv("WARPBEAM_DEVICE");
  std::string spelling = set && *set ? set : model::default_device().key;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at];
    if (word == "-h" || word == "--help") {
      fmt::print("{}", kOccupancyHelp);
      return 0;
    }
    std::string value;
    if (auto equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (at + 1 < arguments.size()) {
      value = arguments[++at];
    }
    int* number = word == "--block"     ? &block
                  : word == "--regs"    ? &regs
                  : word == "--shared" || word == "--smem"  ? &fixed
                  : word == "--dynamic" ? &dynamic
                                        : nullptr;
    if (word == "--device") {
      spelling = value;
    } else if (!number) {
      return fail("occupancy", fmt::format("unknown option '{}'", word));
    } else {
      auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
      if (error != std::errc() || end != value.data() + value.size() || *number < 0)
        return fail("occupancy", fmt::format("{} needs a number, not '{}'", word, value));
    }
  }
  const model::Device* device = device_called("occupancy", spelling);
  if (!device) return 1;
  if (!block) return fail("occupancy", "--block is needed");
  model::KernelResources kernel;
  kernel.regs_per_thread = regs;
  kernel.static_shared = static_cast<size_t>(fixed);
  kernel.max_dynamic_shared = static_cast<size_t>(dynamic);
  auto result = model::occupancy(*device, kernel, block, static_cast<size_t>(dynamic));
  if (!result) return fail("occupancy", result.error().message);
  fmt::print("{}: {} blocks of {} threads per multiprocessor, {} of {} warps, occupancy {:.1f} %\n", device->name,
             result->blocks_per_sm, block, result->warps_per_sm(*device, block), device->max_warps_per_sm(),
             100 * result->fraction(*device, block));
  struct Limit {
    std::string_view name;
    int blocks;
    uint32_t bit;
  };
  for (auto [name, blocks, bit] :
       {Limit{"warps", result->by_warps, model::kLimitWarps}, Limit{"blocks", result->by_blocks, model::kLimitBlocks},
        Limit{"registers", result->by_registers, model::kLimitRegisters},
        Limit{"shared memory", result->by_shared, model::kLimitShared}})
    fmt::print("  {:<14} {}{}\n", name, blocks == INT_MAX ? "no limit" : fmt::format("allow {}", blocks),
               result->limited_by & bit ? "  <- limits" : "");
  return 0;
}

}  // namespace warpbeam::driver
