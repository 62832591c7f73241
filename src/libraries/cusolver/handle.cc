// Handles, and the descriptors that only keep settings.
#include <cuda_runtime_api.h>

#include <new>
#include <stdexcept>
#include <unordered_set>

#include "libraries/cusolver/jacobi.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace warpbeam::cusolver {

namespace {

struct Handles {
  std::mutex mutex;
  std::unordered_set<const void*> live;
};

// Never destroyed: programs call until their last moment.
Handles& handles() {
  static auto* handles = new Handles;
  return *handles;
}

cusolverStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess                 ? CUSOLVER_STATUS_SUCCESS
         : error == cudaErrorMemoryAllocation ? CUSOLVER_STATUS_ALLOC_FAILED
                                              : CUSOLVER_STATUS_EXECUTION_FAILED;
}

}  // namespace

Handle* make_handle() {
  if (cudaFree(nullptr) != cudaSuccess) return nullptr;
  auto made = std::make_unique<Handle>();
  std::lock_guard lock(handles().mutex);
  handles().live.insert(made.get());
  return made.release();
}

bool destroy_handle(const void* handle) {
  {
    std::lock_guard lock(handles().mutex);
    if (!handles().live.erase(handle)) return false;
  }
  delete static_cast<const Handle*>(handle);
  return true;
}

cusolverStatus_t Call::submit(size_t effort, std::function<void(Memory&)> run) {
  return status_of(cuda::enqueue_library_call(handle_.stream, name_, effort, std::move(run)));
}

cusolverStatus_t Call::wait() { return status_of(cudaStreamSynchronize(handle_.stream)); }

cusolverStatus_t enter(const char* name, const void* handle, const std::function<cusolverStatus_t(Call&)>& body) noexcept {
  try {
    {
      std::lock_guard lock(handles().mutex);
      if (!handles().live.contains(handle)) return CUSOLVER_STATUS_NOT_INITIALIZED;
    }
    auto* found = const_cast<Handle*>(static_cast<const Handle*>(handle));
    std::lock_guard lock(found->mutex);
    Call call(name, *found);
    return body(call);
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const std::out_of_range&) {  // a sparse matrix of the host's that is none
    return CUSOLVER_STATUS_INVALID_VALUE;
  } catch (const std::bad_alloc&) {
    return CUSOLVER_STATUS_ALLOC_FAILED;
  } catch (...) {
    return CUSOLVER_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

WB_EXPORT cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSOLVER_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUSOLVER_VER_MAJOR : type == MINOR_VERSION ? CUSOLVER_VER_MINOR : CUSOLVER_VER_PATCH;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverGetVersion(int* version) {
  if (!version) return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}

WB_EXPORT cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  *handle = reinterpret_cast<cusolverDnHandle_t>(make_handle());
  return *handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}
WB_EXPORT cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return destroy_handle(handle) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

struct cusolverDnParams {
  cusolverAlgMode_t algorithm[3] = {};
};
WB_EXPORT cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
  if (!params) return CUSOLVER_STATUS_INVALID_VALUE;
  *params = new cusolverDnParams;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
  delete params;
  return CUSOLVER_STATUS_SUCCESS;
}
// There is one algorithm of each kind: the choice is kept and changes nothing.
WB_EXPORT cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function, cusolverAlgMode_t algorithm) {
  if (!params || function < CUSOLVERDN_GETRF || function > CUSOLVERDN_SYEVBATCHED || algorithm < CUSOLVER_ALG_0 ||
      algorithm > CUSOLVER_ALG_3)
    return CUSOLVER_STATUS_INVALID_VALUE;
  params->algorithm[function] = algorithm;
  return CUSOLVER_STATUS_SUCCESS;
}

#define WB_JACOBI(Name, type, prefix)                                                             \
  WB_EXPORT cusolverStatus_t cusolverDnCreate##Name##Info(type##_t* info) {                       \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                                              \
    *info = new type;                                                                             \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }                                                                                               \
  WB_EXPORT cusolverStatus_t cusolverDnDestroy##Name##Info(type##_t info) {                       \
    delete info;                                                                                  \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }                                                                                               \
  WB_EXPORT cusolverStatus_t cusolverDnX##prefix##SetTolerance(type##_t info, double tolerance) { \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                                              \
    info->tolerance = tolerance;                                                                  \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }                                                                                               \
  WB_EXPORT cusolverStatus_t cusolverDnX##prefix##SetMaxSweeps(type##_t info, int max_sweeps) {   \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                                              \
    info->max_sweeps = max_sweeps;                                                                \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }                                                                                               \
  WB_EXPORT cusolverStatus_t cusolverDnX##prefix##SetSortEig(type##_t info, int sort) {           \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                                              \
    info->sort = sort;                                                                            \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }
WB_JACOBI(Syevj, syevjInfo, syevj)
WB_JACOBI(Gesvdj, gesvdjInfo, gesvdj)

// Nothing is logged.
WB_EXPORT cusolverStatus_t cusolverDnLoggerSetCallback(cusolverDnLoggerCallback_t) { return CUSOLVER_STATUS_SUCCESS; }
WB_EXPORT cusolverStatus_t cusolverDnLoggerSetFile(FILE*) { return CUSOLVER_STATUS_SUCCESS; }
WB_EXPORT cusolverStatus_t cusolverDnLoggerOpenFile(const char*) { return CUSOLVER_STATUS_SUCCESS; }
WB_EXPORT cusolverStatus_t cusolverDnLoggerSetLevel(int) { return CUSOLVER_STATUS_SUCCESS; }
WB_EXPORT cusolverStatus_t cusolverDnLoggerSetMask(int) { return CUSOLVER_STATUS_SUCCESS; }
WB_EXPORT cusolverStatus_t cusolverDnLoggerForceDisable() { return CUSOLVER_STATUS_SUCCESS; }
