// One multiprocessor, event by event: its schedulers issue the machine instructions of resident warps in order, each when what
// it reads is there and its unit is free; blocks come as places become free. What it asks of L2 and memory it gets at its share
// of their rates.
//
// Events are issues: between two of them nothing is computed, so that time costs nothing and instructions cost some 30 ns.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "timing/rates.h"
#include "timing/work.h"

namespace warpbeam::timing {

// Why a warp does not issue, by Nsight Compute's names (stalls.inc).
enum class Stall : uint8_t {
#define WB_STALL(id, name, nvprof, about) id,
#include "timing/stalls.inc"
#undef WB_STALL
};
inline constexpr size_t kStalls = static_cast<size_t>(Stall::Selected) + 1;
using Stalls = std::array<double, kStalls>;

// Bytes a cycle that one multiprocessor gets while all that take part want as much.
struct Share {
  double l2_read = 64, l2_write = 64, dram = 16;
  double l2_beside = 64;  // of writing, where nothing but what it shares with reading limits it
  double active = 132;  // multiprocessors that take part
  double atomics = 0;   // cycles that the operations on the hottest words take in L2
};

struct Traffic {  // sectors
  double global_load = 0, global_load_hit = 0, local_load = 0, local_load_hit = 0, store = 0, atomic = 0, dram_read = 0;
  double global_store = 0, global_store_hit = 0, local_store = 0, local_store_hit = 0;  // to lines that L1 had
};

// A block to run: what one that was followed did, so many times as much of it.
struct Part {
  const BlockTrace* trace = nullptr;
  double times = 1;
};

struct Run {
  double cycles = 0;        // until all is done
  double steady = 0;        // cycles a block more would take, once all places are full; 0: too few blocks ran
  uint64_t blocks = 0;
  double issued = 0;        // warp instructions
  double executed = 0;      // PTX instructions that these are
  double warp_cycles = 0;   // warps that were there, times cycles
  double eligible = 0;      // warp-cycles ready to issue
  Stalls stalls{};          // warp-cycles
  std::array<double, kUnits> busy{};  // scheduler-cycles
  double lsu_busy = 0;      // cycles of the path to memory
  bool half_matrices = false;  // products of matrices of halves were among it
  Traffic traffic;
  std::vector<std::vector<Stalls>> by_instruction;  // [function][PTX instruction]
  // Of the first warp, where that is asked for: when it issued instructions that may read its clock, and which.
  struct Clock {
    uint32_t ptx = 0;
    double cycles = 0;
  };
  std::vector<Clock> clocks;
};

Run run_multiprocessor(const Work& work, const Rates& rates, const Share& share, const std::vector<Part>& blocks);
// Blocks for which those that were followed stand in turn.
std::vector<Part> alike(const Work& work, uint64_t blocks);

}  // namespace warpbeam::timing
