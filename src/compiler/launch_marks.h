// `kernel<< <grid, block>> >(…)`, as some tools format launches: nvcc takes the marks together, clang wants them written so.
// And `kernel<<<{2, 3}, {64}>>>(…)`: clang wants the type.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

// Nothing if the text needs no change. Lines stay where they are.
std::optional<std::string> join_launch_marks(std::string_view text);

}  // namespace warpbeam::compiler
