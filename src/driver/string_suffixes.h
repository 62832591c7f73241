// Old programs write `"error at "__FILE__`. Since C++11 a name that follows a string at once is the suffix of a
// user-defined literal; g++ and nvcc still take a macro for a word of its own, clang does not.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::driver {

// The source with a space between each string and such a macro (__FILE__, __LINE__, PRIu64 …), or nothing when none is
// there. Lines stay where they are.
std::optional<std::string> separate_string_suffixes(std::string_view source);

}  // namespace warpbeam::driver
