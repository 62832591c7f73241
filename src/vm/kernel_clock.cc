#include "vm/kernel_clock.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <unordered_map>

#include "vm/machine.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

constexpr uint64_t kWarpsOfBlock = 64;  // more than any has

struct Clock {
  double begun = 0;
  std::atomic<uint64_t> longest{0}, of_blocks{0}, readings{0};
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

// What a thread that runs blocks of a grid knows of their warps.
struct Here {
  struct Reader {
    const Insn* at = nullptr;  // its last reading
    uint64_t since = 0;        // ticks, when it began to read there and nowhere else
    uint64_t ticks = 0;
  };
  uint64_t grid = ~uint64_t(0);
  Clock* clock = nullptr;
  std::unordered_map<uint64_t, Reader> warps;     // by block and warp
  std::unordered_map<uint64_t, uint64_t> blocks;  // the longest of each
  uint64_t warp = ~uint64_t(0), block = ~uint64_t(0);  // the last ones that were asked for
  Reader* reader = nullptr;
  uint64_t* longest = nullptr;
};

// Of the grids that a thread ran last: one that launches others goes on after them.
Here& here(const Launch& launch) {
  static thread_local Here all[4];
  static thread_local uint32_t last = 0;
  if (all[last].grid == launch.grid_id) return all[last];
  const auto known = std::ranges::find(all, launch.grid_id, &Here::grid);
  if (known != std::end(all)) {
    last = static_cast<uint32_t>(known - all);
    return *known;
  }
  last = (last + 1) % std::size(all);
  Here& here = all[last] = Here{};
  std::lock_guard lock(clocks().mutex);
  // A clock stays where it is while its grid runs.
  here.clock = &clocks().of_grids[launch.grid_id];
  here.grid = launch.grid_id;
  return here;
}

Here::Reader& reader(Here& here, const Warp& warp) {
  const uint64_t block = warp.block->linear, key = block * kWarpsOfBlock + warp.index;
  if (block != here.block) here.longest = &here.blocks[block], here.block = block;
  if (key != here.warp) here.reader = &here.warps[key], here.warp = key;
  return *here.reader;
}

void pass(Here& here, Here::Reader& reader, uint64_t ticks) {
  reader.ticks += ticks;
  uint64_t& of_block = *here.longest;
  if (reader.ticks <= of_block) return;
  here.clock->of_blocks.fetch_add(reader.ticks - of_block, std::memory_order_relaxed);
  of_block = reader.ticks;
  std::atomic<uint64_t>& longest = here.clock->longest;
  uint64_t before = longest.load(std::memory_order_relaxed);
  while (of_block > before && !longest.compare_exchange_weak(before, of_block, std::memory_order_relaxed)) {}
}

}  // namespace

void begin_kernel_clock(uint64_t grid_id, double nanoseconds) {
  std::lock_guard lock(clocks().mutex);
  clocks().of_grids[grid_id].begun = nanoseconds;
  kernels_have_clocks.store(true, std::memory_order_relaxed);
}

KernelClockUse end_kernel_clock(uint64_t grid_id) {
  std::lock_guard lock(clocks().mutex);
  auto found = clocks().of_grids.find(grid_id);
  if (found == clocks().of_grids.end()) return {};
  const KernelClockUse use{found->second.longest, found->second.of_blocks, found->second.readings};
  clocks().of_grids.erase(found);
  return use;
}

void read_kernel_clock(Warp& warp, const Insn* at, uint64_t* nanoseconds, uint64_t* ticks) {
  const Launch& launch = *warp.block->launch;
  Here& all = here(launch);
  Here::Reader& mine = reader(all, warp);
  if (mine.at != at) mine.at = at, mine.since = mine.ticks;
  pass(all, mine, std::max(kReadingTicks, (mine.ticks - mine.since) / kStepShare));
  all.clock->readings.fetch_add(1, std::memory_order_relaxed);
  *nanoseconds = static_cast<uint64_t>(all.clock->begun + static_cast<double>(mine.ticks) / launch.clock_ghz);
  *ticks = static_cast<uint64_t>(all.clock->begun * launch.clock_ghz) + mine.ticks;
}

void pass_kernel_clock(Warp& warp, uint64_t nanoseconds) {
  const Launch& launch = *warp.block->launch;
  Here& all = here(launch);
  pass(all, reader(all, warp), static_cast<uint64_t>(static_cast<double>(nanoseconds) * launch.clock_ghz));
}

}  // namespace warpbeam::vm
