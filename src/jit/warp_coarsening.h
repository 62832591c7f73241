// Warps side by side (emit_coarsened.cc, find_coarsening.cc): code that several of them run in step.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "jit/accesses.h"
#include "jit/registers.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

struct Member {  // of a team: what a warp is to the code that is written
  Storage storage;
  V warp = nullptr, spill_piece = nullptr;
  std::map<const vm::Insn*, std::shared_ptr<Windows>> windows;
};

// How what a team has grows from warp to warp, while its warps take the same steps.
struct InStep {
  std::unique_ptr<Shapes> shapes;
  std::vector<std::optional<int64_t>> steps;       // by variable
};

// What a team counts into, until it is through (emit_counts.cc).
struct OwnCounts {
  V tables = nullptr, apart_by = nullptr;          // where these are, and how far from one to the next
  V places = nullptr, values = nullptr;            // of an instruction that counts, by member
};

struct WatchCounters {  // of a watcher, that a team counts in
  uint32_t first = ~0u, last = 0;
};

struct CoarsenedWarps {
  int warps = 0;
  std::vector<char> together;                      // by node: what they run side by side
  Bits written{0};                                 // there
  std::vector<Access> reads, writes;               // pairs that must not be of one allocation
  std::vector<Member> members;
  std::vector<llvm::BasicBlock*> blocks;           // by node
  static constexpr size_t kNobody = ~size_t(0);
  size_t member = kNobody;                         // whose code is being written
  llvm::BasicBlock *single = nullptr, *apart = nullptr, *finish = nullptr;
  llvm::AllocaInst *left = nullptr, *resume = nullptr, *failures = nullptr;
  struct Point {  // where they part: at a node's end, or before it
    uint32_t node = 0;
    bool before = false;
    llvm::BasicBlock* block = nullptr;
  };
  std::vector<Point> points;
  V taken = nullptr;                               // by member: lanes that branch there
  std::vector<std::array<V, 4>> parted;            // by variable: what each member has there
  bool streams = false;                            // all that they load lies one behind the other in global memory
  std::vector<llvm::CallInst*> settles;
  bool stores = false;                             // what it stores shows: its warps do not begin again, but part before a node
  bool counts = false;                             // into tables of its own, until it is through
  InStep in_step;
  OwnCounts own_counts;
  WatchCounters counters;
};

// Blocks that a warp runs at once (emit_packs.cc).
struct Pack {
  std::vector<char> together;                      // by node: what they run so
  std::vector<Access> reads;                       // of what may change, in nodes that do not store
};

// A branch that compares what grows evenly from warp to warp.
struct Decision {
  const vm::Insn* compare = nullptr;
  bool holds = true;                               // the branch's guard is what it says, or the opposite
  std::vector<uint32_t> instructions;              // that make the guard
};

}  // namespace warpbeam::jit
