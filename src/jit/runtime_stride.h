// Idea: of values that grow evenly from lane to lane by something only known at run time, as `stride * tid`, the first lane's value and
// the step are kept beside the vector: an access looks at the step, not at 32 addresses.
// Precondition: addresses are made of them. Postcondition: the vector is there as ever. Fallback: no line (emit_runtime_stride.cc).
#pragma once
#include "jit/lane_loops.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

// By variable.
std::vector<char> find_runtime_strides(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                       const std::vector<LaneLoop>& loops);

// Of `candidates`, by variable, those that addresses are made of.
std::vector<char> made_into_addresses(const Flow& flow, const std::vector<char>& candidates);

// The instruction makes 64 bits of 32, whose lanes must not wrap around for the result to grow evenly.
bool widens(const vm::Insn& insn);

}  // namespace warpbeam::jit
