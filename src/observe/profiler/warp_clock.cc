// What a warp's clock says, in kernels that time what they do.
//
// Idea: a multiprocessor runs what the warp has done so far, and when it comes to the reading is what the clock says. The other warps there are taken
// to have come as far in the same way: which of them go first is chance, and what people measure by clocks they do in all warps alike.
// Precondition: the block is followed (tracer.h), and nothing of the warp's way was left out.
// Postcondition: cycles from the block's beginning until the reading.
// Fallback: nothing is said, as for who has read so often that running all that again would take too long (vm/kernel_clock.h goes on by what it knows).
#include <algorithm>
#include <unordered_set>

#include "observe/profiler/tracer.h"
#include "timing/chip.h"

namespace warpbeam::observe {

namespace {

constexpr uint64_t kMostSimulated = 6'000'000;  // instructions for one block's readings: some tenths of a second

}  // namespace

// The warp, once for each that is there.
timing::Work BlockTracer::work_of(const timing::WarpTrace& warp) const {
  timing::Work work;
  work.watches_clock = true;
  work.grid_blocks = launch_.grid_blocks;
  work.block_threads = launch_.block_threads;
  work.resident_blocks = launch_.resident_blocks;
  for (const LaunchTracer::Function& f : launch_.functions)
    work.functions.push_back({f.code, std::vector<timing::FromMemory>(f.code->block_of.size())});
  // What comes from memory: lines that L2 has not, the first time.
  std::unordered_set<uint64_t> seen;
  size_t step = 0;
  for (uint32_t k = 0; k < warp.accesses.size(); ++k) {
    while (step + 1 < warp.steps.size() && warp.steps[step + 1].first_access <= k) ++step;
    const timing::Access& a = warp.accesses[k];
    if (a.space != timing::Space::Global || !timing::is_read(a)) continue;
    timing::FromMemory& from = work.functions[warp.steps[step].function].from_memory[a.ptx];
    for (uint32_t l = a.first_line; l < a.first_line + a.lines && l < trace_.lines.size(); ++l) {
      const timing::Line& line = trace_.lines[l];
      if (!is_sampled(line.number)) continue;
      const double sectors = __builtin_popcount(line.sectors);
      from.of += sectors;
      if (seen.insert(line.number).second && !launch_.in_l2(line.number)) from.sectors += sectors, from.fetched += sectors;
    }
  }
  timing::BlockTrace block;
  block.lines = trace_.lines;
  block.warps.assign(at_.size(), warp);
  block.instructions = block.executed = warp.instructions * at_.size();
  work.blocks.push_back(std::move(block));
  return work;
}

std::optional<double> BlockTracer::clock_read(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, bool wanted) {
  if (warp >= at_.size() || !launch_.in_l2) return std::nullopt;
  readings_.resize(at_.size());
  Readings& readings = readings_[warp];
  const uint32_t place = place_in_ptx(function, insn);
  if (place == ~0u) return std::nullopt;
  come_to(function);
  const uint64_t before = readings.count++;
  if (std::ranges::find(readings.ptx, place) == readings.ptx.end()) readings.ptx.push_back(place);
  const timing::WarpTrace& t = trace_.warps[warp];
  if (!wanted || t.executed != t.instructions || trace_.waited) return std::nullopt;
  const timing::Rates& rates = timing::rates_of(launch_.device);
  simulated_ += t.instructions * at_.size() * timing::first_blocks(launch_.grid_blocks, launch_.resident_blocks, rates);
  if (simulated_ > kMostSimulated) return std::nullopt;
  timing::WarpTrace with_reading = t;
  // Of the instruction itself nobody has told yet.
  if (const uint32_t block = block_of(place); begins(at_[warp], function, block, place))
    with_reading.steps.push_back(
        {function_index_, block, t.steps.empty() ? ~0u : t.steps.back().lanes, false, static_cast<uint32_t>(t.accesses.size())});
  const timing::Run run = timing::run_beginning(work_of(with_reading), rates);
  uint64_t number = 0;
  for (const timing::Run::Clock& clock : run.clocks)
    if (std::ranges::find(readings.ptx, clock.ptx) != readings.ptx.end() && number++ == before) return clock.cycles;
  return std::nullopt;
}

}  // namespace warpbeam::observe
