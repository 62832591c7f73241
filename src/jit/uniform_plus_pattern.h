// Idea: a value may be one number for the warp and a pattern of lanes that has nothing to do with the warp: `2 * t - (t & m)` is 2 * t0 -
// (t0 & m) and 2 * l - (l & m), whatever the mask m is; so are `t ^ m` and `t | m`. Both are kept beside the vector, and what an access
// finds out about its pattern, it does once for all warps.
// Precondition: addresses are made of it. Postcondition: the vector is there. Fallback: none kept.
#pragma once
#include "jit/lane_loops.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

// By variable.
std::vector<char> find_uniform_plus_patterns(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                             const std::vector<LaneLoop>& loops);

// An `and`, `or` or `xor` that spreads: which operand is the mask. 0: it does not.
int spreading_mask(const Flow& flow, const Shapes& shapes, const vm::Insn& insn);

// What is added and the same in the whole block: its five lowest bits go with the pattern, so that all patterns around one
// place lie in the same lines of memory.
bool lends_low_bits(const Shape& shape, Width bytes);

}  // namespace warpbeam::jit
