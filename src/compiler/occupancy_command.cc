// `warpbeam occupancy`: how many blocks fit on a multiprocessor, for numbers or for the kernels of a program.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "compiler/commands.h"
#include "compiler/kernel_needs.h"
#include "model/device.h"
#include "model/occupancy.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHelp = R"(Usage: warpbeam occupancy --block THREADS [options]
       warpbeam occupancy [options] FILE.cu|FILE.ptx

How many blocks of a kernel are resident on one multiprocessor, and what limits them. With a file, for each of its
kernels; without --block, for blocks of several sizes.

  --block N             threads per block
  --regs N              registers per thread (default 32, or what the kernel needs)
  --shared, --smem BYTES
                        static shared memory per block (default 0, or what the kernel has)
  --dynamic BYTES       dynamic shared memory per block (default 0)
  --grid N              blocks of the grid: tells how many waves they make and how large the last one is
  --kernel NAME         only kernels whose name contains it
  --device NAME         default: WARPBEAM_DEVICE, or h200

Registers are those that ptxas allots where a toolkit is installed, otherwise an estimate from the PTX.
)";

int fail(const std::string& message) {
  fmt::print(stderr, "warpbeam occupancy: {}\n", message);
  return 1;
}

struct Request {
  int block = 0, regs = -1, fixed = -1, dynamic = 0, grid = 0;
  std::string device, file, kernel;
  bool help = false;
};

Result<Request> read_request(const Arguments& arguments) {
  Request r;
  const char* set = std::getenv("WARPBEAM_DEVICE");
  r.device = set && *set ? set : model::default_device().key;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    if (word == "-h" || word == "--help") {
      r.help = true;
      return r;
    }
    if (!word.starts_with("-")) {
      if (!r.file.empty()) return Error{1, fmt::format("one file at a time: '{}' and '{}'", r.file, word)};
      r.file = word;
      continue;
    }
    if (auto equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (at + 1 < arguments.size()) {
      value = arguments[++at];
    }
    int* number = word == "--block"                        ? &r.block
                  : word == "--regs"                       ? &r.regs
                  : word == "--shared" || word == "--smem" ? &r.fixed
                  : word == "--dynamic"                    ? &r.dynamic
                  : word == "--grid"                       ? &r.grid
                                                           : nullptr;
    if (word == "--device") {
      r.device = value;
    } else if (word == "--kernel") {
      r.kernel = value;
    } else if (!number) {
      return Error{1, fmt::format("unknown option '{}'", word)};
    } else {
      auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
      if (error != std::errc() || end != value.data() + value.size() || *number < 0)
        return Error{1, fmt::format("{} needs a number, not '{}'", word, value)};
    }
  }
  return r;
}

Result<void> print(const Request& request, const model::Device& device, int regs, int fixed, int block) {
  model::KernelResources kernel;
  kernel.regs_per_thread = regs;
  kernel.static_shared = static_cast<size_t>(fixed);
  kernel.max_dynamic_shared = static_cast<size_t>(request.dynamic);
  auto result = model::occupancy(device, kernel, block, static_cast<size_t>(request.dynamic));
  if (!result) return result.error();
  fmt::print("{}: {} blocks of {} threads per multiprocessor, {} of {} warps, occupancy {:.1f} %\n", device.name, result->blocks_per_sm,
             block, result->warps_per_sm(device, block), device.max_warps_per_sm(), 100 * result->fraction(device, block));
  struct Limit {
    std::string_view name;
    int blocks;
    uint32_t bit;
  };
  for (auto [name, blocks, bit] :
       {Limit{"warps", result->by_warps, model::kLimitWarps}, Limit{"blocks", result->by_blocks, model::kLimitBlocks},
        Limit{"registers", result->by_registers, model::kLimitRegisters}, Limit{"shared memory", result->by_shared, model::kLimitShared}})
    fmt::print("  {:<14} {}{}\n", name, blocks == INT_MAX ? "no limit" : fmt::format("allow {}", blocks),
               result->limited_by & bit ? "  <- limits" : "");
  if (request.grid > 0 && result->blocks_per_sm > 0) {
    const int wave = result->blocks_per_sm * device.sm_count, tail = request.grid % wave;
    fmt::print("  {} blocks are {:.2f} waves of {}; {}\n", request.grid, static_cast<double>(request.grid) / wave, wave,
               tail ? fmt::format("the last one has {}", tail) : "none is partial");
  }
  return {};
}

}  // namespace

int occupancy_command(const Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request) return fail(request.error().message);
  if (request->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  const model::Device* device = model::find_device(request->device);
  if (!device) {
    const std::string near = model::nearest_device(request->device);
    return fail(fmt::format("there is no device '{}'{}", request->device, near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  if (request->file.empty()) {
    if (!request->block) return fail("--block is needed, or a file");
    auto printed =
        print(*request, *device, std::max(request->regs, request->regs < 0 ? 32 : 0), std::max(request->fixed, 0), request->block);
    return printed ? 0 : fail(printed.error().message);
  }
  setenv("WARPBEAM_DEVICE", request->device.c_str(), 1);
  auto kernels = kernels_of(request->file);
  if (!kernels) return fail(kernels.error().message);
  size_t shown = 0;
  for (const KernelNeeds& k : *kernels) {
    if (k.display_name.find(request->kernel) == std::string::npos) continue;
    fmt::print("{}{}: {} registers ({}), {} bytes of static shared memory\n", shown++ ? "\n" : "", k.display_name, k.registers,
               k.from_ptxas ? "ptxas" : "estimated", k.static_shared);
    std::vector<int> blocks{request->block};
    if (!request->block) blocks = {64, 128, 256, 512, 1024};
    for (int block : blocks) {
      if (!request->block && (block > device->max_threads_per_block || (k.max_threads && block > k.max_threads))) continue;
      auto printed = print(*request, *device, request->regs < 0 ? k.registers : request->regs,
                           request->fixed < 0 ? k.static_shared : request->fixed, block);
      if (!printed) return fail(printed.error().message);
    }
  }
  if (!shown)
    return fail(fmt::format("'{}' has no kernel{}", request->file,
                            request->kernel.empty() ? "" : " whose name contains '" + request->kernel + "'"));
  return 0;
}

}  // namespace warpbeam::compiler
