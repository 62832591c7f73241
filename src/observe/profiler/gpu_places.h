// Where a GPU would have the allocations that are alive, for rules that look at addresses: cudaMalloc packs what is at most
// 1 MiB into blocks of 2 MiB, at multiples of 512 bytes, and begins larger ones at a multiple of 2 MiB (as an H100 gave them
// out). Here gaps stand between allocations, so that a wrong index is an error.
#pragma once
#include <cstdint>
#include <vector>

#include "vm/memory.h"

namespace warpbeam::observe {

class GpuPlaces {
 public:
  // As if no others had ever been there.
  explicit GpuPlaces(std::vector<vm::Allocation> live);

  // What to add to an address of that allocation; 0 for memory that cudaMalloc did not give.
  uint64_t shift(uint64_t address) const;

 private:
  struct Range {
    uint64_t begin, end, shift;
  };
  std::vector<Range> ranges_;  // by begin
};

}  // namespace warpbeam::observe
