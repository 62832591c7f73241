// What nvcc and g++ read and clang does not, although it is only spelled otherwise:
//
// * Old programs write `"error at "__FILE__`. Since C++11 a name that follows a string at once is the suffix of a
//   user-defined literal; g++ and nvcc still take a macro for a word of its own.
// * `asm("setp.eq.s32 %p, %1, 34;" : "=r"(y) : "r"(x))`, with one % before a PTX name: to nvcc only a digit after it makes
//   an operand.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::driver {

// The source with a space between each string and such a macro (__FILE__, __LINE__, PRIu64 …) and with %% before such
// names, or nothing when none is there. Lines stay where they are.
std::optional<std::string> respell(std::string_view source);

}  // namespace warpbeam::driver
