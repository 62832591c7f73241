// Second tries. What our headers do for some programs stands in the way of others, and clang refuses some code that nvcc
// never looks at; a pass whose messages show that it failed for such a reason runs again in another way.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "compiler/process.h"

namespace warpbeam::compiler {

// Runs the commands, and those again that fail for a known reason. Temporary files go beside the outputs.
std::vector<Outcome> run_passes(const std::vector<Command>& commands, int at_once);

// Preprocessed text in which what stands behind `if (0)` is the body of a function of the host that nobody calls, or nothing
// if there is no such branch. The kernels that the branch names are still made. Lines stay where they are.
std::optional<std::string> set_dead_branches_aside(std::string_view text);

}  // namespace warpbeam::compiler
