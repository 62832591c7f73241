// Divisions, reciprocals and square roots have a quick way for usual operands and a function for the others (a numerator of zero
// among them), which all of a warp wait for.
#pragma once
#include <cstdint>

#include "vm/code.h"
#include "vm/warp.h"

namespace warpbeam::observe {

// Instructions that the warp executes beyond the quick way, as counted on an H200 by what lanes had; 0: none.
uint16_t long_way(vm::Warp& warp, const vm::Insn& insn, uint32_t mask);

}  // namespace warpbeam::observe
