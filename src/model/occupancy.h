// How many blocks of a kernel fit on a multiprocessor, and which resource stops the next one.
//
// From compute capability 3.0 on the rules are those of the vendor's occupancy calculator (toolkit 13); 1.x and 2.x
// follow the programming guides of their time. They differ in few numbers, all of them columns of the device table:
// who owns a register allocation, how it is rounded, and how shared memory can be configured.
#pragma once
#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/result.h"
#include "model/device.h"

namespace warpbeam::model {

// What a kernel needs, as cudaFuncGetAttributes tells.
struct KernelResources {
  int regs_per_thread = 0;
  size_t static_shared = 0;
  // Limit set with cudaFuncAttributeMaxDynamicSharedMemorySize. Only looked at with shared_optin.
  size_t max_dynamic_shared = 0;
  // The runtime always sets it; without it a block is held to shared_per_block.
  bool shared_optin = true;
  int max_threads_per_block = INT_MAX;  // __launch_bounds__
  int block_barriers = 1;
  int virtual_resources = 0;
};

// cudaFuncCache, for devices whose L1 and shared memory share an array.
enum class CachePreference : uint8_t { None, Shared, L1, Equal };

// Whether a kernel's global loads go through the L1 that halves an SM on 5.2, 5.3, 6.1 and 6.2
// (Device::partitioned_global_caching). On gives way when a block would not fit; Strict does not
// (cudaOccupancyDisableCachingOverride).
enum class GlobalCaching : uint8_t { Off, On, Strict };

struct OccupancySettings {
  CachePreference cache = CachePreference::None;
  // cudaFuncAttributePreferredSharedMemoryCarveout: percent, -1 = no preference. Wins over `cache` from 7.0 on.
  int carveout_percent = -1;
  GlobalCaching global_caching = GlobalCaching::Off;
};

// Bits of Occupancy::limited_by.
enum OccupancyLimit : uint32_t {
  kLimitWarps = 0x01,
  kLimitRegisters = 0x02,
  kLimitShared = 0x04,
  kLimitBlocks = 0x08,
  kLimitBarriers = 0x10,
  kLimitVirtualResources = 0x20,
};

struct Occupancy {
  int blocks_per_sm = 0;    // 0: the kernel cannot run with this block
  uint32_t limited_by = 0;  // every resource that allows no more than blocks_per_sm

  // Blocks each resource alone would allow; INT_MAX where the kernel does not use it.
  int by_warps = 0;
  int by_blocks = 0;
  int by_registers = INT_MAX;
  int by_shared = INT_MAX;
  int by_barriers = INT_MAX;
  int by_virtual_resources = INT_MAX;

  int regs_per_block = 0;                             // allocated, after rounding
  size_t shared_per_block = 0;                        // allocated, after rounding and with the reserved part
  size_t shared_config = 0;                           // what the SM's shared memory is set to, bytes
  GlobalCaching global_caching = GlobalCaching::Off;  // what is left of the wish

  int warps_per_sm(const Device& device, int block_size) const {
    return blocks_per_sm * ((block_size + device.warp_size - 1) / device.warp_size);
  }
  // The share of the SM's warps that are resident: "theoretical occupancy".
  double fraction(const Device& device, int block_size) const {
    return static_cast<double>(warps_per_sm(device, block_size)) / device.max_warps_per_sm();
  }
};

// Fails on arguments that mean nothing (a block of no threads, a carveout of 101 %); a block that does not fit is 0.
Result<Occupancy> occupancy(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                            const OccupancySettings& settings = {});

// How many blocks fit into the shared memory that the driver of a 9.0 gives a multiprocessor for a launch, if nobody asks for
// another split (launch__occupancy_limit_shared_mem). Never less than what the other limits let run; `fit` is the launch's
// occupancy, which goes by all the shared memory there is.
int blocks_by_default_split(const Device& device, const Occupancy& fit, int block_size);

struct LaunchSuggestion {
  int min_grid_size = 0;  // blocks that fill the device
  int block_size = 0;     // 0: the kernel cannot run
};

// cudaOccupancyMaxPotentialBlockSize: the largest block among those with most resident threads. block_size_limit 0 is
// no limit. The second form is for dynamic shared memory that depends on the block size.
Result<LaunchSuggestion> max_potential_block_size(const Device& device, const KernelResources& kernel, size_t dynamic_shared,
                                                  int block_size_limit = 0, const OccupancySettings& settings = {});
Result<LaunchSuggestion> max_potential_block_size(const Device& device, const KernelResources& kernel,
                                                  const std::function<size_t(int)>& dynamic_shared_of_block_size, int block_size_limit = 0,
                                                  const OccupancySettings& settings = {});

// cudaOccupancyAvailableDynamicSMemPerBlock: dynamic shared memory that still lets `blocks` blocks share an SM.
Result<size_t> available_dynamic_shared(const Device& device, const KernelResources& kernel, int blocks, int block_size,
                                        const OccupancySettings& settings = {});

// cudaOccupancyMaxActiveClusters: clusters of `cluster_size` blocks resident on the device at once. A cluster lives
// within one group of SMs (Device::cluster_groups). Fails if the device has no clusters of that size.
Result<int> max_active_clusters(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                                int cluster_size, bool non_portable_sizes, const OccupancySettings& settings = {});

// cudaOccupancyMaxPotentialClusterSize; 0 if the kernel cannot run.
Result<int> max_potential_cluster_size(const Device& device, const KernelResources& kernel, int block_size, size_t dynamic_shared,
                                       bool non_portable_sizes, const OccupancySettings& settings = {});

}  // namespace warpbeam::model
