// Which blocks a multiprocessor gets where they are not alike. A GPU gives each the next block as soon as it has a place for it; how long
// a block takes is told by the instructions that it executed.
#pragma once
#include <vector>

#include "timing/multiprocessor.h"
#include "timing/work.h"

namespace warpbeam::timing {

struct Schedule {
  std::vector<Part> most;    // of the multiprocessor that executes most instructions
  std::vector<Part> latest;  // of the one whose last block ends last, would its blocks not slow each other down; empty: the same
};

// Do its blocks differ enough to matter?
bool blocks_differ(const Work& work);
Schedule schedule(const Work& work, int multiprocessors);

// What stands for a block of so many instructions: of those that were followed, the nearest one that is about as large.
class StandIns {
 public:
  explicit StandIns(const Work& work);
  Part of(uint64_t block, double instructions) const;

 private:
  std::vector<const BlockTrace*> by_size_;
};

}  // namespace warpbeam::timing
