// Operand values that are likely to show a mistake.
#pragma once
#include <cstdint>

#include "isa/types.h"

namespace warpbeam::fuzz {

// What thread `thread` loads for operand `operand` of this type: edge values against edge values first, then random
// ones, some of them close to one another.
uint64_t input_value(isa::Type type, int operand, uint32_t thread);

// A number that depends on every bit of x.
uint64_t mix(uint64_t x);

}  // namespace warpbeam::fuzz
