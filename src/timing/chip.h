// How long a launch takes on a whole GPU: one multiprocessor's part of its blocks is run (multiprocessor.h), with its part of
// what L2 and memory can do, and what all multiprocessors share is added.
#pragma once
#include <string_view>

#include "timing/multiprocessor.h"
#include "timing/rates.h"
#include "timing/work.h"

namespace warpbeam::timing {

enum class Bound : uint8_t { Memory, L2, Compute, Latency, Tail, Atomics, Launch, Link };
std::string_view name_of(Bound bound);

struct Prediction {
  double ns = 0, low = 0, high = 0;  // nine of ten are between low and high
  double cycles = 0;
  Bound bound{};
  double bound_percent = 0;  // of the limit
  double scale = 1;          // from the multiprocessor that was run to all of them
  double waves = 0;
  double dram_read = 0, dram_write = 0;  // bytes
  double l2_missed = 0;      // sectors of loads and atomic operations that L2 had not
  double active = 1;         // multiprocessors that had work all the time, would the others have had none
  double instructions = 0;   // machine instructions of all warps
  const Rates* rates = nullptr;
  Run run;

  // As long as this because of what lies with the host: pages of managed memory, mapped memory.
  void wait_for_link(double nanoseconds);
};

Prediction predict(const Work& work, const Rates& rates);

// A multiprocessor's first blocks alone, all alike: as many as it holds at once.
uint64_t first_blocks(uint64_t grid_blocks, uint32_t resident_blocks, const Rates& rates);
Run run_beginning(const Work& work, const Rates& rates);

}  // namespace warpbeam::timing
