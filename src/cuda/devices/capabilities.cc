// What devices can do across their borders, and what they would tell the program of.
#include <memory>

#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

// Where atomics cross a link at all, they are the machine's own: every width that the operation has.
unsigned capabilities_of(cudaAtomicOperation operation) {
  const unsigned scalars = cudaAtomicCapabilityScalar32 | cudaAtomicCapabilityScalar64;
  switch (operation) {
    case cudaAtomicOperationIntegerAdd:
    case cudaAtomicOperationIntegerMin:
    case cudaAtomicOperationIntegerMax:
      return cudaAtomicCapabilitySigned | cudaAtomicCapabilityUnsigned | cudaAtomicCapabilityReduction | scalars;
    case cudaAtomicOperationIntegerIncrement:
    case cudaAtomicOperationIntegerDecrement:
      return cudaAtomicCapabilityUnsigned | cudaAtomicCapabilityReduction | cudaAtomicCapabilityScalar32;
    case cudaAtomicOperationAnd:
    case cudaAtomicOperationOr:
    case cudaAtomicOperationXOR: return cudaAtomicCapabilityReduction | scalars;
    case cudaAtomicOperationExchange:
    case cudaAtomicOperationCAS: return scalars | cudaAtomicCapabilityScalar128;
    case cudaAtomicOperationFloatAdd: return cudaAtomicCapabilityReduction | scalars;
    case cudaAtomicOperationFloatMin:
    case cudaAtomicOperationFloatMax: return 0;
  }
  return 0;
}

cudaError_t answer(unsigned* capabilities, const cudaAtomicOperation* operations, unsigned count, bool native) {
  if (!capabilities || !operations || count == 0) return cudaErrorInvalidValue;
  for (unsigned k = 0; k < count; ++k) {
    if (operations[k] < cudaAtomicOperationIntegerAdd || operations[k] > cudaAtomicOperationFloatMax) return cudaErrorInvalidValue;
    capabilities[k] = native ? capabilities_of(operations[k]) : 0;
  }
  return cudaSuccess;
}

struct Notification {
  int device;
};

HandleTable<Notification>& notifications() {
  static auto* table = new HandleTable<Notification>;
  return *table;
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const cudaAtomicOperation* operations, unsigned int count,
                                                int device) {
  return edge([&]() -> cudaError_t {
    int native = 0;
    if (cudaError_t status = cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, device); status != cudaSuccess)
      return status;
    return answer(capabilities, operations, count, native != 0);
  });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const cudaAtomicOperation* operations, unsigned int count,
                                               int from, int to) {
  return edge([&]() -> cudaError_t {
    int native = 0;
    if (cudaError_t status = cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, from, to); status != cudaSuccess)
      return status;
    return answer(capabilities, operations, count, native != 0);
  });
}

// The one kind of notification is that a process must give memory back; here no process ever must.
cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callback, void*, cudaAsyncCallbackHandle_t* handle) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (!callback || !handle) return cudaErrorInvalidValue;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    auto entry = std::make_shared<Notification>(Notification{device});
    *handle = reinterpret_cast<cudaAsyncCallbackHandle_t>(entry.get());
    notifications().add(std::move(entry));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t handle) {
  return edge([&]() -> cudaError_t {
    auto entry = notifications().find(handle);
    if (!entry || entry->device != device) return cudaErrorInvalidValue;
    notifications().remove(handle);
    return cudaSuccess;
  });
}

// Devices whose memory others write over the bus say so; there is nothing to flush then, as host stores are never held back.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target, cudaFlushGPUDirectRDMAWritesScope scope) {
  return in_context([&](Context& context) {
    if (target != cudaFlushGPUDirectRDMAWritesTargetCurrentDevice) return cudaErrorInvalidValue;
    if (scope != cudaFlushGPUDirectRDMAWritesToOwner && scope != cudaFlushGPUDirectRDMAWritesToAllDevices) return cudaErrorInvalidValue;
    const bool host = context.model.gpu_direct_rdma_flush_options & cudaFlushGPUDirectRDMAWritesOptionHost;
    return host ? cudaSuccess : cudaErrorNotSupported;
  });
}

}  // extern "C"
