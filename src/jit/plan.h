// What is to be compiled, and which techniques fit: everything that is decided before code is written.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "jit/guesses.h"
#include "jit/lane_loops.h"
#include "jit/roots.h"
#include "jit/shapes.h"
#include "jit/values.h"

namespace warpbeam::jit {

struct PlanRequest {
  const vm::Code* code = nullptr;
  const vm::EngineServices* services = nullptr;
  std::array<uint32_t, 3> block{1, 1, 1};
  size_t param_bytes = 0;
  vm::Wanted wanted;
  Wraps wraps = Wraps::Nothing;
  bool in_turns = false;  // warps of a block were seen to go different ways to their barriers
  bool rows = true;       // rows of threads may begin at other lanes
};

struct KernelPlan {
  const vm::Code* code = nullptr;
  Flow flow;
  Shapes shapes;
  Roots roots;
  std::vector<LaneLoop> lane_loops;
  std::vector<char> slopes, spreads;  // by variable
  std::unique_ptr<OtherShapes> guessed, packed;  // of versions for guessed masks, and for several blocks in a warp
  std::vector<Region> regions;
  std::vector<char> decides;
  std::vector<char> settled;  // by node, where somebody wants events
  std::array<uint32_t, 3> block{1, 1, 1};  // as lanes have it
  uint32_t row = 0;           // not 0: of block[0] lanes only so many are threads (rows.h)
  std::vector<WaitingLoop> waits;
  bool polls = false;         // there are some: it may wait for other threads
  Width local_unit = 0;       // not 0: compiled code has so many bytes of each lane's local memory side by side (emit_local.cc)
  bool uncut = false;         // barriers do not cut it, and there is nothing else yet
  uint32_t lanes() const { return block[0] * block[1] * block[2]; }
  uint32_t warps() const { return (lanes() + kLanes - 1) / kLanes; }
  bool only_whole_warps() const { return !row && lanes() % kLanes == 0; }
};

// Why the kernel cannot be compiled; empty: `plan` says how.
std::string make_plan(KernelPlan& plan, const PlanRequest& request);

}  // namespace warpbeam::jit
