// Values that are one number for the warp and a pattern of lanes that has nothing to do with the warp: `2 * t - (t & m)`
// is 2 * t0 - (t0 & m) for the warp's first thread t0 and 2 * l - (l & m) for lane l, whatever the mask m is, and so are `t ^ m` and
// `t | m`, where m's five lowest bits go with the pattern. They are vectors like others, but of those that addresses are made of the two parts are kept beside the vector: what an access has
// to find out about its pattern is then found out once for all warps.
#pragma once
#include "jit/lane_loops.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

// By variable.
std::vector<char> find_spreads(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                               const std::vector<LaneLoop>& loops);

// An `and`, `or` or `xor` that spreads: which operand is the mask. 0: it does not.
int spreading_mask(const Flow& flow, const Shapes& shapes, const vm::Insn& insn);

// What is added and the same in the whole block: its five lowest bits go with the pattern, so that all patterns around one
// place lie in the same lines of memory.
bool lends_low_bits(const Shape& shape, Width bytes);

}  // namespace warpbeam::jit
