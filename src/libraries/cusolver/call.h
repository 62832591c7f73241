// What the functions of cuSOLVER share: handles, checks, and the way of their work into a stream.
#pragma once
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda/library_calls.h"
#include "cusolverDn.h"
#include "libraries/cublas/call.h"
#include "libraries/numeric/lapack.h"
#include "libraries/numeric/lapack_general.h"
#include "libraries/numeric/lapack_spectral.h"
#include "libraries/numeric/values.h"

namespace warpbeam::cusolver {

using namespace warpbeam::numeric;
using cublas::read_matrix;
using cublas::touch_triangle;
using cublas::write_matrix;
using Memory = cuda::LibraryMemory;

// One kind of handle for the dense and the sparse part.
struct Handle {
  std::mutex mutex;
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t mode = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
  cudaEmulationStrategy_t strategy = CUDA_EMULATION_STRATEGY_DEFAULT;
};

Handle* make_handle();
bool destroy_handle(const void* handle);

struct Refused {
  cusolverStatus_t status;
};

class Call {
 public:
  Call(const char* name, Handle& handle) : name_(name), handle_(handle) {}
  void require(bool holds) const {
    if (!holds) throw Refused{CUSOLVER_STATUS_INVALID_VALUE};
  }
  void support(bool holds) const {
    if (!holds) throw Refused{CUSOLVER_STATUS_NOT_SUPPORTED};
  }
  // Sizes of a matrix with its leading dimension. The host's LAPACK counts in int.
  void require_matrix(int64_t rows, int64_t columns, int64_t lead) const {
    require(rows >= 0 && columns >= 0 && lead >= std::max<int64_t>(1, rows));
    support(lead <= std::numeric_limits<int>::max() && columns <= std::numeric_limits<int>::max());
  }
  cusolverStatus_t submit(size_t effort, std::function<void(Memory&)> run);
  cusolverStatus_t wait();
  Handle& handle() { return handle_; }

 private:
  const char* name_;
  Handle& handle_;
};

cusolverStatus_t enter(const char* name, const void* handle, const std::function<cusolverStatus_t(Call&)>& body) noexcept;

template <class T>
cusolverStatus_t give(Call& call, const T& setting, T* out) {
  call.require(out);
  *out = setting;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t set_stream(Call& call, cudaStream_t stream) {
  call.handle().stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t get_stream(Call& call, cudaStream_t* stream) { return give(call, call.handle().stream, stream); }

#define WB_DEFINE_CUSOLVER(full_name, parameters, ...)                                                                                     \
  extern "C" __attribute__((visibility("default"))) cusolverStatus_t full_name parameters {                                                \
    return warpbeam::cusolver::enter(#full_name, handle, [&](warpbeam::cusolver::Call& call) -> cusolverStatus_t { return __VA_ARGS__; }); \
  }

// --- what the calls are about --------------------------------------------------------------------------------------------

inline size_t cube(int64_t n) { return static_cast<size_t>(n) * static_cast<size_t>(n) * static_cast<size_t>(n); }

template <class V>
void read_and_write(Memory& memory, V* a, int64_t rows, int64_t columns, int64_t lead) {
  read_matrix(memory, a, rows, columns, lead, sizeof(V));
  write_matrix(memory, a, rows, columns, lead, sizeof(V));
}
template <class V>
void read_and_write_triangle(Memory& memory, V* a, int64_t n, int64_t lead, char uplo) {
  touch_triangle(memory, a, n, lead, sizeof(V), uplo == 'U', false);
  touch_triangle(memory, a, n, lead, sizeof(V), uplo == 'U', true);
}
template <class V>
std::vector<V> dense_copy(const V* a, int64_t rows, int64_t columns, int64_t lead) {
  std::vector<V> out(static_cast<size_t>(rows * columns));
  for (int64_t j = 0; j < columns; ++j) std::copy_n(a + j * lead, rows, out.data() + j * rows);
  return out;
}

inline void set_info(Memory& memory, int* where, int info) {
  if (!where) return;
  memory.writes(where, sizeof(int));
  *where = info;
}

inline char letter(const Call& call, cublasFillMode_t uplo) {
  call.require(uplo == CUBLAS_FILL_MODE_LOWER || uplo == CUBLAS_FILL_MODE_UPPER);
  return uplo == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L';
}
inline char letter(const Call& call, cublasSideMode_t side) {
  call.require(side == CUBLAS_SIDE_LEFT || side == CUBLAS_SIDE_RIGHT);
  return side == CUBLAS_SIDE_LEFT ? 'L' : 'R';
}
inline char letter(const Call& call, cublasOperation_t op) {
  call.require(op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C);
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
}
inline char letter(const Call& call, cusolverEigMode_t mode) {
  call.require(mode == CUSOLVER_EIG_MODE_VECTOR || mode == CUSOLVER_EIG_MODE_NOVECTOR);
  return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N';
}
// LAPACK's functions for orthogonal factors of real numbers know no conjugate, those for complex ones no plain transpose.
template <class V>
char factor_letter(const Call& call, cublasOperation_t op) {
  const char wanted = letter(call, op);
  call.require(wanted != 'T' || !is_complex<V>);
  return wanted == 'C' && !is_complex<V> ? 'T' : wanted;
}

// The host needs no memory of the program's; asked for, it is as large as a reasonable program expects.
inline cusolverStatus_t buffer_size(Call& call, int64_t rows, int64_t columns, int64_t lead, int* size) {
  call.require(size);
  call.require_matrix(rows, columns, std::max<int64_t>(lead, rows < 1 ? 1 : lead));
  *size = static_cast<int>(std::min<int64_t>(32 * std::max<int64_t>({1, rows, columns}), 1 << 24));
  return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t buffer_bytes(Call& call, int64_t rows, int64_t columns, int64_t lead, size_t* size) {
  int elements = 0;
  call.require(size);
  const cusolverStatus_t status = buffer_size(call, rows, columns, lead, &elements);
  *size = static_cast<size_t>(elements) * sizeof(double);
  return status;
}

}  // namespace warpbeam::cusolver
