// From block to block, from region to region, from warp to warp and to the grid's next block.
#pragma once
#include <llvm/IR/Instructions.h>

#include <vector>

#include "jit/version.h"

namespace warpbeam::jit {

struct ControlState {
  std::vector<llvm::AllocaInst*> masks;          // by node: lanes that are to run it
  std::vector<llvm::BasicBlock*> blocks;         // by node, in the region that is being written
  std::vector<char> full;                        // by node: every lane of the warp runs it
  std::vector<SubwarpLoop> sliced;                // of the region that is being written
  std::vector<llvm::BasicBlock*> region_entry;
  std::vector<int32_t> region_of_entry;          // by node
  llvm::AllocaInst* exit_mask = nullptr;
  llvm::AllocaInst* first_warp = nullptr;        // which warp begins the next region
  llvm::BasicBlock* region_exit = nullptr;       // the warp is through with its region
  llvm::BasicBlock* handed_over = nullptr;
  bool many_regions = false, lanes_leave = false;
  bool many_functions = false;                   // special ones, whose code is long: where something is unusual they are called
};

// What warps say at barriers and at decisions of the block.
struct Votes {
  llvm::AllocaInst *all_taken = nullptr, *none_taken = nullptr, *any_live = nullptr;
  llvm::AllocaInst *popc = nullptr, *all = nullptr, *any = nullptr;  // of bar.red
};

// Of warps that stop at barriers.
struct Stops {
  llvm::SwitchInst* resume = nullptr;            // to where the warp goes on
  llvm::BasicBlock* next_warp = nullptr;
  llvm::Value* lanes = nullptr;                  // of the warp, that have not left when it goes on
  llvm::AllocaInst* any = nullptr;               // has one stopped in this round?
};

struct BlockRow {
  llvm::BasicBlock* next = nullptr;              // null: the code is for one block
  llvm::AllocaInst* x = nullptr;                 // its place in the row, where it is not
  llvm::AllocaInst* failures = nullptr;          // of packs of blocks, from the first block on
};

}  // namespace warpbeam::jit
