// Accesses to shared memory of which an assembler makes one: loads, or stores, of neighbouring words that it knows to lie at a
// multiple of 8 or 16 bytes, as `tile[ty][k]` and `tile[ty][k + 1]` of an unrolled loop do.
#pragma once
#include <cstdint>
#include <vector>

#include "vm/code.h"

namespace warpbeam::observe {

// For each instruction of `code` the bytes that a lane moves with it: 0 where nothing is merged, kPartOfOther where another
// instruction moves them.
inline constexpr uint8_t kPartOfOther = 255;
std::vector<uint8_t> merged_accesses(const vm::FunctionCode& code);

}  // namespace warpbeam::observe
