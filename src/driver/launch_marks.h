// `kernel<< <grid, block>> >(…)`, as some tools format launches: nvcc takes the marks together, clang wants them written so.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::driver {

// Nothing if the text needs no change. Every line and column stays where it is.
std::optional<std::string> join_launch_marks(std::string_view text);

}  // namespace warpbeam::driver
