// Values that grow evenly from lane to lane by something that is only known when the kernel runs, as `stride * tid`
// does. They are vectors like others, but of those that addresses are made of the first lane's value and the step are
// kept beside the vector, so that an access can look at the step instead of at 32 addresses.
#pragma once
#include "jit/lane_loops.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

// By variable.
std::vector<char> find_slopes(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                              const std::vector<LaneLoop>& loops);

// Of `candidates`, by variable, those that addresses are made of.
std::vector<char> made_into_addresses(const Flow& flow, const std::vector<char>& candidates);

// The instruction makes 64 bits of 32, whose lanes must not wrap around for the result to grow evenly.
bool widens(const vm::Insn& insn);

}  // namespace warpbeam::jit
