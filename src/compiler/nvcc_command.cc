// `warpbeam nvcc`: the compiler driver under nvcc's options.
#include <fmt/format.h>

#include <cstdlib>

#include "compiler/build.h"
#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/split.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

// Build systems recognise the compiler by the first line and its release by the third.
std::string version_text() {
  return fmt::format(
      "nvcc: NVIDIA (R) Cuda compiler driver\n"
      "This is not it: Warpbeam {0} stands in for it, and clang-19 does the work\n"
      "Cuda compilation tools, release {1}.{2}, V{1}.{2}.{3}\n"
      "Build warpbeam_{0}\n",
      kVersion, kCudaMajor, kCudaMinor, kCudaBuild);
}

}  // namespace

void print_version() { fmt::print("Warpbeam {} (CUDA {}.{}, PTX ISA 8.5)\n", kVersion, kCudaMajor, kCudaMinor); }

int nvcc_command(const Arguments& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--help=markdown") {
    fmt::print("{}", options_markdown());
    return 0;
  }
  Arguments words = with_environment_flags(arguments);
  if (shows_commands(words)) show_places();
  auto cc = chosen_cc("");
  auto options = cc ? parse_options(words, *cc) : Result<Options>(cc.error());
  if (!options) {
    fmt::print(stderr, "nvcc fatal   : {}\n", options.error().message);
    return 1;
  }
  if (options->show_help) fmt::print("{}", options_help());
  else if (options->show_version) fmt::print("{}", version_text());
  else if (options->list_arch || options->list_code) {
    for (const auto& arch : known_archs()) fmt::print("{}\n", options->list_arch ? arch.compute() : arch.sm());
  } else {
    catch_interrupts();
    // The warning that nvcc has on from the start: "variable … was declared but never referenced".
    options->device.insert(options->device.end(), {"-Wunused-variable", "-Wno-unused-const-variable"});
    return build(*options);
  }
  return 0;
}

}  // namespace warpbeam::compiler
