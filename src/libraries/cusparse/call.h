// What the functions of cuSPARSE share: handles, descriptors, checks, and sparse matrices as the host goes through them.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "cuda/library_calls.h"
#include "cusparse.h"
#include "libraries/numeric/values.h"

struct cusparseContext {
  std::mutex mutex;
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
};
struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
struct cusparseSpVecDescr {
  int64_t size, count;
  void *indices, *values;
  cusparseIndexType_t index;
  cusparseIndexBase_t base;
  cudaDataType type;
};
struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  cudaDataType type;
};
struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, count;
  void *offsets, *indices, *values;  // COO: rows, columns, values; blocked: none, columns of blocks, values; sliced: of slices, …
  cusparseIndexType_t offset_type, index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  int64_t block = 0, block_columns = 0;  // blocked: edge of a block, columns of all blocks of a row; sliced: rows of a slice
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diag = CUSPARSE_DIAG_TYPE_NON_UNIT;
  int batch = 1;
  int64_t offset_stride = 0, stride = 0;  // from one matrix of a batch to the next, in elements
  int64_t block_width = 0, index_stride = 0;  // BSR: `block` is the height of a block, `block_width` its width
  cusparseOrder_t block_order = CUSPARSE_ORDER_ROW;
  int64_t padding = 0;  // sliced: how many of `count` fill rows up
};
struct cusparseDnMatDescr {
  int64_t rows, columns, lead;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batch = 1;
  int64_t stride = 0;
  int64_t place(int64_t i, int64_t j) const { return order == CUSPARSE_ORDER_COL ? j * lead + i : i * lead + j; }
};

namespace warpbeam::cusparse {

using namespace warpbeam::numeric;
using Memory = cuda::LibraryMemory;

struct Refused {
  cusparseStatus_t status;
};

class Call {
 public:
  Call(const char* name, cusparseContext& handle) : name_(name), handle_(handle) {}
  void require(bool holds) const {
    if (!holds) throw Refused{CUSPARSE_STATUS_INVALID_VALUE};
  }
  void support(bool holds) const {
    if (!holds) throw Refused{CUSPARSE_STATUS_NOT_SUPPORTED};
  }
  bool scalars_on_device() const { return handle_.mode == CUSPARSE_POINTER_MODE_DEVICE; }
  LateScalar scalar(const void* at, cudaDataType type) const {
    require(at);
    if (scalars_on_device()) return {{}, at, type};
    return {load(at, type, 0), nullptr, type};
  }
  cusparseStatus_t submit(size_t effort, std::function<void(Memory&)> run);
  cusparseStatus_t wait();
  bool captured() const;  // what is submitted becomes part of a graph

 private:
  const char* name_;
  cusparseContext& handle_;
};

cusparseStatus_t enter(const char* name, cusparseHandle_t handle, const std::function<cusparseStatus_t(Call&)>& body) noexcept;

#define WB_DEFINE_CUSPARSE(full_name, parameters, ...)                                                                                     \
  extern "C" __attribute__((visibility("default"))) cusparseStatus_t full_name parameters {                                                \
    return warpbeam::cusparse::enter(#full_name, handle, [&](warpbeam::cusparse::Call& call) -> cusparseStatus_t { return __VA_ARGS__; }); \
  }

// Buffers of the program's are not needed; asked for, they have a few bytes, so that nobody trips over none.
template <class... Sizes>
cusparseStatus_t no_buffer(Call& call, Sizes*... sizes) {
  (call.require(sizes), ...);
  ((*sizes = 16), ...);
  return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t nothing(Call& call, std::initializer_list<const void*> needed) {
  for (const void* p : needed) call.require(p);
  return CUSPARSE_STATUS_SUCCESS;
}

// f(memory) gives a number, which goes to device memory in the stream's order, or to the host before the call returns.
template <class F>
cusparseStatus_t counted(Call& call, int64_t work, int* total, F f) {
  const bool on_device = call.scalars_on_device();
  auto kept = std::make_shared<int>(0);
  const cusparseStatus_t queued = call.submit(work, [=](Memory& memory) {
    *kept = f(memory);
    if (on_device) memory.writes(total, sizeof(int)), *total = *kept;
  });
  if (queued != CUSPARSE_STATUS_SUCCESS || on_device) return queued;
  const cusparseStatus_t waited = call.wait();
  if (waited == CUSPARSE_STATUS_SUCCESS) *total = *kept;
  return waited;
}

// --- numbers -----------------------------------------------------------------------------------------------------------

inline size_t index_bytes(cusparseIndexType_t type) { return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_16U ? 2 : 4; }

inline int64_t index_at(const void* p, cusparseIndexType_t type, int64_t i) {
  switch (type) {
    case CUSPARSE_INDEX_64I: return static_cast<const int64_t*>(p)[i];
    case CUSPARSE_INDEX_16U: return static_cast<const uint16_t*>(p)[i];
    default: return static_cast<const int32_t*>(p)[i];
  }
}
inline void set_index(void* p, cusparseIndexType_t type, int64_t i, int64_t value) {
  switch (type) {
    case CUSPARSE_INDEX_64I: static_cast<int64_t*>(p)[i] = value; break;
    case CUSPARSE_INDEX_16U: static_cast<uint16_t*>(p)[i] = static_cast<uint16_t>(value); break;
    default: static_cast<int32_t*>(p)[i] = static_cast<int32_t>(value);
  }
}

inline int64_t checked(int64_t index, int64_t size) {
  if (index < 0 || index >= size) throw std::out_of_range("an index of a sparse matrix or vector is outside of it");
  return index;
}

// The numbers in which a call computes: complex ones only where its type says so. Integers are exact in double.
template <class Body>
auto with_numbers(cudaDataType type, Body&& body) {
  return type == CUDA_C_32F || type == CUDA_C_64F ? body(DoubleComplex{}) : body(double{});
}

// All numbers of an array as W.
template <class W>
std::vector<W> loaded(Memory& memory, const void* p, cudaDataType type, int64_t count) {
  std::vector<W> out(static_cast<size_t>(count));
  memory.reads(p, static_cast<size_t>(count) * bytes_of(type));
  with_type<int>(type, 0, [&]<class T>(T*) {
    for (int64_t i = 0; i < count; ++i) out[i] = convert<W>(static_cast<const T*>(p)[i]);
    return 0;
  });
  return out;
}
template <class W>
void stored(Memory& memory, void* p, cudaDataType type, const std::vector<W>& from) {
  memory.writes(p, from.size() * bytes_of(type));
  with_type<int>(type, 0, [&]<class T>(T*) {
    for (size_t i = 0; i < from.size(); ++i) static_cast<T*>(p)[i] = convert<T>(from[i]);
    return 0;
  });
}
// Indices that count from 0, each below `size`.
inline std::vector<int64_t> loaded_indices(Memory& memory, const void* p, cusparseIndexType_t type, int64_t count, int64_t base,
                                           int64_t size) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  memory.reads(p, static_cast<size_t>(count) * index_bytes(type));
  for (int64_t i = 0; i < count; ++i) out[i] = checked(index_at(p, type, i) - base, size);
  return out;
}

// --- operations ---------------------------------------------------------------------------------------------------------------

inline constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;

inline void check(const Call& call, cusparseOperation_t op) {
  call.require(op >= CUSPARSE_OPERATION_NON_TRANSPOSE && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);
}
inline void check_compute(const Call& call, cudaDataType type) {
  call.support(type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F || type == CUDA_R_32I);
}
inline size_t effort(int64_t count) { return static_cast<size_t>(count) * 16; }

// --- matrices ----------------------------------------------------------------------------------------------------------------

// Where the stored entries of a matrix are, whatever its format; `at` is the place of each among the values.
struct Pattern {
  std::vector<int64_t> row, column, at;
};
Pattern pattern_of(Memory& memory, const cusparseSpMatDescr& a);

// One matrix of a batch; of a single matrix always the same.
inline cusparseSpMatDescr matrix_of(cusparseSpMatDescr a, int batch) {
  const auto move = [&](void*& p, int64_t stride, size_t element) {
    if (p && a.batch > 1) p = static_cast<char*>(p) + batch * stride * static_cast<int64_t>(element);
  };
  move(a.offsets, a.offset_stride, index_bytes(a.offset_type));
  move(a.indices, a.format == CUSPARSE_FORMAT_BSR ? a.index_stride : a.stride, index_bytes(a.index_type));
  move(a.values, a.stride, bytes_of(a.type));
  return a;
}

// op(A) by rows: the entries of row r are those from first[r] to first[r + 1].
template <class W>
struct Rows {
  std::vector<int64_t> first, column;
  std::vector<W> value;
};

template <class W>
Rows<W> rows_of(Memory& memory, const cusparseSpMatDescr& a, cusparseOperation_t op) {
  Pattern p = pattern_of(memory, a);
  const auto values = loaded<W>(memory, a.values, a.type, a.count);
  int64_t rows = a.rows;
  if (op != CUSPARSE_OPERATION_NON_TRANSPOSE) std::swap(p.row, p.column), rows = a.columns;
  Rows<W> out;
  out.first.resize(static_cast<size_t>(rows) + 1);
  for (int64_t r : p.row) ++out.first[r + 1];
  for (int64_t r = 0; r < rows; ++r) out.first[r + 1] += out.first[r];
  out.column.resize(p.row.size());
  out.value.resize(p.row.size());
  std::vector<int64_t> next(out.first.begin(), out.first.end() - 1);
  for (size_t k = 0; k < p.row.size(); ++k) {
    const int64_t place = next[p.row[k]]++;
    out.column[place] = p.column[k];
    out.value[place] = conjugate_if(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, values[p.at[k]]);
  }
  return out;
}

// A dense matrix by columns; `batch` counts from 0.
template <class W>
std::vector<W> dense_of(Memory& memory, const cusparseDnMatDescr& m, int64_t batch = 0) {
  std::vector<W> out(static_cast<size_t>(m.rows) * static_cast<size_t>(m.columns));
  const size_t element = bytes_of(m.type);
  const char* base = static_cast<const char*>(m.values) + batch * m.stride * static_cast<int64_t>(element);
  const bool by_columns = m.order == CUSPARSE_ORDER_COL;
  memory.reads(base, static_cast<size_t>(by_columns ? m.rows : m.columns) * element, static_cast<size_t>(by_columns ? m.columns : m.rows),
               static_cast<size_t>(m.lead) * element);
  with_type<int>(m.type, 0, [&]<class T>(T*) {
    for (int64_t j = 0; j < m.columns; ++j)
      for (int64_t i = 0; i < m.rows; ++i) out[j * m.rows + i] = convert<W>(reinterpret_cast<const T*>(base)[m.place(i, j)]);
    return 0;
  });
  return out;
}
template <class W>
void set_dense(Memory& memory, const cusparseDnMatDescr& m, const std::vector<W>& from, int64_t batch = 0) {
  const size_t element = bytes_of(m.type);
  char* base = static_cast<char*>(m.values) + batch * m.stride * static_cast<int64_t>(element);
  const bool by_columns = m.order == CUSPARSE_ORDER_COL;
  memory.writes(base, static_cast<size_t>(by_columns ? m.rows : m.columns) * element, static_cast<size_t>(by_columns ? m.columns : m.rows),
                static_cast<size_t>(m.lead) * element);
  with_type<int>(m.type, 0, [&]<class T>(T*) {
    for (int64_t j = 0; j < m.columns; ++j)
      for (int64_t i = 0; i < m.rows; ++i) reinterpret_cast<T*>(base)[m.place(i, j)] = convert<T>(from[j * m.rows + i]);
    return 0;
  });
}

template <class T>
constexpr cudaDataType type_of(const T*) {
  if constexpr (std::is_same_v<T, float>) return CUDA_R_32F;
  else if constexpr (std::is_same_v<T, double>) return CUDA_R_64F;
  else if constexpr (std::is_same_v<T, cuComplex>) return CUDA_C_32F;
  else return CUDA_C_64F;
}

// The generic functions that typed ones lead to.
cusparseStatus_t spmv(Call&, cusparseOperation_t op, const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                      const void* beta, cusparseDnVecDescr_t y, cudaDataType compute);
cusparseStatus_t spmm(Call&, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                      cusparseConstDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c, cudaDataType compute);

}  // namespace warpbeam::cusparse
