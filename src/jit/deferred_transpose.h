// Idea: a store in which lanes lie far apart and a warp's places are right behind those of the warp before, as when a matrix is
// transposed straight from rows to columns, touches 32 lines for one element each. What warps store is put down until there are
// lines to fill.
// Precondition: the last access of its thread, once in a thread, of 4 or 8 bytes (of smaller ones too many warps would have to
// wait), and nothing beside it that orders accesses or depends on them.
// Postcondition: before anything else can see memory (wb_write_rows at a handler, the block's end) all rows are in their places.
// Fallback: what is not a full warp, or does not go on behind the warp before, is stored lane by lane.
#pragma once
#include <cstddef>
#include <cstdint>

#include "jit/flow.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

inline constexpr uint64_t kMostRows = 16;  // of 4 bytes; of 8 half as many fill a line

struct Rows {  // of a block: lane l of row r goes to first + l * slope + bytes * r
  uint64_t count, first, slope, bytes;
  alignas(64) std::byte data[kMostRows * 32 * 4];  // row behind row, each lane's element of 4 or 8 bytes
};

// The store that may come later than it is written, or null: the last access of its thread, once in a thread, and
// nothing that orders accesses or depends on them beside it.
const vm::Insn* find_late_store(const Flow& flow, const Shapes& shapes, const std::vector<char>& slopes);

extern "C" void wb_write_rows(Rows* rows);

}  // namespace warpbeam::jit
