// Streams: made, asked, waited for, and host functions in them.
#include <algorithm>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/memory/ipc.h"
#include "cuda/streams/ops.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

constexpr int kLeastPriority = 0;

int greatest_priority(const model::Device& model) { return model.stream_priorities ? -5 : 0; }

cudaError_t create(cudaStream_t* handle, unsigned flags, int priority) {
  return in_context([&](Context& context) {
    if (!handle || (flags & ~unsigned{cudaStreamNonBlocking})) return cudaErrorInvalidValue;
    auto kind = flags & cudaStreamNonBlocking ? Queue::Kind::NonBlocking : Queue::Kind::Blocking;
    priority = std::clamp(priority, greatest_priority(context.model), kLeastPriority);
    auto stream = std::make_shared<Stream>(context, kind, flags, priority);
    *handle = stream->handle();
    process().streams.add(std::move(stream));
    return cudaSuccess;
  });
}

// Runs `body` with the stream the handle means, which may belong to another device than the current one.
template <class Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (cudaError_t failure = stream->context.failure(); failure != cudaSuccess) return failure;
    return body(*stream);
  });
}

cudaError_t synchronize(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream) {
    forbid_capture(stream);
    Scheduler::instance().wait(stream.queue);
    if (auto* tool = observe::tool()) {
      if (stream.context.sleeps_in_waits()) tool->sleeps();
      tool->waited(observe::WaitKind::Stream, stream.id);
    }
    stream.context.write_output();
    return stream.context.failure();
  });
}

cudaError_t query(cudaStream_t handle) {
  return with_stream(handle, [](Stream& stream) {
    forbid_capture(stream);
    if (!Scheduler::instance().idle(stream.queue)) return cudaErrorNotReady;
    if (auto* tool = observe::tool()) {
      if (!tool->reached(observe::WaitKind::Stream, stream.id)) return cudaErrorNotReady;
      tool->waited(observe::WaitKind::Stream, stream.id);
    }
    return stream.context.failure();
  });
}

cudaError_t wait_event(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
  return with_stream(handle, [&](Stream& stream) {
    if (flags > cudaEventWaitExternal) return cudaErrorInvalidValue;
    EventRef event = find_event(event_handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (capture_wait(stream, *event, flags)) return cudaSuccess;
    if (auto moment = shared_moment(*event)) {
      wait_shared(moment, stream.shared_from_this());
      return cudaSuccess;
    }
    TaskRef recorded;
    {
      std::lock_guard lock(event->mutex);
      recorded = event->recorded;
    }
    if (!recorded || (recorded->done() && !observe::tool())) return cudaSuccess;
    enqueue(stream.context, stream.shared_from_this(), WaitWork{}, std::span(&recorded, 1));
    return cudaSuccess;
  });
}

cudaError_t add_callback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned flags) {
  return with_stream(handle, [&](Stream& stream) {
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    enqueue(stream.context, stream.shared_from_this(), HostWork{[=](cudaError_t status) { callback(handle, status, data); }, true});
    return cudaSuccess;
  });
}

cudaError_t launch_host_function(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return with_stream(handle, [&](Stream& stream) {
    if (!function) return cudaErrorInvalidValue;
    enqueue(stream.context, stream.shared_from_this(), HostWork{[=](cudaError_t) { function(data); }, false, function, data});
    return cudaSuccess;
  });
}

template <class Value>
cudaError_t get(cudaStream_t handle, Value* value, Value (*read)(const Stream&)) {
  return with_stream(handle, [&](Stream& stream) {
    if (!value) return cudaErrorInvalidValue;
    *value = read(stream);
    return cudaSuccess;
  });
}

unsigned flags_of(const Stream& stream) { return stream.flags; }
int priority_of(const Stream& stream) { return stream.priority; }
unsigned long long id_of(const Stream& stream) { return stream.id; }
int device_of(const Stream& stream) { return stream.context.ordinal; }

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create(stream, cudaStreamDefault, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) { return create(stream, flags, 0); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) { return create(stream, flags, priority); }

// Work already queued still runs; the stream lives until it has.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return in_context([&](Context&) {
    if (StreamRef stream = process().streams.find(handle)) abandon_capture(*stream);
    return process().streams.remove(handle) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return synchronize(stream); }
WB_TWIN cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) { return synchronize(per_thread(stream)); }

cudaError_t cudaStreamQuery(cudaStream_t stream) { return query(stream); }
WB_TWIN cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return query(per_thread(stream)); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) { return wait_event(stream, event, flags); }

WB_TWIN cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return wait_event(per_thread(stream), event, flags);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return add_callback(stream, callback, data, flags);
}

WB_TWIN cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  return add_callback(per_thread(stream), callback, data, flags);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return launch_host_function(stream, function, data);
}

WB_TWIN cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return launch_host_function(per_thread(stream), function, data);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) { return get(stream, flags, flags_of); }
WB_TWIN cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) { return get(per_thread(stream), flags, flags_of); }

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) { return get(stream, priority, priority_of); }
WB_TWIN cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return get(per_thread(stream), priority, priority_of);
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) { return get(stream, id, id_of); }
WB_TWIN cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) { return get(per_thread(stream), id, id_of); }

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) { return get(stream, device, device_of); }
WB_TWIN cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) { return get(per_thread(stream), device, device_of); }

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Context& context) {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = greatest_priority(context.model);
    return cudaSuccess;
  });
}

// A cache hint.
cudaError_t cudaCtxResetPersistingL2Cache(void) {
  return in_context([](Context&) { return cudaSuccess; });
}

}  // extern "C"
