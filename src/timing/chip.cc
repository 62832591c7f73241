#include "timing/chip.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "timing/schedule.h"

namespace warpbeam::timing {
namespace {

constexpr double kSector = 32;
// Machine instructions of one multiprocessor that are run; what goes beyond repeats what its blocks do all the time.
constexpr double kMostInstructions = 3e6;

// What memory reaches of its peak, for so much reading and writing.
double dram_share(const Rates& rates, double read, double written) {
  const double all = read + written;
  if (all <= 0) return rates.dram_read_share;
  const double r = read / all, w = written / all, mixed = 4 * r * w;
  return (1 - mixed) * (r * rates.dram_read_share + w * rates.dram_write_share) + mixed * rates.dram_mixed_share;
}

// Do blocks fetch work in turns, by an atomic operation in a loop? Who got how much is chance, and here those that ran first got
// nearly all.
bool fetched_all_work(const Work& work) {
  constexpr size_t kLeast = 2, kMost = 8, kOf = 16;  // here two run at a time, or a few more
  const size_t few = std::clamp(work.sizes.size() / kOf, kLeast, kMost);
  if (work.sizes.size() < 4 * few) return false;
  std::vector<uint32_t> sizes = work.sizes;
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<ptrdiff_t>(few), std::greater<>());
  const auto sum = [&](size_t count) { return std::accumulate(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(count), 0.0); };
  uint64_t followed = 1;
  for (const BlockTrace& b : work.blocks) followed = std::max(followed, b.executed);
  const bool unseen = std::ranges::max(sizes) > few * followed, few_have_all = sum(few) >= 0.5 * sum(sizes.size());
  if (!unseen && !few_have_all) return false;
  for (const BlockTrace& b : work.blocks)
    for (const WarpTrace& w : b.warps) {
      uint32_t before = ~0u;
      for (const Access& a : w.accesses)
        if (a.space == Space::Global && a.kind == Kind::Atomic)
          if (few_have_all || std::exchange(before, a.ptx) == a.ptx) return true;  // those that were followed may have found nothing left
    }
  return false;
}

// Each with as much to do as all others: as much of what blocks did that had enough, or of the one that had most.
std::vector<Part> shares_of_all(const Work& work, uint64_t blocks) {
  const double mean = static_cast<double>(work.instructions) / static_cast<double>(work.grid_blocks);
  constexpr double kMostTimes = 20;
  const auto size = [](const BlockTrace* b) { return std::max(1.0, static_cast<double>(b->executed)); };
  std::vector<const BlockTrace*> enough;
  for (const BlockTrace& b : work.blocks)
    if (size(&b) >= mean) enough.push_back(&b);
  if (enough.empty()) enough.push_back(&*std::ranges::max_element(work.blocks, {}, &BlockTrace::executed));
  std::vector<Part> parts;
  for (uint64_t k = 0; k < blocks; ++k) {
    const BlockTrace* const b = enough[k * enough.size() / blocks % enough.size()];
    parts.push_back({b, std::min(kMostTimes, mean / size(b))});
  }
  return parts;
}

double executed(const std::vector<Part>& parts) {
  double sum = 0;
  for (const Part& p : parts) sum += static_cast<double>(p.trace->executed) * p.times;
  return sum;
}

// So many of them, evenly.
std::vector<Part> some_of(const std::vector<Part>& parts, double count) {
  const auto n = static_cast<size_t>(count);
  if (n >= parts.size()) return parts;
  std::vector<Part> some;
  for (size_t k = 0; k < n; ++k) some.push_back(parts[k * parts.size() / n]);
  return some;
}

// What nine of ten recorded kernels took, in times of what was predicted (`bench timing`, programs to calibrate with): of short
// ones the launch, which is known well, is most.
struct Interval {
  double low, high;
};
Interval interval_of(double ns) {
  if (ns < 3000) return {0.93, 1.12};
  if (ns < 15000) return {0.86, 1.60};
  return {0.62, 1.75};
}

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view kNames[] = {"memory", "L2", "compute", "latency", "tail", "atomics", "launch", "link"};
  return kNames[static_cast<size_t>(bound)];
}

void Prediction::wait_for_link(double nanoseconds) {
  if (nanoseconds <= ns) return;
  constexpr double kFew = 1.2;  // times as long: others bound it
  if (nanoseconds > kFew * ns) bound = Bound::Link, bound_percent = 100 * (1 - ns / nanoseconds);
  const Interval around = interval_of(nanoseconds);
  ns = nanoseconds;
  low = ns * around.low;
  high = ns * around.high;
}

namespace {

// Of one of so many multiprocessors.
Share share_of(const Work& work, const Rates& rates, double active) {
  // In eighths: in which order warps of a block come to memory is chance, here and there.
  const double alone = work.bursts > 0 ? std::round(8 * work.bursts_alone / work.bursts) / 8 : 0;
  const double burst = rates.l2_bytes ? 64 : kSector;  // that memory moves at once
  const double moved = (work.read_sectors + work.written_back) * kSector;
  const double filled = work.bursts > 0 ? std::min(1.0, moved / (work.bursts * burst)) : 1;
  const double together = filled / (1 - alone + alone * rates.dram_read_share / rates.dram_single_share);
  const double dram_per_cycle = rates.dram_bytes_per_second / (rates.clock_mhz * 1e6) *
                                dram_share(rates, work.read_sectors, work.written_back) * together / work.camping;
  const double atomics = std::max(work.atomic_cycles, work.atomic_sectors / rates.atomic_sectors_per_cycle);
  return {rates.l2_bytes_per_cycle / active,
          rates.l2_write_bytes_per_cycle / active,
          dram_per_cycle / active,
          rates.l2_mixed_bytes_per_cycle / active,
          active,
          atomics};
}

// Blocks of the multiprocessor that has most of them.
double most_blocks(uint64_t grid_blocks, const Rates& rates) { return std::ceil(static_cast<double>(grid_blocks) / rates.multiprocessors); }

// As many as would do all if each had as many blocks as that one.
double active_multiprocessors(const Work& work, const Rates& rates) {
  return std::min<double>(rates.multiprocessors, static_cast<double>(work.grid_blocks) / most_blocks(work.grid_blocks, rates));
}

}  // namespace

uint64_t first_blocks(uint64_t grid_blocks, uint32_t resident_blocks, const Rates& rates) {
  return std::min<uint64_t>(static_cast<uint64_t>(most_blocks(grid_blocks, rates)), resident_blocks);
}

Run run_beginning(const Work& work, const Rates& rates) {
  return run_multiprocessor(work, rates, share_of(work, rates, active_multiprocessors(work, rates)),
                            alike(work, first_blocks(work.grid_blocks, work.resident_blocks, rates)));
}

Prediction predict(const Work& work, const Rates& rates) {
  Prediction p;
  const double blocks = static_cast<double>(work.grid_blocks), sms = rates.multiprocessors;
  const double most = most_blocks(work.grid_blocks, rates);
  const double active = active_multiprocessors(work, rates);
  p.waves = blocks / (sms * work.resident_blocks);
  p.rates = &rates;
  p.active = active;
  for (const FunctionWork& f : work.functions)
    for (const FromMemory& from : f.from_memory) p.l2_missed += from.sectors;
  p.dram_read = work.read_sectors * kSector;
  p.dram_write = work.written_back * kSector;
  const Share share = share_of(work, rates, active);

  double followed = 0;
  for (const BlockTrace& b : work.blocks) followed += static_cast<double>(b.executed);
  const double per_block = std::max(1.0, followed / static_cast<double>(std::max<size_t>(1, work.blocks.size())));
  const double enough = std::max<double>(6.0 * work.resident_blocks, std::floor(kMostInstructions / per_block));
  const bool waited = std::ranges::any_of(work.blocks, &BlockTrace::waited);
  std::vector<Part> parts;
  double blocks_of_parts = std::max(blocks / sms, most - 0.5);  // where they repeat: the last, partial wave takes half its time
  if (!waited && work.instructions && fetched_all_work(work)) {
    parts = shares_of_all(work, static_cast<uint64_t>(most));
  } else if (!waited && blocks_differ(work)) {
    Schedule s = schedule(work, rates.multiprocessors);
    if (static_cast<double>(s.latest.size()) <= enough && !s.latest.empty()) p.run = run_multiprocessor(work, rates, share, s.latest);
    parts = std::move(s.most);
    blocks_of_parts = static_cast<double>(parts.size());
  } else {
    parts = alike(work, static_cast<uint64_t>(most));
  }
  const std::vector<Part> run = some_of(parts, std::max(1.0, std::min(static_cast<double>(parts.size()), enough)));
  if (Run other = run_multiprocessor(work, rates, share, run); other.cycles > p.run.cycles) p.run = std::move(other);
  double cycles = p.run.cycles;
  if (run.size() < parts.size()) {
    // What goes beyond repeats what these did all the time, as often as there is more to do.
    const double each = p.run.steady > 0 ? p.run.steady : cycles / static_cast<double>(run.size());
    const double per_part = executed(run) / static_cast<double>(run.size());
    cycles +=
        std::max(0.0, blocks_of_parts * executed(parts) / static_cast<double>(parts.size()) / per_part - static_cast<double>(run.size())) *
        each;
  }
  p.scale = p.run.cycles > 0 ? blocks / static_cast<double>(p.run.blocks) : 0;
  if (!waited && work.instructions && p.run.executed > 0) p.scale = static_cast<double>(work.instructions) / p.run.executed;
  p.instructions = p.run.issued * p.scale;
  const double dram = (p.dram_read + p.dram_write) / (share.dram * active);
  const bool by_atomics = share.atomics > 0.7 * cycles;
  p.cycles = cycles *= rates.cycles_correction;
  p.ns = rates.launch_ns + cycles / (rates.clock_ghz() * (p.run.half_matrices ? rates.matrix_clock_share : 1));
  const Interval around = interval_of(p.ns);
  p.low = p.ns * around.low;
  p.high = p.ns * around.high;

  const double issue = p.run.issued / (p.run.cycles * rates.schedulers * rates.issue_width);
  double pipe = p.run.lsu_busy / std::max(1.0, p.run.cycles);
  for (double busy : p.run.busy) pipe = std::max(pipe, busy / (p.run.cycles * rates.schedulers));
  const double memory = dram / std::max(1.0, cycles), compute = std::max(issue, pipe);
  const double l2 = (p.run.traffic.global_load - p.run.traffic.global_load_hit + p.run.traffic.store) * kSector /
                    std::max(1.0, p.run.cycles) / std::min(rates.l1_fill_bytes, share.l2_read);
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
