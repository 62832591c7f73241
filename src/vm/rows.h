// Which lanes are threads, whether rows of them begin at multiples of Block::row lanes or follow one another. In line: the fast engine asks.
#pragma once
#include "vm/machine.h"
#include "vm/warp.h"

namespace warpbeam::vm {

inline uint32_t Block::warps_wanted() const {
  const uint32_t lanes = row ? row * launch->block[1] * launch->block[2] : threads;
  return (lanes + kWarpSize - 1) / kWarpSize;
}

inline uint32_t Block::present(uint32_t warp) const {
  uint32_t lanes = 0;
  for (uint32_t l = 0; l < kWarpSize; ++l) {
    const uint32_t at = warp * kWarpSize + l;
    const bool thread = row ? at % row < launch->block[0] && at / row * launch->block[0] < threads : at < threads;
    lanes |= uint32_t{thread} << l;
  }
  return lanes;
}

}  // namespace warpbeam::vm
