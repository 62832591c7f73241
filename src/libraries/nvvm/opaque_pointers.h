#pragma once
#include <string>
#include <string_view>

namespace warpbeam::nvvm {

// The text with `ptr` for every `T*`. Line breaks stay where they are, so that messages name the right line.
std::string with_opaque_pointers(std::string_view text);

}  // namespace warpbeam::nvvm
