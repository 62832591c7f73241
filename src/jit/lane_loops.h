// Idea: a loop that gathers and that lanes leave at different times, as over the rows of a sparse matrix, takes as long as its longest
// lane; so below some number of lanes each runs it alone. Precondition: nothing in it that lanes meet at or see of each other.
// Postcondition: what other lanes have is untouched. Fallback: the loop as vectors, which stands beside it.
#pragma once
#include <optional>

#include "jit/shapes.h"

namespace warpbeam::jit {

struct LaneLoop {
  uint32_t head = 0, latch = 0;   // it is the nodes from one to the other; lanes come in at the first
  int most_lanes = 0;             // that run one by one
  std::vector<uint32_t> variables;    // that it reads or writes
  std::vector<uint32_t> results;      // vectors that it writes and others see
  std::vector<uint32_t> targets;      // where lanes leave to
};

// Nodes from a head to a latch that lanes enter at the head and leave by branches.
struct LoopBody {
  Bits used, written, seen_after;     // variables; those that nodes behind the loop read
  std::vector<uint32_t> targets;      // where lanes leave to
  bool parts = false;                 // lanes leave at different times
};

// None: it is no such loop, or regions end in it. `region_of`: by node.
std::optional<LoopBody> loop_body(const Flow& flow, const Shapes& shapes, const std::vector<Region>& regions,
                                  const std::vector<int>& region_of, uint32_t head, uint32_t latch);
std::vector<int> regions_of_nodes(const Flow& flow, const std::vector<Region>& regions);
// The last node with a way back to `head`; -1: it is no loop's.
int32_t latch_of(const Flow& flow, uint32_t head);

// Adds to `flow` where lanes wait that have run such a loop alone.
std::vector<LaneLoop> find_lane_loops(Flow& flow, const Shapes& shapes, const std::vector<Region>& regions);

}  // namespace warpbeam::jit
