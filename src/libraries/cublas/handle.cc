// Handles and their settings.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/handle_table.h"
#include "libraries/cublas/call.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace warpbeam::cublas {

namespace {

// Never destroyed: programs call until their last moment.
auto& handles() {
  static auto* table = new HandleTable<Handle>;
  return *table;
}

cublasStatus_t status_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CUBLAS_STATUS_ALLOC_FAILED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

std::atomic<cublasLogCallback> log_callback{nullptr};

template <class Body>
cublasStatus_t with_handle(cublasHandle_t handle, Body&& body) {
  return enter("", handle, [&](Call& call) { return body(call, call.handle()); });
}

}  // namespace

cublasStatus_t Call::submit(size_t effort, std::function<void(Memory&)> run) {
  std::string name = name_;
  for (const char* tail : {"_64", "_v2"})
    if (name.ends_with(tail)) name.resize(name.size() - 3);
  return status_of(cuda::enqueue_library_call(handle_.stream, std::move(name), effort, std::move(run)));
}

cublasStatus_t Call::wait() { return status_of(cudaStreamSynchronize(handle_.stream)); }

cublasStatus_t enter(const char* name, cublasHandle_t handle, const std::function<cublasStatus_t(Call&)>& body) noexcept {
  try {
    const std::shared_ptr<Handle> found = handles().find(handle);
    if (!found) return CUBLAS_STATUS_NOT_INITIALIZED;
    std::lock_guard lock(found->mutex);
    if (const auto log = log_callback.load()) log(name);
    Call call(name, *found);
    return body(call);
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  } catch (...) {
    return CUBLAS_STATUS_INTERNAL_ERROR;
  }
}

cublasHandle_t legacy_handle() {
  static std::mutex mutex;
  static cublasHandle_t handle = nullptr;
  std::lock_guard lock(mutex);
  if (!handle || !handles().find(handle)) {
    handle = nullptr;
    cublasCreate_v2(&handle);
  }
  return handle;
}

}  // namespace warpbeam::cublas

using namespace warpbeam::cublas;

WB_EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = nullptr;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto made = std::make_shared<Handle>();
  *handle = reinterpret_cast<cublasHandle_t>(made.get());
  handles().add(std::move(made));
  return CUBLAS_STATUS_SUCCESS;
}

// As documented, it waits for the device.
WB_EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (!handles().remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaDeviceSynchronize();
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (!version) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUBLAS_VER_MAJOR : type == MINOR_VERSION ? CUBLAS_VER_MINOR : CUBLAS_VER_PATCH;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

WB_EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return with_handle(handle, [&](Call&, Handle& h) {
    h.stream = stream;
    return CUBLAS_STATUS_SUCCESS;
  });
}

// The library needs no memory of the device; a workspace is only looked at.
WB_EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t) {
  return with_handle(handle, [&](Call& call, Handle&) {
    call.require(reinterpret_cast<uintptr_t>(workspace) % 256 == 0);
    return CUBLAS_STATUS_SUCCESS;
  });
}

#define WB_SETTING(Type, set, get, field, valid)                    \
  WB_EXPORT cublasStatus_t set(cublasHandle_t handle, Type value) { \
    return with_handle(handle, [&](Call& call, Handle& h) {         \
      call.require(valid);                                          \
      h.field = value;                                              \
      return CUBLAS_STATUS_SUCCESS;                                 \
    });                                                             \
  }                                                                 \
  WB_GETTER(Type, get, field)
#define WB_GETTER(Type, get, field)                                  \
  WB_EXPORT cublasStatus_t get(cublasHandle_t handle, Type* value) { \
    return with_handle(handle, [&](Call& call, Handle& h) {          \
      call.require(value);                                           \
      *value = h.field;                                              \
      return CUBLAS_STATUS_SUCCESS;                                  \
    });                                                              \
  }
WB_GETTER(cudaStream_t, cublasGetStream_v2, stream)
WB_SETTING(cublasPointerMode_t, cublasSetPointerMode_v2, cublasGetPointerMode_v2, pointer_mode,
           value == CUBLAS_POINTER_MODE_HOST || value == CUBLAS_POINTER_MODE_DEVICE)
WB_SETTING(cublasAtomicsMode_t, cublasSetAtomicsMode, cublasGetAtomicsMode, atomics_mode,
           value == CUBLAS_ATOMICS_ALLOWED || value == CUBLAS_ATOMICS_NOT_ALLOWED)
WB_SETTING(cublasMath_t, cublasSetMathMode, cublasGetMathMode, math_mode,
           (value & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) <= CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH)
WB_SETTING(int, cublasSetSmCountTarget, cublasGetSmCountTarget, sm_count_target, value >= 0)
WB_SETTING(cublasEmulationStrategy_t, cublasSetEmulationStrategy, cublasGetEmulationStrategy, emulation_strategy,
           value >= CUBLAS_EMULATION_STRATEGY_DEFAULT && value <= CUBLAS_EMULATION_STRATEGY_EAGER)
WB_SETTING(cudaEmulationSpecialValuesSupport, cublasSetEmulationSpecialValuesSupport, cublasGetEmulationSpecialValuesSupport,
           special_values, value >= 0 && value <= CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT)
WB_SETTING(cudaEmulationMantissaControl, cublasSetFixedPointEmulationMantissaControl, cublasGetFixedPointEmulationMantissaControl,
           mantissa_control, value == CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC || value == CUDA_EMULATION_MANTISSA_CONTROL_FIXED)
WB_SETTING(int, cublasSetFixedPointEmulationMaxMantissaBitCount, cublasGetFixedPointEmulationMaxMantissaBitCount, most_mantissa_bits,
           value >= 0)
WB_SETTING(int, cublasSetFixedPointEmulationMantissaBitOffset, cublasGetFixedPointEmulationMantissaBitOffset, mantissa_bit_offset, true)
// A product that is made of doubles says so there: -1.
WB_EXPORT cublasStatus_t cublasSetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle, int* bits) {
  return with_handle(handle, [&](Call& call, Handle& h) {
    h.mantissa_bits = bits;
    if (!bits) return CUBLAS_STATUS_SUCCESS;
    return call.submit(1, [bits](Memory& memory) {
      memory.writes(bits, sizeof *bits);
      *bits = -1;
    });
  });
}
WB_GETTER(int*, cublasGetFixedPointEmulationMantissaBitCountPointer, mantissa_bits)

#define WB_STATUSES(X)                                                                                          \
  X(SUCCESS, "success")                                                                                         \
  X(NOT_INITIALIZED, "the library was not initialized")                                                         \
  X(ALLOC_FAILED, "the resource allocation failed")                                                             \
  X(INVALID_VALUE, "an unsupported value or parameter was passed to the function")                              \
  X(ARCH_MISMATCH, "the function requires an architectural feature absent from the architecture of the device") \
  X(MAPPING_ERROR, "an access to GPU memory space failed")                                                      \
  X(EXECUTION_FAILED, "the function failed to launch on the GPU")                                               \
  X(INTERNAL_ERROR, "an internal operation failed")                                                             \
  X(NOT_SUPPORTED, "the functionality is not supported")                                                        \
  X(LICENSE_ERROR, "the functionality requires a license which is not present")

WB_EXPORT const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define WB_STATUS(name, text) \
  case CUBLAS_STATUS_##name: return "CUBLAS_STATUS_" #name;
    WB_STATUSES(WB_STATUS)
#undef WB_STATUS
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

WB_EXPORT const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
#define WB_STATUS(name, text) \
  case CUBLAS_STATUS_##name: return text;
    WB_STATUSES(WB_STATUS)
#undef WB_STATUS
  }
  return "the status is unknown";
}

// Callbacks learn the name of each function that is called; there is no log of our own to write.
WB_EXPORT cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
WB_EXPORT cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback) {
  log_callback = callback;
  return CUBLAS_STATUS_SUCCESS;
}
WB_EXPORT cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (!callback) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = log_callback;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT void cublasXerbla(const char* function, int info) {
  std::fprintf(stderr, "On entry to %s parameter number %d had an illegal value\n", function, info);
}
