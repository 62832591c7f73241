// Kernels that read a little outside of their allocations, as GPUs let them: told of once, and counted.
#pragma once

namespace warpbeam::cuda {

// Unless WARPBEAM_STRICT=1 says otherwise, or a checker looks.
void let_reads_outside_pass();

}  // namespace warpbeam::cuda
