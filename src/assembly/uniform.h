// Which registers hold the same for all lanes of a warp, and which branches all lanes take alike, as an assembler can tell.
#pragma once
#include <vector>

#include "assembly/flow.h"
#include "ptx/blocks.h"
#include "ptx/module.h"

namespace warpbeam::assembly {

// By register; 0 where lanes may differ. A register that is written in several places is uniform only where no lane comes to
// one of them without the others.
std::vector<char> uniform_registers(const ptx::Function& f, const std::vector<ptx::Block>& blocks, const Flow& flow);

}  // namespace warpbeam::assembly
