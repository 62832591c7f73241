// Loops that lanes leave at different times and that read memory here and there, as over the rows of a sparse matrix. As a
// vector such a loop takes as long as its longest lane and a gather costs as much as its lanes one by one; so below some
// number of lanes each runs the loop by itself.
#pragma once
#include "jit/shapes.h"

namespace warpbeam::jit {

struct LaneLoop {
  uint32_t head = 0, latch = 0;   // it is the nodes from one to the other; lanes come in at the first
  int most_lanes = 0;             // that run one by one
  std::vector<uint32_t> variables;    // that it reads or writes
  std::vector<uint32_t> results;      // vectors that it writes and others see
};

std::vector<LaneLoop> find_lane_loops(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions);

}  // namespace warpbeam::jit
