// Functions: their attributes, occupancy, and what launches of the first interface keep with them.
#include "cuda/driver/module.h"
#include "cuda/driver/owners.h"

namespace warpbeam::cuda::driver {

CUresult function_attribute(const Function& function, CUfunction_attribute attribute, int* value) {
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  const vm::Kernel& kernel = function.kernel;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = function.threads_that_fit(); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(kernel.static_shared); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(kernel.constant_bytes); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(kernel.local_bytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = static_cast<int>(kernel.registers); break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = kernel.target_sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = function.context.model.cc(); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = static_cast<int>(function.max_dynamic_shared()); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function.carveout_percent; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = function.non_portable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = function.kernel.cluster[0] != 0; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = static_cast<int>(function.cluster[static_cast<size_t>(attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)]);
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = function.cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

namespace {

template <class Body>
CUresult with_function(CUfunction handle, Body&& body) {
  auto run = [&](Context& context) -> CUresult {
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return result_of(status);
    return result_of(body(*function));
  };
  return of_handle(handle, run, Prefer::Owner);
}

// What asks for a device, too: some context must be current.
template <class Body>
CUresult in_current_with(CUfunction handle, Body&& body) {
  return in_current([&](Context& context) -> CUresult {
    Context* owner = handle ? owner_of(handle) : nullptr;
    if (!owner || owner == &context) return result_of(body());
    Borrowed borrowed(*owner);
    return result_of(body());
  });
}

// The largest block that fills a multiprocessor best: fewest threads left idle, larger blocks first.
CUresult potential_block_size(int* grid, int* block, CUfunction handle, CUoccupancyB2DSize shared_of, size_t shared, int limit,
                              unsigned flags) {
  return in_current([&](Context&) {
    return with_function(handle, [&](Function& function) -> CUresult {
      if (!grid || !block || limit < 0) return CUDA_ERROR_INVALID_VALUE;
      const int warp = function.context.model.warp_size;
      int most = function.threads_that_fit();
      if (limit) most = std::min(most, limit);
      int best_threads = 0;
      for (int rounded = (most + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
        int size = std::min(rounded, most), blocks = 0;
        size_t bytes = shared_of ? shared_of(size) : shared;
        cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, handle, size, bytes, flags);
        if (status != cudaSuccess) return result_of(status);
        if (blocks * size <= best_threads) continue;
        best_threads = blocks * size;
        *block = size;
        *grid = blocks * function.context.model.sm_count;
      }
      return best_threads ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return with_function(handle, [&](Function& function) { return function_attribute(function, attribute, value); });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  if (!module || !handle) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return with_function(handle, [&](Function&) {
    *module = reinterpret_cast<CUmodule>(symbol_of(handle)->image);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return of_handle(handle, [&](Context& context) {
    KernelSymbol* symbol = symbol_of(handle);
    if (!symbol) return CUDA_ERROR_INVALID_HANDLE;
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = symbol->loaded[context.slot] ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction handle) {
  return with_function(handle, [](Function&) { return CUDA_SUCCESS; });
}

WB_FUNCTION_CALL(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value),
                 cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value))
WB_FUNCTION_CALL(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config),
                 cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config)))
WB_FUNCTION_CALL(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config),
                 cudaFuncSetSharedMemConfig(function, static_cast<cudaSharedMemConfig>(config)))

CUresult cuFuncGetName(const char** name, CUfunction function) {
  if (!function) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_handle(function, [&](Context&) { return cudaFuncGetName(name, function); }, Prefer::Owner);
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  if (!function) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_handle(function, [&](Context&) { return cudaFuncGetParamInfo(function, index, offset, size); }, Prefer::Owner);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int size, size_t shared) {
  return in_current_with(function, [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size, shared); });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int size, size_t shared, unsigned flags) {
  return in_current_with(function,
                         [&] { return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, size, shared, flags); });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* shared, CUfunction function, int blocks, int size) {
  return in_current_with(function, [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(shared, function, blocks, size); });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                                          int limit) {
  return potential_block_size(grid, block, function, shared_of, shared, limit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                                                   int limit, unsigned flags) {
  return potential_block_size(grid, block, function, shared_of, shared, limit, flags);
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  if (!function) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return in_current([&](Context&) {
    if (!config) return cudaErrorInvalidValue;
    cudaLaunchConfig_t runtime = runtime_config(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &runtime);
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return in_current([&](Context&) {
    if (!config) return cudaErrorInvalidValue;
    cudaLaunchConfig_t runtime = runtime_config(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &runtime);
  });
}

}  // extern "C"
