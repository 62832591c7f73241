// What warps of a block do at about the same time on a GPU although no barrier says so (vm/warp.h, "Turns"). Compiled code
// takes a warp from barrier to barrier before it begins with the next.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "jit/roots.h"

namespace warpbeam::jit {

// Nodes between which the warps had better meet, with no barrier in between: the first changes global memory, and the second,
// a later pass, reads what may be the same; or the first reads shared memory, or a flag, and the second changes what others
// may still read.
std::vector<ImplicitSync> find_implicit_syncs(const Flow& flow, const Roots& roots, const std::array<uint32_t, 3>& block);

// All warps of the block read, compute and store the same: a block of 32 x 8 threads whose kernel looks at threadIdx.x only.
// Side by side they end with the same value; one after the other each would go on with what the last one left.
std::string find_same_work(const Flow& flow, const Roots& roots, const std::array<uint32_t, 3>& block);

}  // namespace warpbeam::jit
