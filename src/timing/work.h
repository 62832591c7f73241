// All that the model is told of a launch.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "assembly/machine_code.h"
#include "timing/trace.h"

namespace warpbeam::timing {

// Of the sectors that an instruction asked L1 for, all of the launch's: how many memory had to deliver, because L2 had them not.
struct FromMemory {
  double sectors = 0, of = 0;
  double fetched = 0;  // memory delivers 64 bytes at a time
  double others = 0, late = 0;  // that L2 had because of other blocks; of these: that they asked memory for at the same time
  double far = 0;  // that only the other side's part of L2 had
  double share() const { return of > 0 ? sectors / of : 0; }
  double far_share() const { return of > 0 ? far / of : 0; }
  double late_share() const { return others > 0 ? late / others : 0; }
  double fetched_share() const { return sectors > 0 ? fetched / sectors : 1; }
};

struct FunctionWork {
  std::shared_ptr<const assembly::MachineCode> code;
  std::vector<FromMemory> from_memory;  // by PTX instruction; empty: none
};

// What L2 and memory had to do for all of the launch.
struct MemoryWork {
  double written_back = 0;     // sectors that L2 wrote to memory meanwhile
  double read_sectors = 0;     // that it read from there
  double read_for_stores = 0;  // of these: to fill what stores left out
  double bursts = 0;           // of 64 bytes, in which memory moved all that
  double bursts_alone = 0;     // of these: far from what it moved lately
  double atomic_cycles = 0;    // that atomic operations keep the parts of L2 busy that have most of them
  double atomic_meetings = 0;  // sectors' worth that they do beside, for lanes of a warp that want one word
};

struct Work : MemoryWork {
  std::vector<FunctionWork> functions;  // Step::function is an index
  std::vector<BlockTrace> blocks;       // some, spread over the grid, in its order
  uint64_t grid_blocks = 1;
  uint32_t block_threads = 32;
  uint32_t resident_blocks = 1;         // that a multiprocessor holds
  uint64_t shared_bytes = 0;            // of a multiprocessor that is set aside for shared memory
  uint64_t instructions = 0;            // PTX instructions that the launch executed, by warps; 0: not known
  std::vector<uint32_t> sizes;          // of each block; empty: not known
  double camping = 1;                   // how much longer memory takes because blocks meet in few of its partitions
  bool cooperative = false;             // its blocks wait for each other
  double atomic_sectors = 0;
  bool watches_clock = false;           // Run::clocks is wanted
  double far_latency = 0;               // nanoseconds until a load from the host's memory is there
};

}  // namespace warpbeam::timing
