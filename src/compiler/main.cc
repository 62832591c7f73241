// The `warpbeam` program behind the script of that name at the top of the sources: one subcommand per line of
// kCommands.
#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace {

struct CommandRow {
  std::string_view name;
  int (*run)(const Arguments&);
  std::string_view help;
};

// `test`, `build`, `package` and `fuzz` are the script's own; they are here for --help.
constexpr CommandRow kCommands[] = {
    {"run", run_command, "compile and run a program: run [options] file.cu... [-- arguments]"},
    {"profile", profile_command, "run a program and count what its kernels do, exactly"},
    {"timeline", timeline_command, "what calls, kernels and copies did when, on a GPU's time"},
    {"stats", stats_command, "tables of the same"},
    {"report", report_command, "make a page of a profiler's recording: report FILE.json [OTHER.json]"},
    {"nvcc", nvcc_command, "the compiler driver, with nvcc's options"},
    {"test", nullptr, "build and run the tests: test [--fast] [filter...]"},
    {"build", nullptr, "install what is missing and build, and do nothing else"},
    {"package", nullptr, "make packages: tarball, wheel, deb, container"},
    {"check", check_command, "find a program's mistakes: check [options] file.cu...|program [-- arguments]"},
    {"fuzz", nullptr, "run random kernels on two engines and compare: fuzz [--minutes N]"},
    {"devices", devices_command, "list the GPUs a program can run on, or show one"},
    {"occupancy", occupancy_command, "how many blocks of a kernel fit on a multiprocessor"},
    {"assembly", assembly_command, "what an assembler would make of kernels: an estimate"},
    {"ptxas", ptxas_command, "checks PTX and packs it for the loader, with ptxas's options"},
    {"cuobjdump", cuobjdump_command, "what PTX a program's fat binaries hold, with cuobjdump's options"},
    {"fatbinary", fatbinary_command, "makes a fat binary of PTX, with fatbinary's options"},
    {"nvlink", nvlink_command, "links device code of PTX, cubins, objects and libraries, with nvlink's options"},
    {"bench", bench_command, "measure this machine: bench lists what"},
#ifdef WARPBEAM_WITH_ISA
    {"isa", isa_command, "the instruction reference: isa [NAME]"},
#endif
};

void print_help() {
  fmt::print("Usage: warpbeam COMMAND [options]\n\nUnmodified CUDA C++ on a machine without a GPU.\n\n");
  for (const auto& row : kCommands) fmt::print("  {:<10} {}\n", row.name, row.help);
  fmt::print("\n  --help     this text; COMMAND --help tells more\n  --version  the version\n");
}

int dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    print_help();
    return 1;
  }
  const std::string& name = arguments[0];
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (name == "help" && !rest.empty() && rest[0] != "help") return dispatch({rest[0], "--help"});
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return 0;
  }
  if (name == "--version" || name == "-V") {
    print_version();
    return 0;
  }
  std::vector<std::string_view> names;
  for (const auto& row : kCommands) {
    if (row.name == name && row.run) return row.run(rest);
    if (row.name == name) {
      fmt::print(stderr, "warpbeam: '{}' needs Warpbeam's sources: ./warpbeam {} in their folder\n", name, name);
      return 2;
    }
    names.push_back(row.name);
  }
  if (const auto status = tool_command(name, rest)) return *status;
  std::string text = fmt::format("'{}' is not a command", name);
  if (name.ends_with(".cu")) text += fmt::format("; did you mean 'warpbeam run {}'?", name);
  else if (auto near = nearest_name(name, names); !near.empty()) text += fmt::format("; did you mean '{}'?", near);
  fmt::print(stderr, "warpbeam: {} (`warpbeam --help` lists them)\n", text);
  return 2;
}

}  // namespace

}  // namespace warpbeam::compiler

int main(int count, char** words) {
  signal(SIGCHLD, SIG_DFL);  // who started us may ignore it, and then nobody can wait for children
  if (!getenv("PATH")) setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
  try {
    const int status = warpbeam::compiler::dispatch(warpbeam::compiler::Arguments(words + 1, words + count));
    if (!fflush(stdout) && !ferror(stdout)) return status;
    fmt::print(stderr, "warpbeam: cannot write to the standard output: {}\n", strerror(errno));
    return status ? status : 1;
  } catch (const std::exception& wrong) {
    fputs(fmt::format("warpbeam: {}\n", wrong.what()).c_str(), stderr);
    return 1;
  }
}
