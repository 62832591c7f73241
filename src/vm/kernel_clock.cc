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
  uint64_t longest = 0;
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
  clocks().of_grids[grid_id] = {nanoseconds, 0};
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
  const Launch& launch = *warp.block->launch;
  warp.executed += kReadingTicks;
  std::lock_guard lock(clocks().mutex);
  Clock& clock = clocks().of_grids[launch.grid_id];
  clock.longest = std::max(clock.longest, warp.executed);
  const double now = clock.begun + static_cast<double>(warp.executed) / launch.clock_ghz;
  *nanoseconds = static_cast<uint64_t>(now);
  *ticks = static_cast<uint64_t>(clock.begun * launch.clock_ghz) + warp.executed;
}

}  // namespace warpbeam::vm
