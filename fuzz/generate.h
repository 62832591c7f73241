#pragma once
#include "fuzz/kernel.h"
#include "fuzz/palette.h"

namespace warpbeam::fuzz {

// Full: 8 to 30 statements among all registers, which are all set up and stored. Short: one to six, which set up and store
// what they name, so that there is time for four times as many.
enum class Length : uint8_t { Full, Short };

// The kernel of this seed.
Kernel generate(uint64_t seed, const Palette& palette, Length length = Length::Full);

}  // namespace warpbeam::fuzz
