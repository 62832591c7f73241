// Attributes of streams: hints that are kept and given back.
#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

cudaError_t get(cudaStream_t handle, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  return in_context([&](Context& context) {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!value) return cudaErrorInvalidValue;
    std::lock_guard lock(stream->attributes_mutex);
    const StreamAttributes& known = stream->attributes;
    switch (id) {
      case cudaLaunchAttributeAccessPolicyWindow: value->accessPolicyWindow = known.window; return cudaSuccess;
      case cudaLaunchAttributeSynchronizationPolicy: value->syncPolicy = known.synchronization; return cudaSuccess;
      case cudaLaunchAttributePriority: value->priority = stream->priority; return cudaSuccess;
      case cudaLaunchAttributeMemSyncDomain: value->memSyncDomain = known.domain; return cudaSuccess;
      case cudaLaunchAttributeMemSyncDomainMap: value->memSyncDomainMap = known.domains; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t set(cudaStream_t handle, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  return in_context([&](Context& context) {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!value) return cudaErrorInvalidValue;
    std::lock_guard lock(stream->attributes_mutex);
    StreamAttributes& known = stream->attributes;
    switch (id) {
      case cudaLaunchAttributeAccessPolicyWindow: {
        const auto& window = value->accessPolicyWindow;
        if (window.hitRatio < 0 || window.hitRatio > 1 || window.missProp == cudaAccessPropertyPersisting ||
            window.num_bytes > static_cast<size_t>(context.model.access_policy_window_bytes))
          return cudaErrorInvalidValue;
        known.window = window;
        return cudaSuccess;
      }
      case cudaLaunchAttributeSynchronizationPolicy:
        if (value->syncPolicy < cudaSyncPolicyAuto || value->syncPolicy > cudaSyncPolicyBlockingSync) return cudaErrorInvalidValue;
        known.synchronization = value->syncPolicy;
        return cudaSuccess;
      case cudaLaunchAttributeMemSyncDomain: known.domain = value->memSyncDomain; return cudaSuccess;
      case cudaLaunchAttributeMemSyncDomainMap: known.domains = value->memSyncDomainMap; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t copy(cudaStream_t to_handle, cudaStream_t from_handle) {
  return in_context([&](Context& context) {
    StreamRef to = find_stream(context, to_handle), from = find_stream(context, from_handle);
    if (!to || !from || &to->context != &from->context) return cudaErrorInvalidResourceHandle;
    if (to == from) return cudaSuccess;
    std::scoped_lock lock(to->attributes_mutex, from->attributes_mutex);
    to->attributes = from->attributes;
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  return get(stream, id, value);
}

WB_TWIN cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  return get(per_thread(stream), id, value);
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  return set(stream, id, value);
}

WB_TWIN cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  return set(per_thread(stream), id, value);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) { return copy(to, from); }

WB_TWIN cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) { return copy(per_thread(to), per_thread(from)); }

}  // extern "C"
