// Gaps in structures: bytes between members, which nobody gives a value.
#pragma once
#include <string>

namespace warpbeam::driver {

// Of LLVM's text with its types: for each kernel the structures that its parameters lead to and that have gaps, a line
// `~kernel;bytes;from-to;from-to;…` each; `to` is the byte behind a gap. Of a union's members one is enough.
std::string gaps_of(const std::string& ir);

}  // namespace warpbeam::driver
