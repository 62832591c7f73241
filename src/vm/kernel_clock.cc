#include "vm/kernel_clock.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vm/machine.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

constexpr uint64_t kGlobalTimerStep = 32;  // nanoseconds; an H100 and an H200
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
    uint64_t waited = 0;       // of these: that went by because it read
    // Cycles that its block had run at the last reading of which that was known, and what the clock said then.
    double cycles = 0;
    uint64_t then = 0;
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

// How long it takes from one reading to another one, as it was found last where that is known (Reader::cycles): other blocks do the same.
class Ways {
 public:
  void learn(const Insn* from, const Insn* to, uint64_t ticks) {
    std::lock_guard lock(mutex_);
    known_[{from, to}] = ticks;
  }
  std::optional<uint64_t> between(const Insn* from, const Insn* to) {
    std::lock_guard lock(mutex_);
    const auto found = known_.find({from, to});
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<const Insn*, const Insn*>, uint64_t> known_;
};

Ways& ways() {
  static auto* ways = new Ways;
  return *ways;
}

void pass(Here& here, Here::Reader& reader, uint64_t ticks) {
  reader.ticks += ticks;
  reader.waited += ticks;
  uint64_t& of_block = *here.longest;
  if (reader.waited <= of_block) return;
  here.clock->of_blocks.fetch_add(reader.waited - of_block, std::memory_order_relaxed);
  of_block = reader.waited;
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
  const bool again = mine.at == at;
  BlockObserver* const observer = warp.block->observer.get();
  const auto cycles = observer ? observer->clock_read(warp, *at, !again) : std::nullopt;
  if (cycles) {
    const auto took = static_cast<uint64_t>(std::max(0.0, std::round(*cycles - mine.cycles)));
    if (mine.at) ways().learn(mine.at, at, took);
    mine.ticks = std::max(mine.ticks + 1, mine.then + took);
    mine.cycles = *cycles, mine.then = mine.ticks;
  } else if (const auto known = again ? std::nullopt : ways().between(mine.at, at)) {
    mine.ticks += *known;
  } else {
    pass(all, mine, std::max(kReadingTicks, (mine.ticks - mine.since) / kStepShare));
    all.clock->readings.fetch_add(1, std::memory_order_relaxed);
  }
  if (!again) mine.at = at, mine.since = mine.ticks;
  *nanoseconds =
      static_cast<uint64_t>(all.clock->begun + static_cast<double>(mine.ticks) / launch.clock_ghz) / kGlobalTimerStep * kGlobalTimerStep;
  *ticks = static_cast<uint64_t>(all.clock->begun * launch.clock_ghz) + mine.ticks;
}

void pass_kernel_clock(Warp& warp, uint64_t nanoseconds) {
  const Launch& launch = *warp.block->launch;
  Here& all = here(launch);
  pass(all, reader(all, warp), static_cast<uint64_t>(static_cast<double>(nanoseconds) * launch.clock_ghz));
}

}  // namespace warpbeam::vm
