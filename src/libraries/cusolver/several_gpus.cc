// Matrices whose columns are dealt out to devices in tiles, as cards to players. Each call fetches its part of a matrix, lets
// LAPACK work on it, and puts it back: with one host behind all devices there is nothing to gain from dividing the work.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <new>
#include <vector>

#include "cusolverMg.h"
#include "libraries/numeric/lapack.h"
#include "libraries/numeric/lapack_spectral.h"
#include "libraries/numeric/values.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

struct cusolverMgContext {
  std::vector<int> devices;
};

namespace warpbeam::cusolver {

using namespace warpbeam::numeric;

namespace {

struct Grid {
  std::vector<int> devices;
};
struct Matrix {
  int64_t rows, columns, tile;
  cudaDataType type;
  std::vector<int> devices;
};
struct Refused {
  cusolverStatus_t status;
};
void require(bool holds) {
  if (!holds) throw Refused{CUSOLVER_STATUS_INVALID_VALUE};
}
void support(bool holds) {
  if (!holds) throw Refused{CUSOLVER_STATUS_NOT_SUPPORTED};
}

// A matrix that begins at a row and a column of a dealt one, both counted from 1.
struct Part {
  void** places;
  int row, column;
  cudaLibMgMatrixDesc_t descriptor;
};

// Calls `body(device, at, where, count)` for runs of columns that lie together: `at` in the part, `where` on the device.
template <class Body>
void for_each_run(const Matrix& m, int64_t first, int64_t columns, Body&& body) {
  const auto devices = static_cast<int64_t>(m.devices.size());
  for (int64_t at = 0; at < columns;) {
    const int64_t column = first + at, tile = column / m.tile, inside = column % m.tile;
    const int64_t count = std::min(m.tile - inside, columns - at);
    body(static_cast<size_t>(tile % devices), at, tile / devices * m.tile + inside, count);
    at += count;
  }
}

// Copies between a part and an array of the host's with `rows` numbers in a column.
void copy_part(const Matrix& m, void* const places[], int64_t element, int64_t lead, int64_t row, int64_t column, int64_t rows,
               int64_t columns, void* host, bool store) {
  if (rows == 0 || columns == 0) return;
  for_each_run(m, column, columns, [&](size_t device, int64_t at, int64_t where, int64_t count) {
    char* there = static_cast<char*>(places[device]) + (where * lead + row) * element;
    char* here = static_cast<char*>(host) + at * rows * element;
    const size_t width = rows * element, pitch = lead * element;
    const cudaError_t status = store ? cudaMemcpy2D(there, pitch, here, width, width, count, cudaMemcpyDefault)
                                     : cudaMemcpy2D(here, width, there, pitch, width, count, cudaMemcpyDefault);
    if (status != cudaSuccess) throw Refused{CUSOLVER_STATUS_EXECUTION_FAILED};
  });
}

template <class V>
struct Fetched {
  const Matrix& matrix;
  Part part;
  int64_t rows, columns;
  std::vector<V> values;
  Fetched(const Part& part, cudaDataType type, int64_t rows, int64_t columns)
      : matrix(*static_cast<const Matrix*>(part.descriptor)), part(part), rows(rows), columns(columns) {
    require(part.places && part.row >= 1 && part.column >= 1 && rows >= 0 && columns >= 0 && matrix.type == type);
    require(part.row - 1 + rows <= matrix.rows && part.column - 1 + columns <= matrix.columns);
    values.resize(static_cast<size_t>(std::max<int64_t>(1, rows * columns)));
    copy_part(matrix, part.places, sizeof(V), matrix.rows, part.row - 1, part.column - 1, rows, columns, values.data(), false);
  }
  void put_back() {
    copy_part(matrix, part.places, sizeof(V), matrix.rows, part.row - 1, part.column - 1, rows, columns, values.data(), true);
  }
  V* data() { return values.data(); }
  int lead() const { return static_cast<int>(std::max<int64_t>(1, rows)); }
};

template <class Body>
cusolverStatus_t with_numbers(cudaDataType type, Body&& body) {
  switch (type) {
    case CUDA_R_32F: body(static_cast<float*>(nullptr)); break;
    case CUDA_R_64F: body(static_cast<double*>(nullptr)); break;
    case CUDA_C_32F: body(static_cast<Complex*>(nullptr)); break;
    case CUDA_C_64F: body(static_cast<DoubleComplex*>(nullptr)); break;
    default: return CUSOLVER_STATUS_NOT_SUPPORTED;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

// What earlier calls of the program are still at is waited for, on every device.
void begin(cusolverMgHandle_t handle, cudaLibMgMatrixDesc_t descriptor, const int* info) {
  require(descriptor && info);
  int current = 0;
  cudaGetDevice(&current);
  for (const int device : handle->devices) cudaSetDevice(device), cudaDeviceSynchronize();
  cudaSetDevice(current);
}

cusolverStatus_t work_size(cusolverMgHandle_t, cudaLibMgMatrixDesc_t descriptor, cudaDataType type, int64_t* size) {
  require(descriptor && size && static_cast<const Matrix*>(descriptor)->type == type);
  *size = 1024;
  return CUSOLVER_STATUS_SUCCESS;
}

char lower_only(cublasFillMode_t half) {
  support(half == CUBLAS_FILL_MODE_LOWER);  // as documented
  return 'L';
}

cusolverStatus_t syevd(cusolverMgHandle_t handle, cusolverEigMode_t job, cublasFillMode_t half, int n, const Part& a, void* w,
                       cudaDataType type_w, cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  require(w);
  support(type_w == (type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type));
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, n, n);
    *info = lapack::syevd(job == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N', lower_only(half), n, m.data(), m.lead(), static_cast<Real<V>*>(w));
    m.put_back();
  });
}

// Pivots lie as the columns of the matrix do, one below each.
void copy_pivots(const Part& a, int* places[], int count, int* host, bool store) {
  require(places);
  copy_part(*static_cast<const Matrix*>(a.descriptor), reinterpret_cast<void**>(places), sizeof(int), 1, 0, a.column - 1, 1, count, host,
            store);
}

cusolverStatus_t getrf(cusolverMgHandle_t handle, int rows, int columns, const Part& a, int* pivots[], cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, rows, columns);
    std::vector<int> found(std::max(1, std::min(rows, columns)));
    *info = lapack::getrf(rows, columns, m.data(), m.lead(), found.data());
    copy_pivots(a, pivots, std::min(rows, columns), found.data(), true);
    m.put_back();
  });
}
cusolverStatus_t getrs(cusolverMgHandle_t handle, cublasOperation_t op, int n, int columns, const Part& a, int* pivots[], const Part& b,
                       cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  require(b.descriptor);
  support(op == CUBLAS_OP_N);  // as documented
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, n, n), right(b, type, n, columns);
    std::vector<int> rows(std::max(1, n));
    copy_pivots(a, pivots, n, rows.data(), false);
    for (int i = 0; i < n; ++i)
      if (rows[i] < 1 || rows[i] > n) rows[i] = i + 1;  // what no factorisation gave
    *info = lapack::getrs('N', n, columns, m.data(), m.lead(), rows.data(), right.data(), right.lead());
    right.put_back();
  });
}

cusolverStatus_t potrf(cusolverMgHandle_t handle, cublasFillMode_t half, int n, const Part& a, cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, n, n);
    *info = lapack::potrf(lower_only(half), n, m.data(), m.lead());
    m.put_back();
  });
}
cusolverStatus_t potrs(cusolverMgHandle_t handle, cublasFillMode_t half, int n, int columns, const Part& a, const Part& b,
                       cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  require(b.descriptor);
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, n, n), right(b, type, n, columns);
    *info = lapack::potrs(lower_only(half), n, columns, m.data(), m.lead(), right.data(), right.lead());
    right.put_back();
  });
}
cusolverStatus_t potri(cusolverMgHandle_t handle, cublasFillMode_t half, int n, const Part& a, cudaDataType type, int* info) {
  begin(handle, a.descriptor, info);
  return with_numbers(type, [&]<class V>(V*) {
    Fetched<V> m(a, type, n, n);
    *info = lapack::potri(lower_only(half), n, m.data(), m.lead());
    m.put_back();
  });
}

template <class Body>
cusolverStatus_t guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const std::bad_alloc&) {
    return CUSOLVER_STATUS_ALLOC_FAILED;
  } catch (...) {
    return CUSOLVER_STATUS_INTERNAL_ERROR;
  }
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...)                             \
  WB_EXPORT cusolverStatus_t cusolver##name parameters {               \
    if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;               \
    return guarded([&]() -> cusolverStatus_t { return __VA_ARGS__; }); \
  }
#include "warpbeam/cusolver/several_gpus.inc"

WB_EXPORT cusolverStatus_t cusolverMgCreate(cusolverMgHandle_t* handle) {
  if (!handle) return CUSOLVER_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUSOLVER_STATUS_NOT_INITIALIZED;
  *handle = new cusolverMgContext;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverMgDestroy(cusolverMgHandle_t handle) {
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverMgDeviceSelect(cusolverMgHandle_t handle, int count, int devices[]) {
  int there = 0;
  if (!handle) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (count < 1 || !devices || cudaGetDeviceCount(&there) != cudaSuccess) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int k = 0; k < count; ++k)
    if (devices[k] < 0 || devices[k] >= there) return CUSOLVER_STATUS_INVALID_VALUE;
  handle->devices.assign(devices, devices + count);
  return CUSOLVER_STATUS_SUCCESS;
}

// Rows stay together: only columns are dealt out, as documented.
WB_EXPORT cusolverStatus_t cusolverMgCreateDeviceGrid(cudaLibMgGrid_t* grid, int32_t rows, int32_t columns, const int32_t devices[],
                                                      cusolverMgGridMapping_t) {
  if (!grid || !devices || columns < 1 || rows < 1) return CUSOLVER_STATUS_INVALID_VALUE;
  if (rows != 1) return CUSOLVER_STATUS_NOT_SUPPORTED;
  *grid = new Grid{{devices, devices + columns}};
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverMgDestroyGrid(cudaLibMgGrid_t grid) {
  delete static_cast<Grid*>(grid);
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverMgCreateMatrixDesc(cudaLibMgMatrixDesc_t* descriptor, int64_t rows, int64_t columns, int64_t row_block,
                                                      int64_t column_block, cudaDataType type, const cudaLibMgGrid_t grid) {
  if (!descriptor || !grid || rows < 1 || columns < 1 || column_block < 1) return CUSOLVER_STATUS_INVALID_VALUE;
  if (row_block != rows) return CUSOLVER_STATUS_NOT_SUPPORTED;
  *descriptor = new Matrix{rows, columns, column_block, type, static_cast<const Grid*>(grid)->devices};
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t descriptor) {
  delete static_cast<Matrix*>(descriptor);
  return CUSOLVER_STATUS_SUCCESS;
}
