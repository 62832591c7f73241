// cublasXt: what lies in host memory goes to the device before cuBLAS computes, and comes back behind it. Calls return when
// their results are there; how they would be cut into tiles for several GPUs changes nothing here.
#include <cublasXt.h>

#include <new>
#include <tuple>
#include <vector>

#include "cuda_runtime_api.h"

struct cublasXtContext {
  cublasHandle_t cublas;
  int device;
  int tile = 2048;  // as cuBLAS says when nothing was set
  cublasXtPinnedMemMode_t pinning = CUBLASXT_PINNING_DISABLED;
};

namespace {

// The matrices of one call. What is on the host has a copy whose columns stand close.
class Matrices {
 public:
  ~Matrices() {
    for (const Copy& copy : copies_) cudaFree(copy.device);
  }

  struct Placed {
    void* memory;
    long long ld;
  };

  // `rows` and `columns` count before the matrix is transposed for `op`.
  template <class T>
  Placed in(const T* a, cublasOperation_t op, size_t rows, size_t columns, size_t ld) {
    return op == CUBLAS_OP_N ? place(a, sizeof(T), rows, columns, ld, false) : place(a, sizeof(T), columns, rows, ld, false);
  }
  template <class T>
  Placed square(const T* a, cublasSideMode_t side, size_t m, size_t n, size_t ld) {
    const size_t size = side == CUBLAS_SIDE_LEFT ? m : n;
    return place(a, sizeof(T), size, size, ld, false);
  }
  template <class T>
  Placed out(T* c, size_t rows, size_t columns, size_t ld) {
    return place(c, sizeof(T), rows, columns, ld, true);
  }

  cublasStatus_t status() const { return status_; }

  cublasStatus_t take_back() {
    for (const Copy& copy : copies_)
      if (copy.changes &&
          cudaMemcpy2D(copy.host, copy.pitch, copy.device, copy.width, copy.width, copy.columns, cudaMemcpyDeviceToHost) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    return cudaDeviceSynchronize() == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  }

 private:
  struct Copy {
    void *host, *device;
    size_t pitch, width, columns;  // in bytes but for the columns
    bool changes;
  };

  Placed place(const void* given, size_t element, size_t rows, size_t columns, size_t ld, bool changes) {
    void* const host = const_cast<void*>(given);
    // cuBLAS refuses what cannot be a matrix.
    const Placed as_given = {host, static_cast<long long>(ld)};
    if (!given || rows == 0 || columns == 0 || ld < rows) return as_given;
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, given) != cudaSuccess) return fail(CUBLAS_STATUS_MAPPING_ERROR);
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) return as_given;
    Copy copy = {host, nullptr, ld * element, rows * element, columns, changes};
    if (cudaMalloc(&copy.device, copy.width * columns) != cudaSuccess) return fail(CUBLAS_STATUS_ALLOC_FAILED);
    copies_.push_back(copy);
    if (cudaMemcpy2D(copy.device, copy.width, host, copy.pitch, copy.width, columns, cudaMemcpyHostToDevice) != cudaSuccess)
      return fail(CUBLAS_STATUS_MAPPING_ERROR);
    return {copy.device, static_cast<long long>(rows)};
  }

  Placed fail(cublasStatus_t status) {
    status_ = status;
    return {nullptr, 0};
  }

  std::vector<Copy> copies_;
  cublasStatus_t status_ = CUBLAS_STATUS_SUCCESS;
};

// The handle's device for one call.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

// A matrix stands for two of cuBLAS's arguments, of whatever type the function has.
struct Address {
  void* memory;
  template <class T>
  operator T*() const {
    return static_cast<T*>(memory);
  }
};
std::tuple<Address, long long> arguments(const Matrices::Placed& a) { return {Address{a.memory}, a.ld}; }
template <class T>
std::tuple<T> arguments(const T& other) {
  return {other};
}

}  // namespace

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

WB_EXPORT cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  int device = 0;
  cudaGetDevice(&device);
  cublasHandle_t cublas = nullptr;
  if (const cublasStatus_t status = cublasCreate(&cublas)) return status;
  *handle = new (std::nothrow) cublasXtContext{cublas, device};
  return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

WB_EXPORT cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  const cublasStatus_t status = cublasDestroy(handle->cublas);
  delete handle;
  return status;
}

// Every device is a board of its own.
WB_EXPORT cublasStatus_t cublasXtGetNumBoards(int nbDevices, int deviceId[], int* nbBoards) {
  if (nbDevices < 1 || !deviceId || !nbBoards) return CUBLAS_STATUS_INVALID_VALUE;
  *nbBoards = nbDevices;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasXtMaxBoards(int* nbGpuBoards) {
  if (!nbGpuBoards) return CUBLAS_STATUS_INVALID_VALUE;
  return cudaGetDeviceCount(nbGpuBoards) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

// The first device computes.
WB_EXPORT cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int nbDevices, int deviceId[]) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  int count = 0;
  cudaGetDeviceCount(&count);
  if (nbDevices < 1 || !deviceId) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < nbDevices; ++i)
    if (deviceId[i] < 0 || deviceId[i] >= count) return CUBLAS_STATUS_INVALID_VALUE;
  const OnDevice there(deviceId[0]);
  cublasHandle_t cublas = nullptr;
  if (const cublasStatus_t status = cublasCreate(&cublas)) return status;
  cublasDestroy(handle->cublas);
  handle->cublas = cublas;
  handle->device = deviceId[0];
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int blockDim) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (blockDim <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  handle->tile = blockDim;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* blockDim) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!blockDim) return CUBLAS_STATUS_INVALID_VALUE;
  *blockDim = handle->tile;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t* mode) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pinning;
  return CUBLAS_STATUS_SUCCESS;
}

WB_EXPORT cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->pinning = mode;
  return CUBLAS_STATUS_SUCCESS;
}

// The host's BLAS computes anyway.
WB_EXPORT cublasStatus_t cublasXtSetCpuRoutine(cublasXtHandle_t handle, cublasXtBlasOp_t, cublasXtOpType_t, void*) {
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

WB_EXPORT cublasStatus_t cublasXtSetCpuRatio(cublasXtHandle_t handle, cublasXtBlasOp_t, cublasXtOpType_t, float ratio) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  return ratio >= 0 && ratio <= 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

#define WB_XT(name, ...) WB_EXPORT cublasStatus_t cublasXt##name(cublasXtHandle_t handle, __VA_ARGS__)
#define WB_XT_BODY(name, ...)                                                                                          \
  {                                                                                                                    \
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                                                                 \
    const OnDevice there(handle->device);                                                                              \
    Matrices matrices;                                                                                                 \
    [[maybe_unused]] const auto in = [&](auto... of) { return matrices.in(of...); };                                   \
    [[maybe_unused]] const auto square = [&](auto... of) { return matrices.square(of...); };                           \
    const auto out = [&](auto... of) { return matrices.out(of...); };                                                  \
    const auto call = [&](const auto&... of) { return std::tuple_cat(std::tuple(handle->cublas), arguments(of)...); }; \
    const auto all = call(__VA_ARGS__);                                                                                \
    if (matrices.status() != CUBLAS_STATUS_SUCCESS) return matrices.status();                                          \
    const cublasStatus_t status = std::apply([](auto... of) { return cublas##name##_64(of...); }, all);                \
    return status != CUBLAS_STATUS_SUCCESS ? status : matrices.take_back();                                            \
  }
#include "warpbeam/cublas/xt.inc"
