// `warpbeam bench`: runs the programs of bench/, which the build puts beside this one.
#include <fmt/format.h>

#include <filesystem>

#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kPrefix = "bench_";

struct Bench {
  std::string_view name, help;
};
// The first ones are programs beside this one; the others are scripts, which ./warpbeam starts.
constexpr Bench kBenches[] = {
    {"cpu", "kernels on all cores against plain C++ with OpenMP"},
    {"interpreter", "warp instructions per second, and what a launch costs"},
    {"watchers", "what the profiler and the checker cost"},
    {"patterns", "patterns of textbooks against their fast forms"},
    {"timing", "predicted kernel times beside those of real GPUs"},
    {"clients", "programs of PyTorch and Triton against their twins"},
    {"compile", "how long kernels take to compile"},
    {"packages", "kernels with a package's libraries against the build's"},
    {"gpu", "the algorithms on a real GPU against the vendor's libraries"},
};

}  // namespace

int bench_command(const Arguments& arguments) {
  const std::filesystem::path folder = std::filesystem::path(toolchain().driver).parent_path();
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    fmt::print("Usage: warpbeam bench NAME [options]\n\nMeasures a part of Warpbeam on this machine:\n");
    for (const Bench& bench : kBenches) fmt::print("  {:<12} {}\n", bench.name, bench.help);
    return arguments.empty() ? 1 : 0;
  }
  const std::string program = fmt::format("{}{}", kPrefix, arguments[0]);
  if (!std::filesystem::exists(folder / program)) {
    fmt::print(stderr, "warpbeam bench: there is no bench '{}' (`warpbeam bench` lists them)\n", arguments[0]);
    return 2;
  }
  return run_program((folder / program).string(), program, {arguments.begin() + 1, arguments.end()});
}

}  // namespace warpbeam::compiler
