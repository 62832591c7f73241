#pragma once
#include "fuzz/kernel.h"
#include "fuzz/palette.h"

namespace warpbeam::fuzz {

// The kernel of this seed.
Kernel generate(uint64_t seed, const Palette& palette);

}  // namespace warpbeam::fuzz
