// A store in which lanes lie far apart and a warp's places are right behind those of the warp before, as when a matrix
// is transposed straight from rows to columns: each warp touches 32 lines for 4 bytes. What warps store is put down
// instead until there are lines to fill.
#pragma once
#include <cstdint>

#include "jit/flow.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

inline constexpr uint64_t kMostRows = 16;

struct Rows {  // of a block: lane l of row r goes to first + l * slope + 4 * r
  uint64_t count, first, slope;
  alignas(64) uint32_t data[kMostRows][32];
};

// The store that may come later than it is written, or null: the last access of its thread, once in a thread, and
// nothing that orders accesses or depends on them beside it.
const vm::Insn* find_late_store(const Flow& flow, const Shapes& shapes, const std::vector<char>& slopes);

extern "C" void wb_write_rows(Rows* rows);

}  // namespace warpbeam::jit
