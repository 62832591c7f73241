// Idea: in trees, scans and networks in shared memory everything but the data depends on thread numbers alone, which places are read and
// written and which lanes take part. Such regions are gone through when the kernel is compiled, all warps of the block, and what is left
// of them is arithmetic on registers and permutations.
// Precondition: masks and places of shared memory that are known then.
// Postcondition: nothing of it shows before its end. Fallback: where a block turns out to be none of those that were unrolled, as the
// last one of a grid, of which some threads are beyond the data, it begins again and runs region by region.
#pragma once
#include <llvm/IR/BasicBlock.h>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "jit/bits.h"
#include "jit/values.h"
#include "jit/watch.h"

namespace warpbeam::jit {

// Lines of memory that hosts were told of where a block is emitted, by what their addresses begin with: what later blocks of the
// grid read.
using NamedLines = std::set<std::tuple<const llvm::BasicBlock*, llvm::Value*, int64_t>>;

// What variables hold, by warp and by variable, in parts as Registers::storage has them; null: it is not known.
using Cells = std::array<llvm::Value*, 4>;
using WarpsValues = std::vector<std::vector<Cells>>;

// An element of shared memory.
struct UnrolledWord {
  llvm::Value* from = nullptr;      // whose lane it is; null: what was there before
  uint8_t lane = 0;
  bool changed = false;
  uint32_t step = 0;                // the region, counted from 1, in which what follows is so
  int16_t writer = -1, reader = -1; // warps
  bool many_readers = false;
  int8_t lane_writer = -1, lane_reader = -1;  // of that warp; the last reader
};

// A store to global memory, which waits for the end.
struct UnrolledStore {
  Access access;
  Value address;
  uint32_t warp = 0, mask = 0;
  uint32_t barriers = 0;                         // passed before it
  std::vector<std::pair<uint32_t, Cells>> data;  // variables
};

// For a watcher that counts: what every block that is as unrolled does, which needs no counting in each of them, and
// accesses to global memory, of which each has its own.
struct UnrolledCounts {
  std::map<uint32_t, vm::Executions> executions;  // by instruction
  std::map<WatchTables::Made, uint64_t> made;     // how often
  struct Touch {
    const vm::Insn* insn = nullptr;
    Value address;
    uint32_t mask = 0;
    uint64_t bytes = 0;
  };
  std::vector<Touch> touches;
};

struct UnrolledBlock {
  static constexpr uint32_t kEnd = ~0u;
  struct State {
    WarpsValues values;
    std::vector<Bits> written;      // by warp: variables
    std::vector<UnrolledWord> words;
    std::vector<UnrolledStore> stores;
    UnrolledCounts counts;
    const vm::Insn* untold = nullptr;  // a barrier that has been passed since an access was told to an observer of events
    uint32_t barriers = 0, to = 0;  // passed so far; the node at which the next region begins, or kEnd
  };
  State now;
  bool whole = false;               // it begins with the kernel
  bool samples = false;             // what only the launch tells is taken to be some number
  std::vector<std::optional<WarpsValues>> sampled;  // by node: at its end, with such numbers
  std::map<uint32_t, uint32_t> visits;              // of nodes, by this warp in this region
  struct First {
    llvm::Value* value = nullptr;
    uint32_t warp = 0;
  };
  std::map<std::tuple<const vm::Insn*, uint32_t, uint32_t>, First> firsts;  // by instruction, region and visit
  llvm::Value* condition = nullptr; // what must hold beside what has been looked at
  llvm::BasicBlock* otherwise = nullptr;
  std::vector<llvm::Value*> before; // by 32 elements: what was there before
  Width element = 0;                // bytes of all that is accessed
  uint64_t end = 0;                 // of what is accessed, in shared memory
  uint32_t step = 0, warp = 0;
  llvm::BasicBlock* block = nullptr;
  bool over = false;                // what shows is being written
  bool told = false;                // something was told to an observer of events
  bool knows_all = false;           // values that are not there are looked for nowhere else
  std::unordered_set<llvm::Value*> folded;
  NamedLines named;  // of no basic block: an unrolled one is all one
};

// A region, for what comes to it from an unrolled one.
struct Copy {
  llvm::BasicBlock* entry = nullptr;
  size_t region = 0;
  std::vector<std::optional<WarpsValues>> known;
};

struct UnrolledBlocks {
  UnrolledBlock* now = nullptr;         // the code is gone through when it is compiled
  std::vector<std::optional<WarpsValues>> known;  // by node: at its end
  std::vector<Copy> copies;
  bool any = false, whole = false;  // there may be some; one has gone through all of the kernel
  std::vector<char> done;           // by node: a region that begins there has been
};

}  // namespace warpbeam::jit
