// `#pragma unroll` where no loop follows: nvcc warns, clang stops.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::driver {

// Nothing if the text needs no change. Such a line becomes an empty one. A name that may be a macro for a loop keeps its
// pragma.
std::optional<std::string> drop_stray_unrolls(std::string_view text);

}  // namespace warpbeam::driver
