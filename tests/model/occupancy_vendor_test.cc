// Our occupancy rules beside the vendor's calculator, on random kernels, devices and settings.
#include <gtest/gtest.h>

#include "model/occupancy.h"

#ifdef WARPBEAM_VENDOR_OCCUPANCY
#if __has_include(WARPBEAM_VENDOR_OCCUPANCY)  // the toolkit may have gone since
#define WB_HAS_CALCULATOR
#endif
#endif

#ifdef WB_HAS_CALCULATOR

#include WARPBEAM_VENDOR_OCCUPANCY

#include <random>

namespace warpbeam::model {
namespace {

cudaOccDeviceProp vendor_device(const Device& device) {
  cudaOccDeviceProp prop;
  prop.computeMajor = device.major;
  prop.computeMinor = device.minor;
  prop.maxThreadsPerBlock = device.max_threads_per_block;
  prop.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
  prop.regsPerBlock = device.regs_per_block;
  prop.regsPerMultiprocessor = device.regs_per_sm;
  prop.warpSize = device.warp_size;
  prop.sharedMemPerBlock = device.shared_per_block;
  prop.sharedMemPerMultiprocessor = device.shared_per_sm;
  prop.numSms = device.sm_count;
  prop.sharedMemPerBlockOptin = device.shared_per_block_optin;
  prop.reservedSharedMemPerBlock = device.shared_reserved_per_block;
  return prop;
}

struct Case {
  const Device* device;
  KernelResources kernel;
  OccupancySettings settings;
  int block;
  size_t dynamic;

  cudaOccFuncAttributes vendor_kernel() const {
    cudaOccFuncAttributes f;
    f.maxThreadsPerBlock = kernel.max_threads_per_block;
    f.numRegs = kernel.regs_per_thread;
    f.sharedSizeBytes = kernel.static_shared;
    f.partitionedGCConfig = settings.global_caching == GlobalCaching::Off  ? PARTITIONED_GC_OFF
                            : settings.global_caching == GlobalCaching::On ? PARTITIONED_GC_ON
                                                                           : PARTITIONED_GC_ON_STRICT;
    f.shmemLimitConfig = kernel.shared_optin ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
    f.maxDynamicSharedSizeBytes = kernel.max_dynamic_shared;
    f.numBlockBarriers = kernel.block_barriers;
    f.virtualResourceCount = kernel.virtual_resources;
    return f;
  }
  cudaOccDeviceState vendor_state() const {
    cudaOccDeviceState state;
    state.cacheConfig = settings.cache == CachePreference::Shared  ? CACHE_PREFER_SHARED
                        : settings.cache == CachePreference::L1    ? CACHE_PREFER_L1
                        : settings.cache == CachePreference::Equal ? CACHE_PREFER_EQUAL
                                                                   : CACHE_PREFER_NONE;
    state.carveoutConfig = settings.carveout_percent;
    return state;
  }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.device->key << ": block " << c.block << ", registers " << c.kernel.regs_per_thread << ", static "
             << c.kernel.static_shared << ", dynamic " << c.dynamic << " of " << c.kernel.max_dynamic_shared << ", opt-in "
             << c.kernel.shared_optin << ", barriers " << c.kernel.block_barriers << ", cache " << static_cast<int>(c.settings.cache)
             << ", carveout " << c.settings.carveout_percent << ", caching " << static_cast<int>(c.settings.global_caching);
}

class Cases {
 public:
  Cases() {
    for (const Device& row : all_compute_capabilities())
      if (row.major >= 3) rows_.push_back(&row);
    for (const Device& row : all_devices())
      if (row.major >= 3) rows_.push_back(&row);
  }

  Case next() {
    Case c;
    c.device = rows_[below(rows_.size())];
    c.block = below(8) ? 1 + below(c.device->max_threads_per_block) : 32 * (1 + below(36));
    c.kernel.regs_per_thread = below(20) ? below(130) : below(300);
    c.kernel.static_shared = below(2) ? below(2000) : below(3) ? below(49153) : 0;
    c.kernel.max_dynamic_shared = below(2) ? 49152 : below(240000);
    c.kernel.shared_optin = below(5) != 0;
    if (below(4) == 0) c.kernel.max_threads_per_block = 1 + below(1024);
    c.kernel.block_barriers = below(3) ? 1 : below(17);
    c.kernel.virtual_resources = below(4) ? 0 : below(40);
    c.dynamic = below(3) == 0 ? 0 : below(2) ? below(20000) : below(240000);
    c.settings.cache = static_cast<CachePreference>(below(4));
    c.settings.carveout_percent = below(2) ? -1 : below(103) - 1;
    c.settings.global_caching = static_cast<GlobalCaching>(below(3));
    return c;
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % limit); }
  std::mt19937 random_{20131};
  std::vector<const Device*> rows_;
};

TEST(VendorOccupancy, AMillionRandomKernelsAgree) {
  Cases cases;
  int running = 0;
  for (int i = 0; i < 1'000'000 && !HasFailure(); ++i) {
    Case c = cases.next();
    cudaOccDeviceProp device = vendor_device(*c.device);
    cudaOccFuncAttributes kernel = c.vendor_kernel();
    cudaOccDeviceState state = c.vendor_state();
    cudaOccResult theirs;
    cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&theirs, &device, &kernel, &state, c.block, c.dynamic);
    auto ours = occupancy(*c.device, c.kernel, c.block, c.dynamic, c.settings);
    ASSERT_EQ(error == CUDA_OCC_SUCCESS, static_cast<bool>(ours)) << c;
    if (!ours) continue;
    running += ours->blocks_per_sm > 0;
    ASSERT_EQ(theirs.activeBlocksPerMultiprocessor, ours->blocks_per_sm) << c;
    // Theirs looks at barriers last and then still names what was the limit before them; ours does not.
    bool barriers_alone = ours->limited_by == kLimitBarriers;
    ASSERT_EQ(barriers_alone ? theirs.limitingFactors & OCC_LIMIT_BARRIERS : theirs.limitingFactors, ours->limited_by) << c;
    ASSERT_EQ(theirs.blockLimitRegs, ours->by_registers) << c;
    ASSERT_EQ(theirs.blockLimitSharedMem, ours->by_shared) << c;
    ASSERT_EQ(theirs.blockLimitWarps, ours->by_warps) << c;
    ASSERT_EQ(theirs.blockLimitBlocks, ours->by_blocks) << c;
    ASSERT_EQ(theirs.blockLimitBarriers, ours->by_barriers) << c;
    ASSERT_EQ(theirs.blockLimitVirtual, ours->by_virtual_resources) << c;
    ASSERT_EQ(theirs.allocatedRegistersPerBlock, ours->regs_per_block) << c;
    ASSERT_EQ(theirs.allocatedSharedMemPerBlock, ours->shared_per_block) << c;
    ASSERT_EQ(theirs.partitionedGCConfig != PARTITIONED_GC_OFF, ours->global_caching != GlobalCaching::Off) << c;
  }
  EXPECT_GT(running, 300'000);  // the cases are about kernels that run, too
}

TEST(VendorOccupancy, AvailableDynamicSharedAgrees) {
  Cases cases;
  int compared = 0;
  for (int i = 0; i < 200'000 && !HasFailure(); ++i) {
    Case c = cases.next();
    int blocks = 1 + i % 9;
    cudaOccDeviceProp device = vendor_device(*c.device);
    cudaOccFuncAttributes kernel = c.vendor_kernel();
    cudaOccDeviceState state = c.vendor_state();
    size_t theirs = 0;
    cudaOccError error = cudaOccAvailableDynamicSMemPerBlock(&theirs, &device, &kernel, &state, blocks, c.block);
    auto ours = available_dynamic_shared(*c.device, c.kernel, blocks, c.block, c.settings);
    ASSERT_EQ(error == CUDA_OCC_SUCCESS, static_cast<bool>(ours)) << c << ", blocks " << blocks;
    if (!ours) continue;
    // Where static memory alone is more than a block's share, their subtraction wraps around and meets the upper limit.
    if (*ours == 0 && theirs == c.kernel.max_dynamic_shared) continue;
    ++compared;
    ASSERT_EQ(theirs, *ours) << c << ", blocks " << blocks;
  }
  EXPECT_GT(compared, 30'000);
}

TEST(VendorOccupancy, PotentialBlockSizeAgrees) {
  Cases cases;
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    Case c = cases.next();
    cudaOccDeviceProp device = vendor_device(*c.device);
    cudaOccFuncAttributes kernel = c.vendor_kernel();
    cudaOccDeviceState state = c.vendor_state();
    int grid = 0, block = 0;
    size_t per_thread = i % 3 ? 0 : i % 97;
    auto shared_of = [&](int threads) { return c.dynamic + per_thread * threads; };
    cudaOccError error = cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(&grid, &block, &device, &kernel, &state, shared_of);
    auto ours = max_potential_block_size(*c.device, c.kernel, shared_of, 0, c.settings);
    ASSERT_EQ(error == CUDA_OCC_SUCCESS, static_cast<bool>(ours)) << c;
    if (!ours) continue;
    ASSERT_EQ(grid, ours->min_grid_size) << c;
    ASSERT_EQ(block, ours->block_size) << c;
  }
}

}  // namespace
}  // namespace warpbeam::model

#else

TEST(VendorOccupancy, AMillionRandomKernelsAgree) {
  GTEST_SKIP() << "cuda_occupancy.h was not found when this was configured (CUDA_HOME, CUDA_PATH, CUDAToolkit)";
}

#endif
