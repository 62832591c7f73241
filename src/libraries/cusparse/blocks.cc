// Matrices of square blocks with a letter for the type: products, and how they come from rows of entries and become such.
#include <algorithm>
#include <set>

#include "libraries/cusparse/call.h"

namespace warpbeam::cusparse {

namespace {

size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(int); }

template <class T>
using Wide = std::conditional_t<is_complex<Value<T>>, DoubleComplex, double>;

// The matrix as the generic functions know it.
template <class T>
cusparseSpMatDescr blocked(const Call& call, const cusparseMatDescr* d, cusparseDirection_t direction, int rows, int columns, int count,
                           const T* values, const int* offsets, const int* indices, int block) {
  call.require(d && rows >= 0 && columns >= 0 && count >= 0 && block >= 1);
  call.require(direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);
  const auto edge = static_cast<int64_t>(block);
  cusparseSpMatDescr out{CUSPARSE_FORMAT_BSR,
                         rows * edge,
                         columns * edge,
                         count * edge * edge,
                         const_cast<int*>(offsets),
                         const_cast<int*>(indices),
                         const_cast<T*>(values),
                         CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I,
                         d->base,
                         type_of(values)};
  out.block = out.block_width = edge;
  out.block_order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  return out;
}

template <class T>
cusparseStatus_t bsrmv(Call& call, cusparseDirection_t direction, cusparseOperation_t op, int rows, int columns, int count, const T* alpha,
                       cusparseMatDescr_t d, const T* values, const int* offsets, const int* indices, int block, const T* x, const T* beta,
                       T* y) {
  call.support(op == CUSPARSE_OPERATION_NON_TRANSPOSE);  // as documented
  const auto a = blocked(call, d, direction, rows, columns, count, values, offsets, indices, block);
  const cusparseDnVecDescr in{a.columns, const_cast<T*>(x), a.type};
  cusparseDnVecDescr out{a.rows, y, a.type};
  return spmv(call, op, alpha, &a, &in, beta, &out, a.type);
}

template <class T>
cusparseStatus_t bsrmm(Call& call, cusparseDirection_t direction, cusparseOperation_t op_a, cusparseOperation_t op_b, int rows, int n,
                       int columns, int count, const T* alpha, cusparseMatDescr_t d, const T* values, const int* offsets,
                       const int* indices, int block, const T* b, int ldb, const T* beta, T* c, int ldc) {
  call.support(op_a == CUSPARSE_OPERATION_NON_TRANSPOSE && op_b != CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE);  // as documented
  const auto a = blocked(call, d, direction, rows, columns, count, values, offsets, indices, block);
  const bool plain = op_b == CUSPARSE_OPERATION_NON_TRANSPOSE;
  call.require(n >= 0 && ldb >= std::max<int64_t>(1, plain ? a.columns : n) && ldc >= std::max<int64_t>(1, a.rows));
  const cusparseDnMatDescr in{plain ? a.columns : n, plain ? n : a.columns, ldb, const_cast<T*>(b), a.type, CUSPARSE_ORDER_COL};
  cusparseDnMatDescr out{a.rows, n, ldc, c, a.type, CUSPARSE_ORDER_COL};
  return spmm(call, op_a, op_b, alpha, &a, &in, beta, &out, a.type);
}

// --- conversions ----------------------------------------------------------------------------------------------------------

// The blocks that hold entries, by rows of blocks.
std::vector<std::set<int64_t>> blocks_of(Memory& memory, int m, int n, int base, const int* offsets, const int* indices, int block) {
  const int64_t columns = (static_cast<int64_t>(n) + block - 1) / block;
  std::vector<std::set<int64_t>> out((static_cast<size_t>(m) + block - 1) / block);
  memory.reads(offsets, bytes(m + 1));
  const int64_t count = offsets[m] - base;
  memory.reads(indices, bytes(count));
  for (int r = 0; r < m; ++r)
    for (int64_t k = offsets[r] - base; k < offsets[r + 1] - base; ++k)
      out[r / block].insert(checked((indices[checked(k, count)] - base) / block, columns));
  return out;
}

cusparseStatus_t count_blocks(Call& call, int m, int n, cusparseMatDescr_t from, const int* offsets, const int* indices, int block,
                              cusparseMatDescr_t to, int* block_offsets, int* total) {
  call.require(from && to && m >= 0 && n >= 0 && block >= 1 && total);
  return counted(call, bytes(m) * 8, total, [=, base = from->base, first = to->base](Memory& memory) {
    const auto found = blocks_of(memory, m, n, base, offsets, indices, block);
    memory.writes(block_offsets, bytes(static_cast<int64_t>(found.size()) + 1));
    block_offsets[0] = first;
    for (size_t r = 0; r < found.size(); ++r) block_offsets[r + 1] = block_offsets[r] + static_cast<int>(found[r].size());
    return block_offsets[found.size()] - first;
  });
}

template <class T>
cusparseStatus_t csr2bsr(Call& call, cusparseDirection_t direction, int m, int n, cusparseMatDescr_t from, const T* values,
                         const int* offsets, const int* indices, int block, cusparseMatDescr_t to, T* block_values, int* block_offsets,
                         int* block_indices) {
  call.require(from && to && m >= 0 && n >= 0 && block >= 1);
  return call.submit(bytes(m) * 8, [=, base = from->base, first = to->base](Memory& memory) {
    const auto found = blocks_of(memory, m, n, base, offsets, indices, block);
    memory.reads(values, static_cast<size_t>(offsets[m] - base) * sizeof(T));
    memory.reads(block_offsets, bytes(static_cast<int64_t>(found.size()) + 1));
    const int64_t count = block_offsets[found.size()] - first, each = static_cast<int64_t>(block) * block;
    memory.writes(block_indices, bytes(count)), memory.writes(block_values, static_cast<size_t>(count * each) * sizeof(T));
    std::fill_n(block_values, count * each, T{});
    int64_t at = 0;
    for (size_t row = 0; row < found.size(); ++row) {
      const int64_t begin = at;
      for (const int64_t column : found[row]) block_indices[checked(at++, count)] = static_cast<int>(column + first);
      for (int64_t r = static_cast<int64_t>(row) * block; r < std::min<int64_t>(m, (static_cast<int64_t>(row) + 1) * block); ++r)
        for (int64_t k = offsets[r] - base; k < offsets[r + 1] - base; ++k) {
          const int64_t column = indices[k] - base;
          const int64_t which = begin + std::distance(found[row].begin(), found[row].find(column / block));
          const int64_t i = r % block, j = column % block;
          block_values[which * each + (direction == CUSPARSE_DIRECTION_ROW ? i * block + j : j * block + i)] = values[k];
        }
    }
  });
}

// Every entry of a block becomes one of the matrix, zeros too.
template <class T>
cusparseStatus_t bsr2csr(Call& call, cusparseDirection_t direction, int rows, int columns, cusparseMatDescr_t from, const T* values,
                         const int* offsets, const int* indices, int block, cusparseMatDescr_t to, T* out, int* out_offsets,
                         int* out_indices) {
  call.require(to);
  const auto shape = blocked(call, from, direction, rows, columns, 0, values, offsets, indices, block);
  return call.submit(bytes(shape.rows) * 8, [=, first = to->base](Memory& memory) {
    cusparseSpMatDescr a = shape;
    memory.reads(offsets, bytes(rows + 1));
    a.count = static_cast<int64_t>(offsets[rows] - a.base) * block * block;
    const auto entries = rows_of<Wide<T>>(memory, a, CUSPARSE_OPERATION_NON_TRANSPOSE);
    memory.writes(out_offsets, bytes(a.rows + 1)), memory.writes(out_indices, bytes(a.count));
    for (int64_t r = 0; r <= a.rows; ++r) out_offsets[r] = static_cast<int>(entries.first[r] + first);
    for (int64_t k = 0; k < a.count; ++k) out_indices[k] = static_cast<int>(entries.column[k] + first);
    stored(memory, out, a.type, entries.value);
  });
}

}  // namespace
}  // namespace warpbeam::cusparse

using namespace warpbeam::cusparse;

#define WB_CUSPARSE(name, parameters, ...) WB_DEFINE_CUSPARSE(cusparse##name, parameters, __VA_ARGS__)
#include "warpbeam/cusparse/blocks.inc"
