// The occupancy calculators, as the device tables compute them.
#include "cuda/edge.h"
#include "cuda/modules/modules.h"
#include "model/occupancy.h"

namespace warpbeam::cuda {

namespace {

template <class Body>
cudaError_t with_function(const void* handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return status;
    return body(*function);
  });
}

cudaError_t active_blocks(int* blocks, const void* handle, int block_size, size_t shared, unsigned flags) {
  return with_function(handle, [&](Function& function) {
    if (!blocks || (flags & ~unsigned{cudaOccupancyDisableCachingOverride})) return cudaErrorInvalidValue;
    auto settings = function.occupancy_settings();
    if (flags) settings.global_caching = model::GlobalCaching::Strict;
    auto fit = model::occupancy(function.context.model, function.resources(), block_size, shared, settings);
    if (!fit) return cudaErrorInvalidValue;
    *blocks = fit->blocks_per_sm;
    return cudaSuccess;
  });
}

// Blocks of a cluster: as the kernel demands or the launch asks; 1 when neither speaks of clusters.
int cluster_size(const Function& function, const cudaLaunchConfig_t& config) {
  const auto required = function.required_cluster();
  if (function.requires_cluster()) return static_cast<int>(required[0] * required[1] * required[2]);
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      const auto& cluster = config.attrs[i].val.clusterDim;
      return static_cast<int>(cluster.x * cluster.y * cluster.z);
    }
  return 1;
}

int threads(const dim3& block) { return static_cast<int>(block.x * block.y * block.z); }

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size, size_t shared) {
  return active_blocks(blocks, function, block_size, shared, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size, size_t shared,
                                                                   unsigned int flags) {
  return active_blocks(blocks, function, block_size, shared, flags);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, const void* handle, int blocks, int block_size) {
  return with_function(handle, [&](Function& function) {
    if (!shared) return cudaErrorInvalidValue;
    auto available =
        model::available_dynamic_shared(function.context.model, function.resources(), blocks, block_size, function.occupancy_settings());
    if (!available) return cudaErrorInvalidValue;
    *shared = *available;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* handle, const cudaLaunchConfig_t* config) {
  return with_function(handle, [&](Function& function) {
    if (!size || !config) return cudaErrorInvalidValue;
    auto most = model::max_potential_cluster_size(function.context.model, function.resources(), threads(config->blockDim),
                                                  config->dynamicSmemBytes, function.non_portable_cluster, function.occupancy_settings());
    if (!most) return cudaErrorInvalidValue;
    *size = *most;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* handle, const cudaLaunchConfig_t* config) {
  return with_function(handle, [&](Function& function) {
    if (!clusters || !config) return cudaErrorInvalidValue;
    auto most =
        model::max_active_clusters(function.context.model, function.resources(), threads(config->blockDim), config->dynamicSmemBytes,
                                   cluster_size(function, *config), function.non_portable_cluster, function.occupancy_settings());
    if (!most) return cudaErrorInvalidClusterSize;
    *clusters = *most;
    return cudaSuccess;
  });
}

}  // extern "C"
