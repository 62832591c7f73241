// What the vendor's assembler makes of wmma.load and wmma.store, which the machine does element by element.
#pragma once
#include <vector>

#include "vm/code.h"
#include "vm/observer.h"

namespace warpbeam::observe {

// Gathers the accesses of one such instruction after the other.
// Reads tiles of a matrix from shared memory, lane 8t + r naming row r of tile t (LDSM).
bool loads_tiles(const vm::Insn& insn);

class FragmentAccesses {
 public:
  static bool concerns(const vm::Insn& insn) { return insn.fragment; }
  // It reads shared memory by tiles wherever their rows are of 16 bytes.
  static bool by_tiles(const vm::Insn& insn);
  // One access of the machine's. With the last of the instruction, those that a GPU makes instead; before it, none.
  const std::vector<vm::Access>& take(const vm::Insn& insn, const vm::Access& element);

 private:
  const vm::Insn* insn_ = nullptr;
  std::vector<vm::Access> elements_, made_;
};

}  // namespace warpbeam::observe
