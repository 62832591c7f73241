#include "timing/chip.h"

#include <algorithm>
#include <cmath>

namespace warpbeam::timing {
namespace {

constexpr double kSector = 32;
// Machine instructions of one multiprocessor that are run; what goes beyond repeats what its blocks do all the time.
constexpr double kMostInstructions = 3e6;
constexpr double kFewBlocks = 24;
constexpr uint64_t kDraws = 5;

// What memory reaches of its peak, for so much reading and writing.
double dram_share(const Rates& rates, double read, double written) {
  const double all = read + written;
  if (all <= 0) return rates.dram_read_share;
  const double r = read / all, w = written / all, mixed = 4 * r * w;
  return (1 - mixed) * (r * rates.dram_read_share + w * rates.dram_write_share) + mixed * rates.dram_mixed_share;
}

// How much more blocks did, on average, than those that were followed.
double beyond_trace(const Work& work, double per_block) {
  if (!work.instructions || std::ranges::any_of(work.blocks, &BlockTrace::waited)) return 1;
  const double others = static_cast<double>(work.instructions) / static_cast<double>(work.grid_blocks) / per_block;
  // Blocks that were followed ran alone for long, and may have taken work that others would have.
  return others > 0.95 && others < 1.05 ? 1 : std::clamp(others, 0.02, 1.5);
}

bool blocks_differ(const Work& work) {
  double sum = 0, squares = 0;
  for (const BlockTrace& b : work.blocks) {
    const auto n = static_cast<double>(b.executed);
    sum += n, squares += n * n;
  }
  const double count = static_cast<double>(work.blocks.size()), mean = sum / std::max(1.0, count);
  return count > 1 && squares / count > 1.04 * mean * mean;  // by a fifth
}

// What nine of ten recorded kernels took, in times of what was predicted (`bench timing`, programs to calibrate with): of short
// ones the launch, which is known well, is most.
struct Interval {
  double low, high;
};
Interval interval_of(double ns) {
  if (ns < 3000) return {0.93, 1.12};
  if (ns < 15000) return {0.84, 1.70};
  return {0.55, 2.0};
}

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view kNames[] = {"memory", "L2", "compute", "latency", "tail", "atomics", "launch"};
  return kNames[static_cast<size_t>(bound)];
}

Prediction predict(const Work& work, const Rates& rates) {
  Prediction p;
  const double blocks = static_cast<double>(work.grid_blocks), sms = rates.multiprocessors;
  const double most = std::ceil(blocks / sms);    // blocks of the multiprocessor that has most of them
  const double active = std::min(sms, blocks / most);  // as many of such would do all
  p.waves = blocks / (sms * work.resident_blocks);
  p.rates = &rates;
  p.active = active;
  for (const FunctionWork& f : work.functions)
    for (const FromMemory& from : f.from_memory) p.l2_missed += from.sectors;
  p.dram_read = work.read_sectors * kSector;
  p.dram_write = work.written_back * kSector;
  const double alone = work.read_sectors + work.written_back > 0 ? work.read_alone / (work.read_sectors + work.written_back) : 0;
  const double together = 1 / (1 - alone + alone * rates.dram_read_share / rates.dram_single_share);
  const double dram_per_cycle = rates.dram_bytes_per_second / (rates.clock_mhz * 1e6) * dram_share(rates, work.read_sectors, work.written_back) * together;
  const double atomics = std::max({static_cast<double>(work.hottest_turns) * (work.float_atomics ? rates.atomic_same_float : rates.atomic_same_address),
                                   static_cast<double>(work.hottest_lanes) * rates.atomic_lane, static_cast<double>(work.atomic_sectors) / rates.atomic_sectors_per_cycle});
  const Share share{rates.l2_bytes_per_cycle / active, rates.l2_write_bytes_per_cycle / active, dram_per_cycle / active, rates.l2_mixed_bytes_per_cycle / active, active, atomics};

  double executed = 0;
  for (const BlockTrace& b : work.blocks) executed += static_cast<double>(b.executed);
  const double per_block = std::max(1.0, executed / static_cast<double>(std::max<size_t>(1, work.blocks.size())));
  const double enough = std::max<double>(6.0 * work.resident_blocks, std::floor(kMostInstructions / per_block));
  const double run = std::min(most, enough);
  p.run = run_multiprocessor(work, rates, share, static_cast<uint64_t>(run), most == 1);
  // Where blocks differ and each multiprocessor has few of them, the one that gets the most work decides.
  const double others = beyond_trace(work, per_block);
  constexpr double kTookOthersWork = 0.6;
  if (most > 1 && most <= kFewBlocks && others > kTookOthersWork && blocks_differ(work))
    for (uint64_t draw = 1; draw <= kDraws; ++draw)
      if (Run other = run_multiprocessor(work, rates, share, static_cast<uint64_t>(run), false, draw); other.cycles > p.run.cycles) p.run = std::move(other);
  double cycles = p.run.cycles;
  if (run < most) {
    const double each = p.run.steady > 0 ? p.run.steady : cycles / run;
    cycles += (std::max(blocks / sms, most - 0.5) - run) * each;
  }
  const double beyond = most > 1 || others < kTookOthersWork ? others : 1;
  cycles *= beyond;
  p.scale = blocks / run * (p.run.cycles > 0 ? 1 : 0);
  p.instructions = p.run.issued * p.scale * beyond;
  const double dram = (p.dram_read + p.dram_write) / dram_per_cycle;
  const bool by_atomics = atomics > 0.7 * cycles;
  p.cycles = cycles *= rates.cycles_correction;
  p.ns = rates.launch_ns + cycles / rates.clock_ghz();
  const Interval around = interval_of(p.ns);
  p.low = p.ns * around.low;
  p.high = p.ns * around.high;

  const double issue = p.run.issued / (p.run.cycles * rates.schedulers * rates.issue_width);
  double pipe = p.run.lsu_busy / std::max(1.0, p.run.cycles);
  for (double busy : p.run.busy) pipe = std::max(pipe, busy / (p.run.cycles * rates.schedulers));
  const double memory = dram / std::max(1.0, cycles), compute = std::max(issue, pipe);
  const double l2 = (p.run.traffic.global_load - p.run.traffic.global_load_hit + p.run.traffic.store) * kSector / std::max(1.0, p.run.cycles) / std::min(rates.l1_fill_bytes, share.l2_read);
  p.bound = Bound::Latency;
  p.bound_percent = 100 * std::max({memory, compute, l2});
  if (rates.launch_ns > 0.5 * p.ns) p.bound = Bound::Launch;
  else if (by_atomics) p.bound = Bound::Atomics;
  else if (memory >= 0.6 && memory >= compute) p.bound = Bound::Memory;
  else if (compute >= 0.6) p.bound = Bound::Compute;
  else if (l2 >= 0.6) p.bound = Bound::L2;
  else if (p.waves > 1 && p.waves < 4 && std::ceil(p.waves) / p.waves > 1.25) p.bound = Bound::Tail;
  return p;
}

}  // namespace warpbeam::timing
