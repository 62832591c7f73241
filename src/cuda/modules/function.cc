// Functions: their limits, their attributes, and how many blocks of them fit.
#include <algorithm>

#include "cuda/edge.h"
#include "cuda/modules/modules.h"

namespace warpbeam::cuda {

size_t Function::max_dynamic_shared() const {
  int asked = dynamic_shared_limit.load(std::memory_order_relaxed);
  if (asked >= 0) return asked;
  size_t plain = context.model.shared_per_block;
  return kernel.static_shared < plain ? plain - kernel.static_shared : 0;
}

int Function::max_threads_per_block() const {
  int limit = context.model.max_threads_per_block;
  if (kernel.max_ntid[0] == 0) return limit;
  uint64_t bound = 1;
  for (uint32_t extent : kernel.max_ntid) bound *= std::max(extent, 1u);
  return static_cast<int>(std::min<uint64_t>(bound, limit));
}

int Function::threads_that_fit() const {
  constexpr int kRegisterStep = 8;  // of a thread
  int registers = (static_cast<int>(kernel.registers) + kRegisterStep - 1) / kRegisterStep * kRegisterStep;
  int limit = max_threads_per_block(), warp = context.model.warp_size;
  if (registers == 0) return limit;
  return std::min(limit, std::max(warp, context.model.regs_per_block / registers / warp * warp));
}

model::KernelResources Function::resources() const {
  model::KernelResources resources;
  resources.regs_per_thread = static_cast<int>(kernel.registers);
  resources.static_shared = kernel.static_shared;
  resources.max_dynamic_shared = max_dynamic_shared();
  resources.max_threads_per_block = max_threads_per_block();
  return resources;
}

model::OccupancySettings Function::occupancy_settings() const {
  model::OccupancySettings settings;
  settings.cache = static_cast<model::CachePreference>(cache.load(std::memory_order_relaxed));
  settings.carveout_percent = carveout_percent.load(std::memory_order_relaxed);
  return settings;
}

static_assert(static_cast<int>(model::CachePreference::Shared) == cudaFuncCachePreferShared);
static_assert(static_cast<int>(model::CachePreference::L1) == cudaFuncCachePreferL1);
static_assert(static_cast<int>(model::CachePreference::Equal) == cudaFuncCachePreferEqual);

int Function::resident_blocks(int block_size, size_t dynamic_shared) const {
  std::lock_guard lock(mutex_);
  if (last_block_size_ == block_size && last_shared_ == dynamic_shared) return last_resident_;
  auto fit = model::occupancy(context.model, resources(), block_size, dynamic_shared, occupancy_settings());
  last_block_size_ = block_size;
  last_shared_ = dynamic_shared;
  last_resident_ = fit ? fit->blocks_per_sm * context.model.sm_count : 0;
  return last_resident_;
}

cudaFuncAttributes attributes_of(const Function& function) {
  cudaFuncAttributes attributes{};
  attributes.sharedSizeBytes = function.kernel.static_shared;
  attributes.constSizeBytes = function.kernel.constant_bytes;
  attributes.localSizeBytes = function.kernel.local_bytes;
  attributes.maxThreadsPerBlock = function.threads_that_fit();
  attributes.numRegs = static_cast<int>(function.kernel.registers);
  attributes.ptxVersion = function.kernel.target_sm;
  attributes.binaryVersion = function.context.model.cc();
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(function.max_dynamic_shared());
  attributes.preferredShmemCarveout = function.carveout_percent;
  attributes.nonPortableClusterSizeAllowed = function.non_portable_cluster;
  attributes.clusterDimMustBeSet = function.kernel.cluster[0] != 0;
  attributes.requiredClusterWidth = static_cast<int>(function.cluster[0]);
  attributes.requiredClusterHeight = static_cast<int>(function.cluster[1]);
  attributes.requiredClusterDepth = static_cast<int>(function.cluster[2]);
  attributes.clusterSchedulingPolicyPreference = function.cluster_policy;
  return attributes;
}

namespace {

template <class Body>
cudaError_t with_function(const void* handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return status;
    return body(*function);
  });
}

cudaError_t set_attribute(Function& function, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      int most = function.context.model.shared_per_block_optin - static_cast<int>(function.kernel.static_shared);
      if (value < 0 || value > most) return cudaErrorInvalidValue;
      function.dynamic_shared_limit = value;
      return cudaSuccess;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared) return cudaErrorInvalidValue;
      function.carveout_percent = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: function.non_portable_cluster = value != 0; return cudaSuccess;
    // Launches say whether the three fit each other and the grid.
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth: {
      const auto which = static_cast<size_t>(attribute - cudaFuncAttributeRequiredClusterWidth);
      const uint32_t own = function.kernel.cluster[which];  // code that says it can only be confirmed
      if (value < 0 || (own && own != static_cast<uint32_t>(value))) return cudaErrorInvalidValue;
      function.cluster[which] = static_cast<uint32_t>(value);
      return cudaSuccess;
    }
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < cudaClusterSchedulingPolicyDefault || value > cudaClusterSchedulingPolicyLoadBalancing) return cudaErrorInvalidValue;
      function.cluster_policy = value;
      return cudaSuccess;
    default:  // ClusterDimMustBeSet too: only code says that
      return cudaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* handle) {
  return with_function(handle, [&](Function& function) {
    if (!attributes) return cudaErrorInvalidValue;
    *attributes = attributes_of(function);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* handle, cudaFuncAttribute attribute, int value) {
  return with_function(handle, [&](Function& function) { return set_attribute(function, attribute, value); });
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    Function* function = nullptr;
    if (cudaError_t status = find_function(*context, kernel, &function); status != cudaSuccess) return status;
    return set_attribute(*function, attribute, value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* handle, cudaFuncCache config) {
  return with_function(handle, [&](Function& function) {
    if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    function.cache = config;
    return cudaSuccess;
  });
}

// Banks of eight bytes existed on compute capability 3.x only; elsewhere the wish is accepted and changes nothing.
cudaError_t cudaFuncSetSharedMemConfig(const void* handle, cudaSharedMemConfig config) {
  return with_function(handle, [&](Function& function) {
    if (config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
    function.banks = config;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* handle) {
  return with_function(handle, [&](Function& function) {
    if (!name) return cudaErrorInvalidValue;
    *name = function.kernel.name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* handle, size_t index, size_t* offset, size_t* size) {
  return with_function(handle, [&](Function& function) {
    if (!offset || index >= function.kernel.params.size()) return cudaErrorInvalidValue;
    *offset = function.kernel.params[index].offset;
    if (size) *size = function.kernel.params[index].size;
    return cudaSuccess;
  });
}

// A kernel's symbol serves as its handle in every context.
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return edge([&] {
    if (!kernel) return cudaErrorInvalidValue;
    KernelSymbol* symbol = Registry::instance().kernel(host);
    if (!symbol) return cudaErrorInvalidDeviceFunction;
    *kernel = reinterpret_cast<cudaKernel_t>(symbol);
    return cudaSuccess;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* result, const void* host) {
  return with_function(host, [&](Function&) {
    if (!result) return cudaErrorInvalidValue;
    *result = reinterpret_cast<cudaFunction_t>(Registry::instance().kernel(host));
    return cudaSuccess;
  });
}

}  // extern "C"
