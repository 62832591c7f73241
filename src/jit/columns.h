// A store in which lanes lie far apart and a warp's places are right behind those of the warp before, as when a matrix
// is transposed straight from rows to columns: each warp touches 32 lines for 4 bytes. What warps store is put down
// instead until there are lines to fill. For elements of 4 and 8 bytes: of smaller ones too many warps would have to wait.
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
