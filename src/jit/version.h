// Where the code that is being written stands, and what it is for: whole warps, one lane, the first few lanes, slices, warps side by
// side. A technique sets these, writes the same code as ever, and sets them back.
#pragma once
#include <llvm/IR/Instructions.h>

#include <map>
#include <set>
#include <vector>

#include "jit/flow.h"
#include "jit/writing.h"

namespace warpbeam::jit {

struct Place {
  size_t region = 0;
  uint32_t node = 0;
  V warp = nullptr;         // index of the warp that runs
  V active = nullptr;       // lanes that run the current node
  V come = nullptr;         // with those that the instruction's guard keeps away; null: active
  bool forced = false;      // writes keep the old values of lanes outside `active`
  int32_t stretch = -1;     // of watched code: the node's
};

// Loops that a warp runs slice by slice (emit_subwarp.cc).
struct SubwarpLoop {
  uint32_t head = 0, latch = 0;   // it is the nodes from one to the other; lanes come in at the first
  uint32_t target = 0;            // where all of them leave to
  unsigned lanes = 0;             // of a slice
  bool reads = false;             // memory, at places that are the same for all lanes
  Bits used, written, seen_after; // variables
  bool has(uint32_t node) const { return node >= head && node <= latch; }
};

// In a loop of single lanes they are kept in variables of its own: the host has registers for them.
struct LaneCells {
  std::map<uint32_t, llvm::AllocaInst*> kept;
  llvm::Instruction* begin = nullptr;              // before the loop
  std::vector<llvm::Instruction*> changed;         // calls after which they may be others
};

struct CoarsenedWarps;

struct Version {
  bool alone = false;                  // for one lane
  int few = 0;                         // for so many lanes, the first ones
  const SubwarpLoop* slice = nullptr;   // for a slice of a warp
  CoarsenedWarps* team = nullptr;                // whose code is being written
  llvm::BasicBlock* apart = nullptr;   // for warps side by side: where they go when one cannot follow
  uint64_t watch_times = 1;            // how many warps it stands for
  std::vector<V>* wraps = nullptr;     // where check_wrap is to leave its conditions instead of handing over
  LaneCells* lane_cells = nullptr;
  bool sparing = false;                // with the code of special functions
  std::set<const vm::Insn*> checked, handled;  // accesses that need no check here, and those that go to their handlers
};

}  // namespace warpbeam::jit
