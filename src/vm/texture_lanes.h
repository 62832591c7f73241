// Textures read by a whole warp.
//
// Idea: what texture.cc does for a point, as loops over 32 lanes that the compiler makes vectors of: coordinates, places, texels,
// weights. Texels that lie side by side, as neighbours read them, are one load.
// Precondition: one texture for all lanes, of one or two dimensions and one level, no layers, no sRGB, coordinates below 2^20 texels;
// its memory is known to be there; nobody watches. Blends are of floats of 32 bits or of channels that become fractions.
// Postcondition: the same bits as sample() and fetch() of texture.h in the lanes of the mask.
// Fallback: false, and those do it lane by lane.
#pragma once
#include <cstdint>

namespace warpbeam::vm {

struct Block;
struct Insn;

// Whether the instruction is a read that may be done so.
bool reads_lanes(const Insn& i);
// The channels that it has read, one behind the other, behind which there are zeros; none: it did nothing.
struct LaneTexels {
  const uint32_t* first = nullptr;  // 32 lanes, among `results` or in the texture itself
  uint64_t channels = 0;
};
// `coordinates` and `results` lie one behind the other, each of 32 lanes.
LaneTexels read_lanes(Block& block, const Insn& i, uint64_t handle, uint32_t mask, const uint32_t* coordinates, uint32_t* results);

}  // namespace warpbeam::vm
