// Events: moments in streams.
#include <thread>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/memory/ipc.h"
#include "cuda/streams/ops.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

constexpr unsigned kEventFlags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

cudaError_t create(cudaEvent_t* handle, unsigned flags) {
  return in_context([&](Context& context) {
    if (!handle || (flags & ~kEventFlags)) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)) return cudaErrorInvalidValue;
    auto event = std::make_shared<Event>(context, flags);
    *handle = event->handle();
    process().events.add(std::move(event));
    return cudaSuccess;
  });
}

cudaError_t record(cudaEvent_t handle, cudaStream_t stream_handle, unsigned flags) {
  return in_context([&](Context& context) {
    if (flags > cudaEventRecordExternal) return cudaErrorInvalidValue;
    EventRef event = find_event(handle);
    StreamRef stream = find_stream(context, stream_handle);
    // An event belongs to the device it was made on, and so must the stream.
    if (!event || !stream || &event->context != &stream->context) return cudaErrorInvalidResourceHandle;
    if (capture_record(*event, *stream, flags)) return cudaSuccess;
    event->captured.reset();
    OpRef op = enqueue(stream->context, stream, RecordWork{.timed = !(event->flags & cudaEventDisableTiming)});
    {
      std::lock_guard lock(event->mutex);
      event->recorded = std::move(op);
    }
    if (auto moment = shared_moment(*event)) record_shared(moment, stream);
    return cudaSuccess;
  });
}

// The Op of the event's latest record; null if it was never recorded.
template <class Body>
cudaError_t in_event(cudaEvent_t handle, Body&& body) {
  EventRef event = find_event(handle);
  if (!event) return cudaErrorInvalidResourceHandle;
  if (cudaError_t failure = event->context.failure(); failure != cudaSuccess) return failure;
  if (cudaError_t status = event_captured(*event); status != cudaSuccess) return status;
  OpRef recorded;
  {
    std::lock_guard lock(event->mutex);
    recorded = event->recorded;
  }
  return body(*event, recorded);
}
template <class Body>
cudaError_t with_event(cudaEvent_t handle, Body&& body) {
  return in_context([&](Context&) { return in_event(handle, body); });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) { return create(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) { return create(event, flags); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return in_context([&](Context&) {
    if (EventRef known = find_event(event)) forget_shared(*known);
    return process().events.remove(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record(event, stream, 0); }
WB_TWIN cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) { return record(event, per_thread(stream), 0); }

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) { return record(event, stream, flags); }

WB_TWIN cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return record(event, per_thread(stream), flags);
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return with_event(handle, [](Event& event, const OpRef& recorded) {
    if (auto moment = shared_moment(event); moment && !moment->is_done()) return cudaErrorNotReady;
    if (recorded && !recorded->done()) return cudaErrorNotReady;
    auto* tool = warpbeam::observe::tool();
    if (tool && recorded && !tool->reached(warpbeam::observe::WaitKind::Operation, recorded->id)) return cudaErrorNotReady;
    if (tool && recorded) tool->waited(warpbeam::observe::WaitKind::Operation, recorded->id);
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return with_event(handle, [](Event& event, const OpRef& recorded) {
    if (auto moment = shared_moment(event))
      while (!moment->is_done()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (recorded) {
      Scheduler::instance().wait(recorded);
      if (auto* tool = warpbeam::observe::tool()) {
        if ((event.flags & cudaEventBlockingSync) || event.context.sleeps_in_waits()) tool->sleeps();
        tool->waited(warpbeam::observe::WaitKind::Operation, recorded->id);
      }
    }
    event.context.write_output();
    return event.context.failure();
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds) return remember(cudaErrorInvalidValue);  // measured: before the events are looked at
  return with_event(start, [&](Event& from, const OpRef& began) {
    return in_event(end, [&](Event& to, const OpRef& ended) {
      if (!began || !ended || &from.context != &to.context) return cudaErrorInvalidResourceHandle;
      if ((from.flags | to.flags) & cudaEventDisableTiming) return cudaErrorInvalidResourceHandle;
      if (!began->done() || !ended->done()) return cudaErrorNotReady;
      if (auto* tool = warpbeam::observe::tool()) {
        using warpbeam::observe::WaitKind;
        if (!tool->reached(WaitKind::Operation, began->id) || !tool->reached(WaitKind::Operation, ended->id)) return cudaErrorNotReady;
        tool->took_time(began->id, ended->id);
        if (const auto nanoseconds = tool->time_between(began->id, ended->id)) {
          *milliseconds = static_cast<float>(*nanoseconds * 1e-6);
          return cudaSuccess;
        }
      }
      *milliseconds = std::chrono::duration<float, std::milli>(ended->ended() - began->ended()).count();
      return cudaSuccess;
    });
  });
}

}  // extern "C"
