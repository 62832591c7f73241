// `__cluster_dims__` beside `__launch_bounds__`. clang has one attribute for both (warpbeam/device/attributes.h), and of
// two on one kernel it heeds the first: where a source has both on one kernel, they are written as one.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

// Nothing if the text needs no change. Lines keep their numbers.
std::optional<std::string> join_cluster_bounds(std::string_view text);

}  // namespace warpbeam::compiler
