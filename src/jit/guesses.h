// Idea: `t & (distance - 1)` may be anything from lane to lane, but the distances of trees and networks are powers of two, and from 32 on
// it grows like `t`; `i & run` is then the same in all lanes. So a region has a second version, with the shapes that follow where the
// lowest bits of a mask are all zeros, or all ones where one has been subtracted from it.
// Precondition: the masks can be looked at before its warps run; what outlives regions is the same in both versions.
// Postcondition: as by the first version. Fallback: that one, where a guess is wrong.
#pragma once
#include "jit/lane_loops.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

// What a second version of code takes variables for.
struct OtherShapes {
  Shapes shapes;
  std::vector<Bits> waits;     // by node
  std::vector<char> slopes, spreads;  // by variable
};

// Null: there is nothing to guess.
std::unique_ptr<OtherShapes> guess_shapes(Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                          const std::vector<char>& decides, bool barriers, const std::vector<LaneLoop>& loops);

// Idea: lanes that a block of 1, 8 or 16 threads leaves idle are those of the blocks that follow it in the grid's row: `%ctaid.x` is
// one number more from block to block. Precondition: the kernel's code can be run by several blocks in step (emit_packs.cc).
// Fallback: block by block. Null: blocks do not fill a part of a warp, or there is a barrier.
std::unique_ptr<OtherShapes> pack_shapes(Flow& flow, const Shapes& shapes, const std::vector<char>& decides);

// What a version of a region rests on: masks, and the instructions that find them when the region begins.
struct Mask {
  int32_t at = -1;  // its slot
  bool ones = false;
};
struct GuessedMasks {
  std::vector<Mask> masks;
  std::vector<uint32_t> makes;  // instructions, in order
};
// No masks: the region has no second version.
GuessedMasks guessed_masks(const Flow& flow, const Region& region, const Shapes& guessed);

}  // namespace warpbeam::jit
