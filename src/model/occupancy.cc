#include "model/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpbeam::model {
namespace {

int64_t divide_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }
int64_t round_up(int64_t value, int64_t unit) { return divide_up(value, unit) * unit; }
int64_t round_down(int64_t value, int64_t unit) { return value / unit * unit; }

// From 7.0 on a preference is a share in percent of what the SM has at most; before, one of the configurations.
bool has_carveout(const Device& device) { return device.major >= 7; }

bool may_opt_in(const Device& device) { return device.major >= 7; }

struct Question {
  const Device& device;
  const KernelResources& kernel;
  const OccupancySettings& settings;
  int block_size;
  size_t dynamic_shared;

  int warps() const { return static_cast<int>(divide_up(block_size, device.warp_size)); }
};

Result<void> check(const Question& q) {
  if (q.block_size <= 0) return Error{0, fmt::format("a block of {} threads", q.block_size)};
  if (q.kernel.regs_per_thread < 0) return Error{0, fmt::format("{} registers per thread", q.kernel.regs_per_thread)};
  if (q.kernel.max_threads_per_block <= 0)
    return Error{0, fmt::format("a kernel for blocks of at most {} threads", q.kernel.max_threads_per_block)};
  if (has_carveout(q.device) && (q.settings.carveout_percent < -1 || q.settings.carveout_percent > 100))
    return Error{0, fmt::format("a carveout of {} %: it is -1 or 0 to 100", q.settings.carveout_percent)};
  return {};
}

// The smallest configuration of the SM that holds `bytes`.
Result<size_t> config_for(const Device& device, size_t bytes) {
  for (int config : device.shared_configs)
    if (bytes <= static_cast<size_t>(config)) return static_cast<size_t>(config);
  return Error{0, fmt::format("{} has no shared memory of {} bytes", device.name, bytes)};
}

Result<size_t> preferred_config(const Device& device, const OccupancySettings& settings) {
  const auto& configs = device.shared_configs;
  if (!has_carveout(device)) {
    if (configs.empty()) return static_cast<size_t>(device.shared_per_sm);
    switch (settings.cache) {
      case CachePreference::L1: return static_cast<size_t>(configs.front());
      case CachePreference::Equal: return static_cast<size_t>(configs[configs.size() / 2]);
      case CachePreference::None:
      case CachePreference::Shared: return static_cast<size_t>(configs.back());
    }
  }
  int percent = settings.carveout_percent;
  if (percent < 0) {
    switch (settings.cache) {
      case CachePreference::L1: percent = 0; break;
      case CachePreference::Equal: percent = 50; break;
      case CachePreference::None:
      case CachePreference::Shared: percent = 100; break;
    }
  }
  return config_for(device, static_cast<size_t>(percent) * device.shared_per_sm / 100);
}

// What a block may have in all; `reach` is what the kernel could ask for at most.
size_t shared_limit(const Device& device, const KernelResources& kernel, size_t reach) {
  bool beyond = may_opt_in(device) && kernel.shared_optin && reach > static_cast<size_t>(device.shared_per_block);
  return (beyond ? device.shared_per_block_optin : device.shared_per_block) + device.shared_reserved_per_block;
}

Result<void> limit_shared(const Question& q, Occupancy& result) {
  const Device& device = q.device;
  Result<size_t> preferred = preferred_config(device, q.settings);
  if (!preferred) return preferred.error();
  result.shared_config = *preferred;

  size_t fixed = q.kernel.static_shared + device.shared_reserved_per_block;
  size_t allocated = round_up(fixed + q.dynamic_shared, device.shared_alloc_unit);
  result.shared_per_block = allocated;

  size_t limit = shared_limit(device, q.kernel, fixed + q.kernel.max_dynamic_shared);
  bool over_own_limit = q.kernel.shared_optin && q.dynamic_shared > q.kernel.max_dynamic_shared;
  if (over_own_limit || allocated > limit) {
    result.by_shared = 0;
    return {};
  }
  // A preference never keeps a kernel from running: the next configuration that holds one block is used.
  if (allocated > *preferred) {
    if (has_carveout(device)) {
      Result<size_t> larger = config_for(device, allocated);
      if (!larger) return larger.error();
      result.shared_config = *larger;
    } else {
      result.shared_config = device.shared_per_sm;
    }
  }
  result.by_shared = allocated ? static_cast<int>(result.shared_config / allocated) : INT_MAX;
  return {};
}

// cc 1.x: one allocation per block, of an even number of warps.
int blocks_by_block_registers(const Question& q, Occupancy& result) {
  const Device& device = q.device;
  int64_t warps = round_up(q.warps(), device.warp_alloc_granularity);
  int64_t regs = round_up(warps * q.kernel.regs_per_thread * device.warp_size, device.reg_alloc_unit);
  result.regs_per_block = static_cast<int>(regs);
  if (q.kernel.regs_per_thread > device.max_regs_per_thread_occupancy || regs > device.regs_per_block) return 0;
  return regs ? static_cast<int>(device.regs_per_sm / regs) : INT_MAX;
}

// cc 2.0 and later: one allocation per warp, and each partition of the SM owns a slice of the registers.
int blocks_by_warp_registers(const Question& q, int partitions, Occupancy& result) {
  const Device& device = q.device;
  int64_t warps = q.warps();
  int64_t per_warp = round_up(static_cast<int64_t>(q.kernel.regs_per_thread) * device.warp_size, device.reg_alloc_unit);
  result.regs_per_block = static_cast<int>(per_warp * warps);

  // The launch check counts as if every partition took as many warps as the fullest one.
  int64_t checked = per_warp * round_up(warps, partitions);
  if (q.kernel.regs_per_thread > device.max_regs_per_thread_occupancy || checked > device.regs_per_block) return 0;
  if (per_warp == 0) return INT_MAX;

  int64_t warps_per_partition = device.regs_per_sm / partitions / per_warp;
  if (result.global_caching != GlobalCaching::Off) {
    int64_t in_half = warps_per_partition * (partitions / 2) / warps;
    if (in_half > 0 || result.global_caching == GlobalCaching::Strict) return static_cast<int>(in_half * 2);
    result.global_caching = GlobalCaching::Off;
  }
  return static_cast<int>(warps_per_partition * partitions / warps);
}

void limit_registers(const Question& q, Occupancy& result) {
  if (q.device.reg_alloc_scope == RegisterScope::Block) {
    result.by_registers = blocks_by_block_registers(q, result);
    return;
  }
  result.by_registers = blocks_by_warp_registers(q, q.device.sm_partitions, result);
  // A kernel that cannot run on the four partitions of 6.1 is not let run on the two of 6.0 either, so that code for
  // one Pascal device runs on all of them.
  if (q.device.cc() == 60 && result.by_registers != 0) {
    constexpr int kPartitionsOf61 = 4;
    if (blocks_by_warp_registers(q, kPartitionsOf61, result) == 0) result.by_registers = 0;
  }
}

void limit_warps(const Question& q, Occupancy& result) {
  const Device& device = q.device;
  if (q.block_size > device.max_threads_per_block) {
    result.by_warps = 0;
  } else if (result.global_caching != GlobalCaching::Off) {
    result.by_warps = device.max_warps_per_sm() / 2 / q.warps() * 2;
  } else {
    result.by_warps = device.max_warps_per_sm() / q.warps();
  }
}

void limit_rest(const Question& q, Occupancy& result) {
  const Device& device = q.device;
  result.by_blocks = device.max_blocks_per_sm;
  if (device.virtual_resources_per_sm > 0 && q.kernel.virtual_resources > 0)
    result.by_virtual_resources = device.virtual_resources_per_sm / q.kernel.virtual_resources;
  if (device.block_barriers_per_sm > 0 && q.kernel.block_barriers > 0)
    result.by_barriers = device.block_barriers_per_sm / q.kernel.block_barriers;
}

}  // namespace

// Read off an H100's driver 580 (launch__shared_mem_config_size) for 400 launches, all of which it gives: room for twice the
// blocks that the other resources let run, for blocks of 128 threads 28 of them and of 1024 threads no more than run; and
// nothing beyond 132 KiB but for those that do run. A kernel without shared memory needs the reserved part of its blocks alone.
int blocks_by_default_split(const Device& device, const Occupancy& fit, int block_size) {
  const int warps = (block_size + device.warp_size - 1) / device.warp_size;
  const auto split_for = [&](int blocks) {
    const size_t bytes = static_cast<size_t>(blocks) * fit.shared_per_block;
    for (int config : device.shared_configs)
      if (config > 0 && static_cast<size_t>(config) >= bytes) return config;
    return device.shared_configs.back();
  };
  if (!fit.shared_per_block || device.shared_configs.empty()) return fit.by_shared;
  int split = warps < 16 ? 32 << 10 : warps < 24 ? 16 << 10 : 8 << 10;
  if (fit.shared_per_block > static_cast<size_t>(device.shared_reserved_per_block)) {
    constexpr int kMostUnasked = 132 << 10;
    const int others = std::min({fit.by_warps, fit.by_blocks, fit.by_registers});
    const int wished = warps == 32 ? others : std::min(2 * others, warps == 4 ? 28 : fit.by_blocks);
    split = std::max(std::min(split_for(wished), kMostUnasked), split_for(fit.blocks_per_sm));
  }
  return static_cast<int>(static_cast<size_t>(split) / fit.shared_per_block);
}

Result<Occupancy> occupancy(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                            const OccupancySettings& settings) {
  Question q{device, kernel, settings, block_size, dynamic_shared};
  WB_TRY(check(q));

  Occupancy result;
  result.global_caching = device.partitioned_global_caching ? settings.global_caching : GlobalCaching::Off;
  limit_registers(q, result);  // may turn caching off, which the warps then need not heed
  limit_warps(q, result);
  limit_rest(q, result);
  WB_TRY(limit_shared(q, result));

  const std::pair<int, OccupancyLimit> limits[] = {
      {result.by_warps, kLimitWarps},   {result.by_registers, kLimitRegisters}, {result.by_shared, kLimitShared},
      {result.by_blocks, kLimitBlocks}, {result.by_barriers, kLimitBarriers},   {result.by_virtual_resources, kLimitVirtualResources}};
  result.blocks_per_sm = INT_MAX;
  for (auto [blocks, bit] : limits) result.blocks_per_sm = std::min(result.blocks_per_sm, blocks);
  for (auto [blocks, bit] : limits)
    if (blocks == result.blocks_per_sm) result.limited_by |= bit;
  return result;
}

Result<LaunchSuggestion> max_potential_block_size(const Device& device, const KernelResources& kernel,
                                                  const std::function<size_t(int)>& dynamic_shared_of_block_size, int block_size_limit,
                                                  const OccupancySettings& settings) {
  int limit = std::min(device.max_threads_per_block, kernel.max_threads_per_block);
  if (block_size_limit > 0) limit = std::min(limit, block_size_limit);

  LaunchSuggestion best;
  int best_threads = 0;
  // From the largest block down, so that of equals the largest wins; the first try may be no multiple of a warp.
  for (int64_t aligned = round_up(limit, device.warp_size); aligned > 0; aligned -= device.warp_size) {
    int block = static_cast<int>(std::min<int64_t>(limit, aligned));
    Result<Occupancy> found = occupancy(device, kernel, block, dynamic_shared_of_block_size(block), settings);
    if (!found) return found.error();
    int threads = block * found->blocks_per_sm;
    if (threads > best_threads) {
      best_threads = threads;
      best = {found->blocks_per_sm * device.sm_count, block};
    }
    if (best_threads == device.max_threads_per_sm) break;
  }
  return best;
}

Result<LaunchSuggestion> max_potential_block_size(const Device& device, const KernelResources& kernel, size_t dynamic_shared,
                                                  int block_size_limit, const OccupancySettings& settings) {
  return max_potential_block_size(device, kernel, [=](int) { return dynamic_shared; }, block_size_limit, settings);
}

Result<size_t> available_dynamic_shared(const Device& device, const KernelResources& kernel, int blocks, int block_size,
                                        const OccupancySettings& settings) {
  if (blocks <= 0) return Error{0, fmt::format("{} blocks per multiprocessor", blocks)};
  Result<Occupancy> bare = occupancy(device, kernel, block_size, 0, settings);
  if (!bare) return bare.error();
  if (bare->blocks_per_sm < blocks)
    return Error{0, fmt::format("{} blocks of {} threads were asked for, {} fit on a multiprocessor of {}", blocks, block_size,
                                bare->blocks_per_sm, device.name)};

  size_t limit = shared_limit(device, kernel, device.shared_per_sm);
  // One block may have all a block can have, whatever was preferred; several share the preferred configuration.
  size_t total = limit;
  if (blocks > 1) {
    Result<size_t> preferred = preferred_config(device, settings);
    if (preferred && *preferred == 0) preferred = config_for(device, 1);
    if (!preferred) return preferred.error();
    total = *preferred;
  }
  size_t share = std::min<size_t>(round_down(total / blocks, device.shared_alloc_unit), limit);
  share = share > kernel.static_shared ? share - kernel.static_shared : 0;
  return std::min(share, kernel.max_dynamic_shared);
}

Result<int> max_active_clusters(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                                int cluster_size, bool non_portable_sizes, const OccupancySettings& settings) {
  int limit = non_portable_sizes ? device.max_nonportable_cluster_size : device.max_cluster_size;
  if (limit == 0) return Error{0, fmt::format("{} has no thread block clusters", device.name)};
  if (cluster_size <= 0 || cluster_size > limit)
    return Error{0, fmt::format("a cluster of {} blocks: {} has clusters of 1 to {}", cluster_size, device.name, limit)};
  Result<Occupancy> found = occupancy(device, kernel, block_size, dynamic_shared, settings);
  if (!found) return found.error();

  int blocks = std::min(found->blocks_per_sm, device.max_cluster_blocks_per_sm);
  int clusters = 0;
  for (int sms : device.cluster_groups)
    if (sms >= cluster_size) clusters += sms * blocks / cluster_size;
  return clusters;
}

Result<int> max_potential_cluster_size(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                                       bool non_portable_sizes, const OccupancySettings& settings) {
  int limit = non_portable_sizes ? device.max_nonportable_cluster_size : device.max_cluster_size;
  if (limit == 0) return Error{0, fmt::format("{} has no thread block clusters", device.name)};
  for (int size = limit; size > 0; --size) {
    Result<int> clusters = max_active_clusters(device, kernel, block_size, dynamic_shared, size, non_portable_sizes, settings);
    if (!clusters) return clusters.error();
    if (*clusters > 0) return size;
  }
  return 0;
}

}  // namespace warpbeam::model
