// `#pragma unroll` where no loop follows, twice before one, or with a number below zero: nvcc warns, clang stops.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

// Nothing if the text needs no change. Such a line becomes an empty one. As its author wrote it, a name that may be a
// macro for a loop keeps its pragma; in a preprocessed text only loops do.
std::optional<std::string> drop_stray_unrolls(std::string_view text);
std::optional<std::string> drop_all_stray_unrolls(std::string_view preprocessed);

}  // namespace warpbeam::compiler
