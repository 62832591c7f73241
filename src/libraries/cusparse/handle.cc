// Handles, their settings, and the descriptors of the typed functions.
#include <cuda_runtime_api.h>

#include <memory>
#include <new>
#include <unordered_set>

#include "libraries/cusparse/call.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace warpbeam::cusparse {

namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_set<const void*> live;
};

Handles& handles() {
  static auto* handles = new Handles;
  return *handles;
}

bool is_live(const void* handle) {
  std::lock_guard lock(handles().mutex);
  return handles().live.contains(handle);
}

cusparseStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess                 ? CUSPARSE_STATUS_SUCCESS
         : error == cudaErrorMemoryAllocation ? CUSPARSE_STATUS_ALLOC_FAILED
                                              : CUSPARSE_STATUS_EXECUTION_FAILED;
}

}  // namespace

cusparseStatus_t Call::submit(size_t effort, std::function<void(Memory&)> run) {
  return status_of(cuda::enqueue_library_call(handle_.stream, name_, effort, std::move(run)));
}

cusparseStatus_t Call::wait() { return status_of(cudaStreamSynchronize(handle_.stream)); }
bool Call::captured() const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(handle_.stream, &status) == cudaSuccess && status != cudaStreamCaptureStatusNone;
}

cusparseStatus_t enter(const char* name, cusparseHandle_t handle, const std::function<cusparseStatus_t(Call&)>& body) noexcept {
  try {
    if (!is_live(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
    std::lock_guard lock(handle->mutex);
    Call call(name, *handle);
    return body(call);
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const std::bad_alloc&) {
    return CUSPARSE_STATUS_ALLOC_FAILED;
  } catch (...) {
    return CUSPARSE_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace warpbeam::cusparse

using namespace warpbeam::cusparse;

WB_EXPORT cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (!handle) return CUSPARSE_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUSPARSE_STATUS_NOT_INITIALIZED;
  auto made = std::make_unique<cusparseContext>();
  std::lock_guard lock(handles().mutex);
  handles().live.insert(made.get());
  *handle = made.release();
  return CUSPARSE_STATUS_SUCCESS;
}

WB_EXPORT cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  {
    std::lock_guard lock(handles().mutex);
    if (!handles().live.erase(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  }
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}

WB_EXPORT cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUSPARSE_VER_MAJOR : type == MINOR_VERSION ? CUSPARSE_VER_MINOR : CUSPARSE_VER_PATCH;
  return CUSPARSE_STATUS_SUCCESS;
}

#define WB_STATUSES(X)                                      \
  X(SUCCESS, "success")                                     \
  X(NOT_INITIALIZED, "initialization error")                \
  X(ALLOC_FAILED, "out of memory")                          \
  X(INVALID_VALUE, "invalid value")                         \
  X(ARCH_MISMATCH, "architecture mismatch")                 \
  X(MAPPING_ERROR, "texture memory mapping error")          \
  X(EXECUTION_FAILED, "kernel launch failure")              \
  X(INTERNAL_ERROR, "internal error")                       \
  X(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported") \
  X(ZERO_PIVOT, "zero pivot")                               \
  X(NOT_SUPPORTED, "operation not supported")               \
  X(INSUFFICIENT_RESOURCES, "insufficient resources")
#define WB_NAME(name, text) \
  case CUSPARSE_STATUS_##name: return "CUSPARSE_STATUS_" #name;
#define WB_TEXT(name, text) \
  case CUSPARSE_STATUS_##name: return text;
WB_EXPORT const char* cusparseGetErrorName(cusparseStatus_t status) {
  switch (status) { WB_STATUSES(WB_NAME) }
  return "unrecognized error code";
}
WB_EXPORT const char* cusparseGetErrorString(cusparseStatus_t status) {
  switch (status) { WB_STATUSES(WB_TEXT) }
  return "unrecognized error code";
}

#define WB_GET(name, Type, value_of)                                      \
  WB_EXPORT cusparseStatus_t name(cusparseHandle_t handle, Type* value) { \
    if (!is_live(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;         \
    if (!value) return CUSPARSE_STATUS_INVALID_VALUE;                     \
    *value = value_of;                                                    \
    return CUSPARSE_STATUS_SUCCESS;                                       \
  }
WB_GET(cusparseGetVersion, int, CUSPARSE_VERSION)
WB_GET(cusparseGetStream, cudaStream_t, handle->stream)
WB_GET(cusparseGetPointerMode, cusparsePointerMode_t, handle->mode)

WB_EXPORT cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  if (!is_live(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
WB_EXPORT cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  if (!is_live(handle)) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (mode != CUSPARSE_POINTER_MODE_HOST && mode != CUSPARSE_POINTER_MODE_DEVICE) return CUSPARSE_STATUS_INVALID_VALUE;
  handle->mode = mode;
  return CUSPARSE_STATUS_SUCCESS;
}

WB_EXPORT cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descr) {
  if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descr = new cusparseMatDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
WB_EXPORT cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descr) {
  delete descr;
  return CUSPARSE_STATUS_SUCCESS;
}
#define WB_SETTING(Name, Type, field, last)                                            \
  WB_EXPORT cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t descr, Type value) { \
    if (!descr || value < 0 || value > last) return CUSPARSE_STATUS_INVALID_VALUE;     \
    descr->field = value;                                                              \
    return CUSPARSE_STATUS_SUCCESS;                                                    \
  }                                                                                    \
  WB_EXPORT Type cusparseGet##Name(const cusparseMatDescr_t descr) { return descr->field; }
WB_SETTING(MatType, cusparseMatrixType_t, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR)
WB_SETTING(MatFillMode, cusparseFillMode_t, fill, CUSPARSE_FILL_MODE_UPPER)
WB_SETTING(MatDiagType, cusparseDiagType_t, diag, CUSPARSE_DIAG_TYPE_UNIT)
WB_SETTING(MatIndexBase, cusparseIndexBase_t, base, CUSPARSE_INDEX_BASE_ONE)

// Nothing is logged.
WB_EXPORT cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t) { return CUSPARSE_STATUS_SUCCESS; }
WB_EXPORT cusparseStatus_t cusparseLoggerSetFile(FILE*) { return CUSPARSE_STATUS_SUCCESS; }
WB_EXPORT cusparseStatus_t cusparseLoggerOpenFile(const char*) { return CUSPARSE_STATUS_SUCCESS; }
WB_EXPORT cusparseStatus_t cusparseLoggerSetLevel(int) { return CUSPARSE_STATUS_SUCCESS; }
WB_EXPORT cusparseStatus_t cusparseLoggerSetMask(int) { return CUSPARSE_STATUS_SUCCESS; }
WB_EXPORT cusparseStatus_t cusparseLoggerForceDisable(void) { return CUSPARSE_STATUS_SUCCESS; }
