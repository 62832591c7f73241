// Accesses of memory lane by lane.
#pragma once
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Function.h>

namespace warpbeam::jit {

// For optimised code: accesses under a mask that the processor has no instruction for become one access of all lanes, and
// loops over the mask's bits where some take no part.
// LLVM makes a decision for each lane of them instead: dozens of blocks for one access, with which the time that it takes to
// compile grows out of hand.
void settle_lane_accesses(llvm::Function& function, const llvm::TargetTransformInfo& processor);

}  // namespace warpbeam::jit
