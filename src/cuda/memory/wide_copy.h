// Copies of many bytes, by as many threads as a launch has: one alone cannot keep the memory busy.
#pragma once
#include <cstddef>

namespace warpbeam::cuda {

// As memmove.
void copy_bytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace warpbeam::cuda
