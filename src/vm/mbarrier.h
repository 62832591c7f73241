// Barriers in shared memory, as asynchronous copies see them.
#pragma once
#include "vm/warp.h"

namespace warpbeam::vm {

// A copy of `bytes` that the mbarrier at `address` (of any block of the cluster) waits for is complete.
void complete_transactions(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes);

}  // namespace warpbeam::vm
