// The functions of cublas.h: those with handles, on a handle of their own.
#include <cublas.h>

#include "libraries/cublas/call.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<cublasStatus_t> last{CUBLAS_STATUS_SUCCESS};

// The status of a failed call stays until it is asked for.
void remember(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) last = status;
}

// Letters that mean nothing become values that the functions refuse.
cublasOperation_t op(char c) {
  switch (c) {
    case 'n':
    case 'N': return CUBLAS_OP_N;
    case 't':
    case 'T': return CUBLAS_OP_T;
    case 'c':
    case 'C': return CUBLAS_OP_C;
  }
  return static_cast<cublasOperation_t>(-1);
}
cublasFillMode_t fill(char c) {
  return c == 'u' || c == 'U' ? CUBLAS_FILL_MODE_UPPER : c == 'l' || c == 'L' ? CUBLAS_FILL_MODE_LOWER : static_cast<cublasFillMode_t>(-1);
}
cublasDiagType_t unit(char c) {
  return c == 'u' || c == 'U' ? CUBLAS_DIAG_UNIT : c == 'n' || c == 'N' ? CUBLAS_DIAG_NON_UNIT : static_cast<cublasDiagType_t>(-1);
}
cublasSideMode_t at(char c) {
  return c == 'l' || c == 'L' ? CUBLAS_SIDE_LEFT : c == 'r' || c == 'R' ? CUBLAS_SIDE_RIGHT : static_cast<cublasSideMode_t>(-1);
}

// A call gives a number in `result`, or nothing.
template <class Result, class Call>
Result run(Call&& call) {
  const cublasHandle_t handle = warpbeam::cublas::legacy_handle();
  if constexpr (std::is_void_v<Result>) {
    int none = 0;
    remember(call(handle, none));
  } else {
    Result result{};
    remember(call(handle, result));
    return result;
  }
}

}  // namespace

WB_EXPORT cublasStatus_t cublasInit(void) {
  return warpbeam::cublas::legacy_handle() ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
WB_EXPORT cublasStatus_t cublasShutdown(void) { return CUBLAS_STATUS_SUCCESS; }
WB_EXPORT cublasStatus_t cublasGetError(void) { return last.exchange(CUBLAS_STATUS_SUCCESS); }
WB_EXPORT cublasStatus_t cublasGetVersion(int* version) { return cublasGetVersion_v2(nullptr, version); }
WB_EXPORT cublasStatus_t cublasAlloc(int n, int size, void** pointer) {
  if (n <= 0 || size <= 0 || !pointer) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaMalloc(pointer, static_cast<size_t>(n) * static_cast<size_t>(size)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                                : CUBLAS_STATUS_ALLOC_FAILED;
}
WB_EXPORT cublasStatus_t cublasFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
WB_EXPORT cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  return cublasSetStream_v2(warpbeam::cublas::legacy_handle(), stream);
}

#define WB_LEGACY(Result, name, parameters, ...)                                                            \
  WB_EXPORT Result cublas##name parameters {                                                                \
    return run<Result>([&](cublasHandle_t handle, auto& result) -> cublasStatus_t { return __VA_ARGS__; }); \
  }
#include "warpbeam/cublas/legacy.inc"
