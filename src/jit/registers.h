// Where the kernel's variables are: allocas, which LLVM turns into values. A variable is held as its shape says, a host scalar per run
// or a vector of lanes.
#pragma once
#include <llvm/IR/Instructions.h>

#include <array>
#include <vector>

#include "jit/writing.h"

namespace warpbeam::jit {

using Storage = std::vector<std::array<llvm::AllocaInst*, 4>>;  // by variable

struct Registers {
  Storage storage;                            // what this warp sees
  Storage guessed, packed;                    // of the versions for what is guessed, and for several blocks
  std::vector<char> block_level;              // by variable: one value for the block, or one that grows evenly from warp to warp
  std::vector<llvm::AllocaInst*> in_block;    // of those, between regions
  std::vector<llvm::AllocaInst*> block_after; // their values after the region, from the last warp that ran it
};

// What outlives barriers in memory (emit_region_spills.cc).
struct RegionSpills {
  std::vector<int32_t> at;  // by variable: where regions keep it in the warp's piece of `frame`; -1
  uint32_t stride = 0;
  V frame = nullptr, piece = nullptr;
};

}  // namespace warpbeam::jit
