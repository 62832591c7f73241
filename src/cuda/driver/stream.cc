// Streams and events.
#include "cuda/driver/owners.h"
#include "cuda/driver/module.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda::driver {

namespace {

template <class Body>
CUresult with_stream(CUstream handle, Body&& body) {
  return in_stream(handle, [&](Context& context) {
    StreamRef stream = find_stream(context, handle);
    return stream ? result_of(body(*stream)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult context_of_stream(CUstream handle, CUcontext* context) {
  return with_stream(handle, [&](Stream& stream) {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = handle_of(stream.context);
    return CUDA_SUCCESS;
  });
}

CUresult context_of_stream(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  if (green) *green = nullptr;
  return context_of_stream(handle, context);
}

CUresult add_callback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  return with_stream(handle, [&](Stream& stream) {
    if (!callback || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    auto work = [=](cudaError_t status) { callback(handle, result_of(status), data); };
    enqueue(stream.context, stream.shared_from_this(), HostWork{work, true});
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

static_assert(sizeof(CUstreamAttrValue) == sizeof(cudaLaunchAttributeValue));

extern "C" {

WB_CALL(cuStreamCreate, (CUstream * stream, unsigned flags), cudaStreamCreateWithFlags(stream, flags))
WB_CALL(cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority),
        cudaStreamCreateWithPriority(stream, flags, priority))
WB_OF_CALL(cuStreamDestroy_v2, stream, (CUstream stream), cudaStreamDestroy(stream))
WB_OF_CALL(cuStreamDestroy, stream, (CUstream stream), cudaStreamDestroy(stream))
WB_STREAM_CALL(cuStreamQuery, (CUstream stream), cudaStreamQuery(stream))
WB_STREAM_CALL(cuStreamSynchronize, (CUstream stream), cudaStreamSynchronize(stream))
WB_STREAM_CALL(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags), cudaStreamWaitEvent(stream, event, flags))
WB_STREAM_CALL(cuStreamGetFlags, (CUstream stream, unsigned* flags), cudaStreamGetFlags(stream, flags))
WB_STREAM_CALL(cuStreamGetPriority, (CUstream stream, int* priority), cudaStreamGetPriority(stream, priority))
WB_STREAM_CALL(cuStreamGetId, (CUstream stream, unsigned long long* id), cudaStreamGetId(stream, id))
WB_STREAM_CALL(cuStreamGetDevice, (CUstream stream, CUdevice* device), cudaStreamGetDevice(stream, device))
WB_STREAM_CALL(cuStreamAttachMemAsync, (CUstream stream, CUdeviceptr ptr, size_t bytes, unsigned flags),
               cudaStreamAttachMemAsync(stream, pointer(ptr), bytes, flags))
WB_STREAM_CALL(cuStreamGetAttribute, (CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value),
               cudaStreamGetAttribute(stream, static_cast<cudaLaunchAttributeID>(attribute),
                                      reinterpret_cast<cudaLaunchAttributeValue*>(value)))
WB_STREAM_CALL(cuStreamSetAttribute, (CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue* value),
               cudaStreamSetAttribute(stream, static_cast<cudaLaunchAttributeID>(attribute),
                                      reinterpret_cast<const cudaLaunchAttributeValue*>(value)))
WB_STREAM_CALL(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void* data), cudaLaunchHostFunc(stream, function, data))

WB_TWIN CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_stream(to, [&](Context&) { return cudaStreamCopyAttributes(to, from); });
}
WB_TWIN CUresult cuStreamCopyAttributes_ptsz(CUstream to, CUstream from) {
  return cuStreamCopyAttributes(per_thread(to), per_thread(from));
}

WB_STREAM_CALL(cuStreamGetCtx, (CUstream stream, CUcontext* context), context_of_stream(stream, context))
WB_STREAM_CALL(cuStreamGetCtx_v2, (CUstream stream, CUcontext* context, CUgreenCtx* green), context_of_stream(stream, context, green))
WB_STREAM_CALL(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void* data, unsigned flags),
               add_callback(stream, callback, data, flags))

WB_CALL(cuEventCreate, (CUevent * event, unsigned flags), cudaEventCreateWithFlags(event, flags))
WB_HANDLE_CALL(cuEventDestroy_v2, (CUevent event), cudaEventDestroy(event))
WB_HANDLE_CALL(cuEventDestroy, (CUevent event), cudaEventDestroy(event))
WB_HANDLE_CALL(cuEventQuery, (CUevent event), cudaEventQuery(event))
WB_HANDLE_CALL(cuEventSynchronize, (CUevent event), cudaEventSynchronize(event))
WB_HANDLE_CALL(cuEventElapsedTime, (float* milliseconds, CUevent start, CUevent end), cudaEventElapsedTime(milliseconds, start, end))
WB_HANDLE_CALL(cuEventElapsedTime_v2, (float* milliseconds, CUevent start, CUevent end), cudaEventElapsedTime(milliseconds, start, end))
WB_STREAM_CALL(cuEventRecord, (CUevent event, CUstream stream), cudaEventRecord(event, stream))
WB_STREAM_CALL(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags), cudaEventRecordWithFlags(event, stream, flags))

}  // extern "C"
