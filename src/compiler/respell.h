// What nvcc and g++ read and clang does not, although it is only spelled otherwise:
//
// * Old programs write `"error at "__FILE__`. Since C++11 a name that follows a string at once is the suffix of a
//   user-defined literal; g++ and nvcc still take a macro for a word of its own. `extern "C"__global__` likewise.
// * `asm("setp.eq.s32 %p, %1, 34;" : "=r"(y) : "r"(x))`, with one % before a PTX name: to nvcc only a digit after it makes
//   an operand.
// * `asm("st.u8 [%1], %0;" ::"r"(v) "l"(p))`: nvcc does not ask for the comma between two operands.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace warpbeam::compiler {

// The source with a space between each string and such a macro (__FILE__, PRIu64, __global__ …), with %% before such
// names and with commas, or nothing when all is as clang reads it. Lines stay where they are.
std::optional<std::string> respell(std::string_view source);

// libstdc++ has structures with the names of some of clang's traits. Once clang has read one, the name is no trait, and
// `__has_builtin` says so; but a text is preprocessed without being read, and libcu++ takes the traits. So in a preprocessed
// text the structures, behind whose names no parenthesis stands, get names of their own.
std::string with_traits_apart(std::string_view text);

}  // namespace warpbeam::compiler
