// A bit of vm::Allocation::flags, beside those of cuda/memory/memory.h.
#pragma once
#include <cstdint>

namespace warpbeam::observe {

inline constexpr uint32_t kOwnPool = 1u << 27;  // from a pool that the program has made

}  // namespace warpbeam::observe
