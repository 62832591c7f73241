// The occupancy calculator as a header of its own: plain functions over a description of the device and of the kernel,
// which need no device. Programs that have one ask cudaOccupancyMaxActiveBlocksPerMultiprocessor instead.
#ifndef WARPBEAM_CUDA_OCCUPANCY_H
#define WARPBEAM_CUDA_OCCUPANCY_H
#define CUDA_OCCUPANCY_H__
#include "warpbeam/hide_macros.h"

#include <limits.h>
#include <stddef.h>

enum cudaOccError_enum {
  CUDA_OCC_SUCCESS = 0, CUDA_OCC_ERROR_INVALID_INPUT = 1, CUDA_OCC_ERROR_UNKNOWN_DEVICE = 2
};
typedef enum cudaOccError_enum cudaOccError;

enum cudaOccLimitingFactor_enum {
  OCC_LIMIT_WARPS = 0x01, OCC_LIMIT_REGISTERS = 0x02, OCC_LIMIT_SHARED_MEMORY = 0x04, OCC_LIMIT_BLOCKS = 0x08,
  OCC_LIMIT_BARRIERS = 0x10
};
typedef enum cudaOccLimitingFactor_enum cudaOccLimitingFactor;

enum cudaOccPartitionedGCConfig_enum {
  PARTITIONED_GC_OFF, PARTITIONED_GC_ON, PARTITIONED_GC_ON_STRICT
};
typedef enum cudaOccPartitionedGCConfig_enum cudaOccPartitionedGCConfig;

enum cudaOccFuncShmemConfig_enum {
  FUNC_SHMEM_LIMIT_DEFAULT, FUNC_SHMEM_LIMIT_OPTIN
};
typedef enum cudaOccFuncShmemConfig_enum cudaOccFuncShmemConfig;

enum cudaOccCacheConfig_enum {
  CACHE_PREFER_NONE = 0x00, CACHE_PREFER_SHARED = 0x01, CACHE_PREFER_L1 = 0x02, CACHE_PREFER_EQUAL = 0x03
};
typedef enum cudaOccCacheConfig_enum cudaOccCacheConfig;

enum cudaOccCarveoutConfig_enum {
  SHAREDMEM_CARVEOUT_DEFAULT = -1, SHAREDMEM_CARVEOUT_MAX_SHARED = 100, SHAREDMEM_CARVEOUT_MAX_L1 = 0,
  SHAREDMEM_CARVEOUT_HALF = 50
};
typedef enum cudaOccCarveoutConfig_enum cudaOccCarveoutConfig;

// Built from a cudaDeviceProp or by hand.
struct cudaOccDeviceProp {
  int computeMajor, computeMinor;
  int maxThreadsPerBlock, maxThreadsPerMultiprocessor;
  int regsPerBlock, regsPerMultiprocessor;
  int warpSize;
  size_t sharedMemPerBlock, sharedMemPerMultiprocessor;
  int numSms;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
#ifdef __cplusplus
  cudaOccDeviceProp() = default;
  template <class Properties>
  cudaOccDeviceProp(const Properties& p)
      : computeMajor(p.major), computeMinor(p.minor), maxThreadsPerBlock(p.maxThreadsPerBlock),
        maxThreadsPerMultiprocessor(p.maxThreadsPerMultiProcessor), regsPerBlock(p.regsPerBlock),
        regsPerMultiprocessor(p.regsPerMultiprocessor), warpSize(p.warpSize), sharedMemPerBlock(p.sharedMemPerBlock),
        sharedMemPerMultiprocessor(p.sharedMemPerMultiprocessor), numSms(p.multiProcessorCount),
        sharedMemPerBlockOptin(p.sharedMemPerBlockOptin), reservedSharedMemPerBlock(p.reservedSharedMemPerBlock) {}
#endif
};
typedef struct cudaOccDeviceProp cudaOccDeviceProp;

struct cudaOccFuncAttributes {
  int maxThreadsPerBlock, numRegs;
  size_t sharedSizeBytes;
  cudaOccPartitionedGCConfig partitionedGCConfig;
  cudaOccFuncShmemConfig shmemLimitConfig;
  size_t maxDynamicSharedSizeBytes;
  int numBlockBarriers;
#ifdef __cplusplus
  cudaOccFuncAttributes() = default;
  template <class Attributes>
  cudaOccFuncAttributes(const Attributes& a)
      : maxThreadsPerBlock(a.maxThreadsPerBlock), numRegs(a.numRegs), sharedSizeBytes(a.sharedSizeBytes),
        partitionedGCConfig(PARTITIONED_GC_OFF), shmemLimitConfig(FUNC_SHMEM_LIMIT_OPTIN),
        maxDynamicSharedSizeBytes(a.maxDynamicSharedSizeBytes), numBlockBarriers(1) {}
#endif
};
typedef struct cudaOccFuncAttributes cudaOccFuncAttributes;

struct cudaOccDeviceState {
  cudaOccCacheConfig cacheConfig;
  int carveoutConfig;
#ifdef __cplusplus
  cudaOccDeviceState() : cacheConfig(CACHE_PREFER_NONE), carveoutConfig(SHAREDMEM_CARVEOUT_DEFAULT) {}
#endif
};
typedef struct cudaOccDeviceState cudaOccDeviceState;

struct cudaOccResult {
  int activeBlocksPerMultiprocessor;
  unsigned int limitingFactors;
  int blockLimitRegs, blockLimitSharedMem, blockLimitWarps, blockLimitBlocks, blockLimitBarriers;
  int allocatedRegistersPerBlock;
  size_t allocatedSharedMemPerBlock;
  cudaOccPartitionedGCConfig partitionedGCConfig;
};
typedef struct cudaOccResult cudaOccResult;

static inline size_t wb_occ_round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

// Blocks that a multiprocessor of the architecture holds, whatever they need.
static inline int wb_occ_most_blocks(const cudaOccDeviceProp* p) {
  switch (p->computeMajor) {
    case 1:
    case 2: return 8;
    case 3: return 16;
    case 7: return p->computeMinor == 5 ? 16 : 32;
    case 8: return p->computeMinor == 0 ? 32 : p->computeMinor == 9 ? 24 : 16;
    case 12: return 24;
    default: return 32;
  }
}

static inline cudaOccError cudaOccMaxActiveBlocksPerMultiprocessor(cudaOccResult* result,
    const cudaOccDeviceProp* properties, const cudaOccFuncAttributes* attributes, const cudaOccDeviceState* state,
    int blockSize, size_t dynamicSmemSize) {
  size_t warps, registers, shared, step;
  int parts, best;
  if (!result || !properties || !attributes || !state || blockSize <= 0 || properties->warpSize <= 0)
    return CUDA_OCC_ERROR_INVALID_INPUT;
  if (properties->computeMajor < 1) return CUDA_OCC_ERROR_UNKNOWN_DEVICE;
  result->partitionedGCConfig = PARTITIONED_GC_OFF;
  warps = wb_occ_round_up((size_t)blockSize, (size_t)properties->warpSize) / (size_t)properties->warpSize;
  result->blockLimitBlocks = wb_occ_most_blocks(properties);
  result->blockLimitBarriers = attributes->numBlockBarriers > 16 ? 0 : INT_MAX;
  result->blockLimitWarps = blockSize > properties->maxThreadsPerBlock || blockSize > attributes->maxThreadsPerBlock
                                ? 0
                                : (int)((size_t)(properties->maxThreadsPerMultiprocessor / properties->warpSize) / warps);

  // Registers are given to warps in steps, and each part of the multiprocessor has its own.
  parts = properties->computeMajor == 6 && properties->computeMinor == 0 ? 2 : properties->computeMajor < 3 ? 1 : 4;
  registers = wb_occ_round_up((size_t)attributes->numRegs * (size_t)properties->warpSize,
                              properties->computeMajor < 3 ? 64 : 256);
  result->allocatedRegistersPerBlock = (int)(registers * wb_occ_round_up(warps, (size_t)parts));
  if (registers == 0)
    result->blockLimitRegs = INT_MAX;
  else if (result->allocatedRegistersPerBlock > properties->regsPerBlock)
    result->blockLimitRegs = 0;
  else
    result->blockLimitRegs =
        (int)((size_t)properties->regsPerMultiprocessor / (size_t)parts / registers * (size_t)parts / warps);

  step = properties->computeMajor >= 7 ? 128 : properties->computeMajor >= 3 ? 256 : 128;
  shared = attributes->sharedSizeBytes + dynamicSmemSize;
  if (shared > (attributes->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN && properties->sharedMemPerBlockOptin
                    ? properties->sharedMemPerBlockOptin
                    : properties->sharedMemPerBlock)) {
    result->blockLimitSharedMem = 0;
    result->allocatedSharedMemPerBlock = shared;
  } else {
    shared = wb_occ_round_up(shared + properties->reservedSharedMemPerBlock, step);
    result->allocatedSharedMemPerBlock = shared;
    result->blockLimitSharedMem = shared ? (int)(properties->sharedMemPerMultiprocessor / shared) : INT_MAX;
  }

  best = result->blockLimitBlocks;
  if (result->blockLimitWarps < best) best = result->blockLimitWarps;
  if (result->blockLimitRegs < best) best = result->blockLimitRegs;
  if (result->blockLimitSharedMem < best) best = result->blockLimitSharedMem;
  if (result->blockLimitBarriers < best) best = result->blockLimitBarriers;
  result->activeBlocksPerMultiprocessor = best;
  result->limitingFactors = (best == result->blockLimitWarps ? OCC_LIMIT_WARPS : 0u) |
                            (best == result->blockLimitRegs ? OCC_LIMIT_REGISTERS : 0u) |
                            (best == result->blockLimitSharedMem ? OCC_LIMIT_SHARED_MEMORY : 0u) |
                            (best == result->blockLimitBlocks ? OCC_LIMIT_BLOCKS : 0u) |
                            (best == result->blockLimitBarriers ? OCC_LIMIT_BARRIERS : 0u);
  return CUDA_OCC_SUCCESS;
}

// The block size that keeps the most threads on a multiprocessor; of equals the largest.
static inline cudaOccError cudaOccMaxPotentialOccupancyBlockSize(int* minGridSize, int* blockSize,
    const cudaOccDeviceProp* properties, const cudaOccFuncAttributes* attributes, const cudaOccDeviceState* state,
    size_t (*blockSizeToDynamicSMemSize)(int), size_t dynamicSMemSize) {
  int size, most, best = 0;
  cudaOccResult result;
  if (!minGridSize || !blockSize || !properties || !attributes || !state) return CUDA_OCC_ERROR_INVALID_INPUT;
  most = attributes->maxThreadsPerBlock < properties->maxThreadsPerBlock ? attributes->maxThreadsPerBlock
                                                                         : properties->maxThreadsPerBlock;
  *minGridSize = *blockSize = 0;
  for (size = (int)wb_occ_round_up((size_t)most, (size_t)properties->warpSize); size > 0; size -= properties->warpSize) {
    const int threads = size < most ? size : most;
    const size_t dynamic = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(threads) : dynamicSMemSize;
    const cudaOccError status =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, properties, attributes, state, threads, dynamic);
    if (status != CUDA_OCC_SUCCESS) return status;
    if (threads * result.activeBlocksPerMultiprocessor <= best) continue;
    best = threads * result.activeBlocksPerMultiprocessor;
    *blockSize = threads;
    *minGridSize = result.activeBlocksPerMultiprocessor * properties->numSms;
    if (best == properties->maxThreadsPerMultiprocessor) break;
  }
  return CUDA_OCC_SUCCESS;
}

#include "warpbeam/restore_macros.h"
#endif
