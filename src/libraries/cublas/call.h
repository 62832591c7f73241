// What every function of cuBLAS does: finds its handle, checks its arguments, and puts its work on the handle's stream.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cublas_api.h"
#include "cuda/library_calls.h"
#include "libraries/numeric/values.h"

namespace warpbeam::cublas {

using namespace warpbeam::numeric;
using Memory = cuda::LibraryMemory;

struct Handle {
  std::mutex mutex;
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics_mode = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
  // How products of doubles might be made from narrower ones, which here they never are: kept for who asks.
  cublasEmulationStrategy_t emulation_strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl mantissa_control = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int most_mantissa_bits = 0, mantissa_bit_offset = 0;
  int* mantissa_bits = nullptr;  // of the device: where products would say how many they kept
};

// The handle of the functions in cublas.h, made at the first use.
cublasHandle_t legacy_handle();

// Ends a call with that status.
struct Refused {
  cublasStatus_t status;
};

// A scalar argument: its value, or where on the device it will be when the call's turn comes.
template <class T>
struct Scalar {
  T value{};
  const T* device = nullptr;
  T get(Memory& memory) const {
    if (!device) return value;
    memory.reads(device, sizeof(T));
    return *device;
  }
};

class Call {
 public:
  Call(const char* name, Handle& handle) : name_(name), handle_(handle) {}

  void require(bool holds) const {
    if (!holds) throw Refused{CUBLAS_STATUS_INVALID_VALUE};
  }
  void support(bool holds) const {
    if (!holds) throw Refused{CUBLAS_STATUS_NOT_SUPPORTED};
  }

  bool scalars_on_device() const { return handle_.pointer_mode == CUBLAS_POINTER_MODE_DEVICE; }
  template <class T>
  Scalar<Value<T>> scalar(const T* p) const {
    require(p);
    if (scalars_on_device()) return {{}, values(p)};
    return {*values(p), nullptr};
  }

  // Queues `run`, which gets the device's memory.
  cublasStatus_t submit(size_t effort, std::function<void(Memory&)> run);
  // The same for a call that gives a number: to the device, or to the host, which waits for it.
  template <class R>
  cublasStatus_t submit_result(size_t effort, R* result, std::function<R(Memory&)> run) {
    require(result);
    if (scalars_on_device())
      return submit(effort, [=, run = std::move(run)](Memory& memory) {
        const R value = run(memory);
        memory.writes(result, sizeof(R));
        *result = value;
      });
    auto kept = std::make_shared<R>();
    const cublasStatus_t status = submit(effort, [=, run = std::move(run)](Memory& memory) { *kept = run(memory); });
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    if (const cublasStatus_t waited = wait(); waited != CUBLAS_STATUS_SUCCESS) return waited;
    *result = *kept;
    return CUBLAS_STATUS_SUCCESS;
  }
  cublasStatus_t wait();
  Handle& handle() { return handle_; }

 private:
  const char* name_;
  Handle& handle_;
};

// Runs the body of a function. Nothing is thrown out of it.
cublasStatus_t enter(const char* name, cublasHandle_t handle, const std::function<cublasStatus_t(Call&)>& body) noexcept;

// What the tables' rows become in the files that define them.
#define WB_DEFINE_CUBLAS(full_name, parameters, ...)                                                                                 \
  extern "C" __attribute__((visibility("default"))) cublasStatus_t full_name parameters {                                            \
    return warpbeam::cublas::enter(#full_name, handle, [&](warpbeam::cublas::Call& call) -> cublasStatus_t { return __VA_ARGS__; }); \
  }

// --- memory ----------------------------------------------------------------------------------------------------------

// n elements, `step` apart; a negative step begins at the far end, as in BLAS.
template <class T>
struct Vector {
  T* base = nullptr;
  int64_t n = 0, step = 1;
  T& operator[](int64_t i) const { return base[step < 0 ? (i - n + 1) * step : i * step]; }
  size_t pitch() const { return static_cast<size_t>(step < 0 ? -step : step) * sizeof(T); }
  void reads(Memory& memory) const {
    if (n <= 0) return;
    if (step == 1 || step == -1) memory.reads(base, static_cast<size_t>(n) * sizeof(T));
    else memory.reads(base, sizeof(T), static_cast<size_t>(n), pitch());
  }
  void writes(Memory& memory) const {
    if (n <= 0) return;
    if (step == 1 || step == -1) memory.writes(base, static_cast<size_t>(n) * sizeof(T));
    else memory.writes(base, sizeof(T), static_cast<size_t>(n), pitch());
  }
};

template <class T>
auto vector(T* base, int64_t n, int64_t step) {
  return Vector<std::remove_pointer_t<decltype(values(base))>>{values(base), n, step};
}

inline void read_matrix(Memory& memory, const void* a, int64_t rows, int64_t columns, int64_t lead, size_t element) {
  const size_t column = static_cast<size_t>(rows) * element;
  if (rows == lead) memory.reads(a, column * static_cast<size_t>(columns));
  else memory.reads(a, column, static_cast<size_t>(columns), static_cast<size_t>(lead) * element);
}
inline void write_matrix(Memory& memory, void* a, int64_t rows, int64_t columns, int64_t lead, size_t element) {
  const size_t column = static_cast<size_t>(rows) * element;
  if (rows == lead) memory.writes(a, column * static_cast<size_t>(columns));
  else memory.writes(a, column, static_cast<size_t>(columns), static_cast<size_t>(lead) * element);
}
// One triangle of a square matrix, with its diagonal.
inline void touch_triangle(Memory& memory, const void* a, int64_t n, int64_t lead, size_t element, bool upper, bool writes) {
  for (int64_t j = 0; j < n; ++j) {
    const int64_t low = upper ? 0 : j, high = upper ? j : n - 1;
    const void* at = static_cast<const char*>(a) + static_cast<size_t>(j * lead + low) * element;
    const size_t bytes = static_cast<size_t>(high - low + 1) * element;
    if (writes) memory.writes(at, bytes);
    else memory.reads(at, bytes);
  }
}

// --- arguments -------------------------------------------------------------------------------------------------------

inline void check(const Call& call, cublasOperation_t op) {
  call.support(op != CUBLAS_OP_CONJG);
  call.require(op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C);
}
inline void check(const Call& call, cublasFillMode_t uplo) {
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
}
inline void check(const Call& call, cublasSideMode_t side) { call.require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT); }
inline void check(const Call& call, cublasDiagType_t diag) { call.require(diag == CUBLAS_DIAG_UNIT || diag == CUBLAS_DIAG_NON_UNIT); }
inline void check_lead(const Call& call, int64_t lead, int64_t rows) { call.require(lead >= (rows > 1 ? rows : 1)); }

}  // namespace warpbeam::cublas
