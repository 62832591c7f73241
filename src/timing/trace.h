// What a few blocks of a launch did, warp by warp: the basic blocks of PTX that each warp went through, and its accesses to
// memory. Blocks of the same launch are alike often enough that these stand for all of them.
#pragma once
#include <cstdint>
#include <vector>

#include "assembly/machine_code.h"

namespace warpbeam::timing {

// None: no access, but a division and the like whose operands need a long way.
enum class Space : uint8_t { Global, Shared, Local, Constant, Texture, None };
enum class Kind : uint8_t { Load, Store, Atomic, Reduce, Copy };

struct Line {
  uint64_t number = 0;   // address / 128
  uint8_t sectors = 0;   // which of its four are wanted
  bool own = true;       // no other block that was followed wants it
  bool late = false;     // the block wanted it in the second half of what was kept, and not before
};

struct Access {
  uint32_t ptx = 0;  // the instruction, by its place in the function's body
  Space space{};
  Kind kind{};
  uint8_t lines =
      0;  // at BlockTrace::lines from first_line on; Global, Local. Atomics in shared memory: lanes of the word that most change, or that go to the cluster's
  uint16_t passes = 1;  // over the banks or the tags; of a long way: instructions
  uint16_t conflicts = 0;  // of these: because lanes met in a bank of shared memory
  uint16_t sectors = 0;  // of its lines; of the cluster's memory
  bool whole = true;  // all bytes of the sectors are touched
  bool past_l1 = false;  // a load that L1 is not asked for
  bool bulk = false;  // a copy that the unit for copies makes by itself
  bool far = false;  // of memory that lies with the host
  bool cluster = false;  // to the shared memory of blocks of the cluster, by their network
  uint32_t first_line = 0;  // of atomics in shared memory: that word
};

inline bool is_read(const Access& a) { return a.kind == Kind::Load || a.kind == Kind::Copy; }

struct Step {
  uint32_t function = 0, block = 0;  // a basic block
  uint32_t lanes = 0;  // mask
  bool waits = false;  // a turn of a loop that waits for other threads; the others were left out
  uint32_t first_access = 0;  // at WarpTrace::accesses; to that of the next step
};

struct WarpTrace {
  uint64_t instructions = 0;  // PTX instructions that are in `steps`
  uint64_t executed = 0;  // and that the warp executed
  std::vector<Step> steps;
  std::vector<Access> accesses;
};

struct BlockTrace {
  uint64_t block = 0;
  std::vector<WarpTrace> warps;
  std::vector<Line> lines;
  uint64_t instructions = 0;  // PTX instructions that were kept, of all warps
  uint64_t executed = 0;  // that they executed, waiting aside
  bool waited = false;  // some of which are left out, as their number is chance
  uint64_t lines_beyond = 0;  // different lines that it wanted only in what was not kept
  uint64_t late_lines = 0;  // different ones that are `late`
};

// Marks the lines that several blocks want. Where a trace stands for other blocks too, they want these, and lines of their own
// in place of the others.
void find_shared_lines(std::vector<BlockTrace>& blocks);

// Marks the lines that a block came to late. Where the second half of a trace stands for what was not kept, the block wants others in their place:
// it goes on through memory.
void find_late_lines(BlockTrace& block);

}  // namespace warpbeam::timing
