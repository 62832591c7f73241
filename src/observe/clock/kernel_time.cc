#include "observe/clock/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "timing/rates.h"

namespace warpbeam::observe {

namespace {

constexpr double kMemoryShare = 0.9;      // of the memory's speed that kernels reach
constexpr double kIssueShare = 0.7;       // of the schedulers' slots
constexpr double kCyclesPerInstruction = 6;  // of a warp by itself
constexpr double kLoopOfReading = 12;        // instructions, of a loop that only waits

}  // namespace

KernelTime least_kernel_time(const model::Device& device) { return {timing::rates_of(device).launch_ns, 0}; }

KernelTime kernel_time(const LaunchProfile& profile) {
  const model::Device& device = profile.device;
  if (profile.prediction && std::isfinite(profile.prediction->ns) && profile.prediction->ns > 0) {
    const timing::Prediction& p = *profile.prediction;
    const double memory = (p.dram_read + p.dram_write) / (device.memory_bytes_per_second() * 1e-9);
    return {p.ns, std::min(1.0, memory / std::max(1.0, p.ns)), p.dram_read, p.dram_write};
  }
  const Totals t = profile.totals();
  const double clock = device.clock_khz * 1e-6;  // GHz
  const double speed = device.memory_bytes_per_second() * 1e-9 * kMemoryShare;
  const double blocks = std::max<double>(1, static_cast<double>(t.blocks));
  const double resident = std::max<double>(1, static_cast<double>(t.resident_blocks));
  const double busy = std::min<double>(device.sm_count, blocks);  // multiprocessors
  const double slots = busy * std::max(1, device.schedulers_per_sm) * std::max(1, device.issue_per_scheduler) * clock * kIssueShare;
  const double issue = static_cast<double>(t.executed) / slots;
  const double waves = std::max(1.0, blocks / (resident * device.sm_count));
  const double of_a_warp =
      static_cast<double>(t.executed) / std::max<double>(1, static_cast<double>(t.warps)) * kCyclesPerInstruction * waves / clock;
  const double memory = static_cast<double>(t.global_sectors() + t.local_ld.sectors + t.local_st.sectors) * 32 / speed;
  const double passes = static_cast<double>(t.shared_wavefronts()) / (busy * clock);
  const double time = least_kernel_time(device).nanoseconds + std::max({issue, of_a_warp, memory, passes});
  return {time, std::min(1.0, memory / time)};
}

// Blocks that wait do so in turns as others do. The instructions of the waiting itself are no work: on a GPU their number hangs on the
// time, not the time on their number.
KernelTime with_waits(const KernelTime& work, const vm::KernelClockUse& clock, const LaunchProfile& profile) {
  if (!clock.longest) return work;
  const Totals totals = profile.totals();
  const double blocks = std::max<double>(1, static_cast<double>(totals.blocks)),
               resident = std::max<double>(1, profile.launch.resident_blocks);
  const double least = least_kernel_time(profile.device).nanoseconds;
  const double ticks =
      std::max(static_cast<double>(clock.longest), static_cast<double>(clock.of_blocks) / blocks * std::ceil(blocks / resident));
  const double waiting =
      std::min(1.0, kLoopOfReading * static_cast<double>(clock.readings) / std::max<double>(1, static_cast<double>(totals.executed)));
  KernelTime time = work;
  time.nanoseconds = least + ticks / profile.launch.clock_ghz + std::max(0.0, work.nanoseconds * (1 - waiting) - least);
  time.memory_share *= std::min(1.0, work.nanoseconds / time.nanoseconds);
  return time;
}

KernelTime library_time(const model::Device& device, double bytes, double effort) {
  const double memory = bytes / (device.memory_bytes_per_second() * 1e-9 * kMemoryShare);
  const double work = 2 * effort / (device.peak_fp32_flops() * 1e-9 * kIssueShare);
  const double time = 2 * least_kernel_time(device).nanoseconds + std::max(memory, work);
  return {time, std::min(1.0, memory / time)};
}

}  // namespace warpbeam::observe
