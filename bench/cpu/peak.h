#pragma once

namespace bench {

// What all cores together do in fused multiply-adds on 32-bit floats, each counted as two operations, per second:
// measured with independent chains in registers.
double fma_peak();

}  // namespace bench
