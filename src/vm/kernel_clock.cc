#include "vm/kernel_clock.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "vm/machine.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

struct Clock {
  double begun = 0;
  std::atomic<uint64_t> longest{0};
};

struct Clocks {
  std::mutex mutex;
  std::map<uint64_t, Clock> of_grids;
};

// Never destroyed: kernels may run while the process ends.
Clocks& clocks() {
  static auto* clocks = new Clocks;
  return *clocks;
}

}  // namespace

void begin_kernel_clock(uint64_t grid_id, double nanoseconds) {
  std::lock_guard lock(clocks().mutex);
  clocks().of_grids[grid_id].begun = nanoseconds;
  kernels_have_clocks.store(true, std::memory_order_relaxed);
}

uint64_t end_kernel_clock(uint64_t grid_id) {
  std::lock_guard lock(clocks().mutex);
  auto found = clocks().of_grids.find(grid_id);
  if (found == clocks().of_grids.end()) return 0;
  const uint64_t longest = found->second.longest;
  clocks().of_grids.erase(found);
  return longest;
}

void read_kernel_clock(Warp& warp, uint64_t* nanoseconds, uint64_t* ticks) {
  // Grids have different numbers, and a clock stays where it is while its grid runs.
  static thread_local uint64_t last_grid = ~uint64_t(0);
  static thread_local Clock* last = nullptr;
  const Launch& launch = *warp.block->launch;
  if (launch.grid_id != last_grid) {
    std::lock_guard lock(clocks().mutex);
    last = &clocks().of_grids[launch.grid_id];
    last_grid = launch.grid_id;
  }
  warp.executed += kReadingTicks;
  uint64_t longest = last->longest.load(std::memory_order_relaxed);
  while (warp.executed > longest && !last->longest.compare_exchange_weak(longest, warp.executed, std::memory_order_relaxed)) {}
  *nanoseconds = static_cast<uint64_t>(last->begun + static_cast<double>(warp.executed) / launch.clock_ghz);
  *ticks = static_cast<uint64_t>(last->begun * launch.clock_ghz) + warp.executed;
}

}  // namespace warpbeam::vm
