// Memory and events shared between processes, and the log of errors: the runtime's under the driver's names.
#include <cstring>

#include "cuda/driver/edge.h"

namespace {

using namespace warpbeam::cuda::driver;

static_assert(sizeof(CUipcMemHandle) == sizeof(cudaIpcMemHandle_t));
static_assert(sizeof(CUipcEventHandle) == sizeof(cudaIpcEventHandle_t));

// Handles of both APIs are the same bytes.
template <class To, class From>
To same_bytes(const From& from) {
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

CUresult open_memory(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned flags) {
  return in_current(
      [&](auto&) { return cudaIpcOpenMemHandle(reinterpret_cast<void**>(ptr), same_bytes<cudaIpcMemHandle_t>(handle), flags); });
}

}  // namespace

using namespace warpbeam::cuda;

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr ptr) {
  if (!handle || !ptr) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return in_current([&](Context&) { return cudaIpcGetMemHandle(reinterpret_cast<cudaIpcMemHandle_t*>(handle), pointer(ptr)); });
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned flags) { return open_memory(ptr, handle, flags); }
WB_TWIN CUresult cuIpcOpenMemHandle(CUdeviceptr* ptr, CUipcMemHandle handle, unsigned flags) { return open_memory(ptr, handle, flags); }
WB_CALL(cuIpcCloseMemHandle, (CUdeviceptr ptr), cudaIpcCloseMemHandle(pointer(ptr)))
WB_CALL(cuIpcGetEventHandle, (CUipcEventHandle * handle, CUevent event),
        cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event))
WB_CALL(cuIpcOpenEventHandle, (CUevent * event, CUipcEventHandle handle),
        cudaIpcOpenEventHandle(event, same_bytes<cudaIpcEventHandle_t>(handle)))

CUresult cuLogsRegisterCallback(CUlogsCallback callback, void* data, CUlogsCallbackHandle* handle) {
  return call([&] {
    return cudaLogsRegisterCallback(reinterpret_cast<cudaLogsCallback_t>(callback), data,
                                    reinterpret_cast<cudaLogsCallbackHandle*>(handle));
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return call([&] { return cudaLogsUnregisterCallback(reinterpret_cast<cudaLogsCallbackHandle>(handle)); });
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return call([&] { return cudaLogsCurrent(iterator, flags); });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  return call([&] { return cudaLogsDumpToFile(iterator, path, flags); });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned flags) {
  return call([&] { return cudaLogsDumpToMemory(iterator, buffer, size, flags); });
}

WB_CALL(cuFlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope),
        cudaDeviceFlushGPUDirectRDMAWrites(static_cast<cudaFlushGPUDirectRDMAWritesTarget>(target),
                                           static_cast<cudaFlushGPUDirectRDMAWritesScope>(scope)))

CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callback, void* data, CUasyncCallbackHandle* handle) {
  return call([&] {
    return cudaDeviceRegisterAsyncNotification(device, reinterpret_cast<cudaAsyncCallback>(callback), data,
                                               reinterpret_cast<cudaAsyncCallbackHandle_t*>(handle));
  });
}

CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle handle) {
  return call([&] { return cudaDeviceUnregisterAsyncNotification(device, reinterpret_cast<cudaAsyncCallbackHandle_t>(handle)); });
}

}  // extern "C"
