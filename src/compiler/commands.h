// The subcommands of `warpbeam`. Each takes the words after its name and gives the exit status.
#pragma once
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

using Arguments = std::vector<std::string>;

int nvcc_command(const Arguments& arguments);
int run_command(const Arguments& arguments);
int profile_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int devices_command(const Arguments& arguments);
int occupancy_command(const Arguments& arguments);
int assembly_command(const Arguments& arguments);
int ptxas_command(const Arguments& arguments);
int cuobjdump_command(const Arguments& arguments);
int fatbinary_command(const Arguments& arguments);
int nvlink_command(const Arguments& arguments);
int isa_command(const Arguments& arguments);
int bench_command(const Arguments& arguments);
int check_command(const Arguments& arguments);
int timeline_command(const Arguments& arguments);
int stats_command(const Arguments& arguments);

// A toolkit's tool of that name (ncu, compute-sanitizer …), if it is one that Warpbeam has.
std::optional<int> tool_command(const std::string& name, const Arguments& arguments);

void print_version();

// The compute capability of the chosen device (WARPBEAM_DEVICE, or the default), which is what code is compiled for
// when no -arch is given. `spelling` overrules the environment when it is not empty.
Result<int> chosen_cc(const std::string& spelling);

// Writes what `print` prints to a file, or to standard output for "-".
Result<bool> write_to(const std::string& path, const std::function<void(std::ostream&)>& print);

}  // namespace warpbeam::compiler
