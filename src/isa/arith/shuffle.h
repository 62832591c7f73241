// Which lane a lane reads in `shfl`: the manual's pseudo-code.
#pragma once
#include <cstdint>

#include "isa/mods.h"

namespace warpbeam::isa {

struct ShuffledFrom {
  int lane;       // its own where what was asked for is out of range
  bool in_range;  // the predicate that the instruction writes
};

// `control` holds the segment mask in bits 8-12 and the clamp in bits 0-4.
constexpr ShuffledFrom shuffled_from(Shuffle kind, int lane, uint32_t by, uint32_t control) {
  const int segment = static_cast<int>(control >> 8 & 31), clamp = static_cast<int>(control & 31), b = static_cast<int>(by & 31);
  const int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
  int j = lane;
  bool p = false;
  switch (kind) {
    case Shuffle::Up:
      j = lane - b;
      p = j >= last;
      break;
    case Shuffle::Down:
      j = lane + b;
      p = j <= last;
      break;
    case Shuffle::Bfly:
      j = lane ^ b;
      p = j <= last;
      break;
    case Shuffle::Idx:
      j = first | (b & ~segment);
      p = j <= last;
      break;
    default: break;
  }
  return {p ? j & 31 : lane, p};
}

}  // namespace warpbeam::isa
