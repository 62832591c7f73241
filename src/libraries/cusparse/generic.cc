// The operations on descriptors. Descriptors are copied when a call is queued: the program may change or destroy its own.
#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "libraries/cusparse/products.h"

// What a solver keeps of the matrix that it has analysed: only the values may change until it solves.
struct cusparseSpSVDescr {
  void* values = nullptr;
};
struct cusparseSpSMDescr {
  void* values = nullptr;
};
namespace warpbeam::cusparse {

namespace {

int64_t rows_after(cusparseOperation_t op, int64_t rows, int64_t columns) { return op == kPlain ? rows : columns; }

std::vector<int64_t> places(Memory& memory, const cusparseSpVecDescr& x) {
  return loaded_indices(memory, x.indices, x.index, x.count, x.base, x.size);
}

template <class W>
std::vector<W> transposed_if(bool wanted, bool conjugate, std::vector<W> m, int64_t rows, int64_t columns) {
  if (!wanted) return m;
  std::vector<W> out(m.size());
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i) out[i * columns + j] = conjugate_if(conjugate, m[j * rows + i]);
  return out;
}

}  // namespace

Pattern pattern_of(Memory& memory, const cusparseSpMatDescr& a) {
  Pattern p;
  if (a.format == CUSPARSE_FORMAT_COO) {
    p.row = loaded_indices(memory, a.offsets, a.offset_type, a.count, a.base, a.rows);
    p.column = loaded_indices(memory, a.indices, a.index_type, a.count, a.base, a.columns);
    p.at.resize(p.row.size());
    std::iota(p.at.begin(), p.at.end(), 0);
    return p;
  }
  if (a.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
    const int64_t across = a.block_columns / a.block, block_rows = a.rows / a.block;
    memory.reads(a.indices, static_cast<size_t>(across * block_rows) * index_bytes(a.index_type));
    for (int64_t r = 0; r < a.rows; ++r)
      for (int64_t k = 0; k < a.block_columns; ++k) {
        const int64_t block = index_at(a.indices, a.index_type, r / a.block * across + k / a.block) - a.base;
        if (block < 0) continue;  // there is none
        p.row.push_back(r);
        p.column.push_back(checked(block * a.block + k % a.block, a.columns));
        p.at.push_back(r * a.block_columns + k);
      }
    return p;
  }
  if (a.format == CUSPARSE_FORMAT_SLICED_ELLPACK) {
    const int64_t slices = (a.rows + a.block - 1) / a.block;
    memory.reads(a.offsets, static_cast<size_t>(slices + 1) * index_bytes(a.offset_type));
    memory.reads(a.indices, static_cast<size_t>(a.count) * index_bytes(a.index_type));
    for (int64_t slice = 0; slice < slices; ++slice) {
      const int64_t from = index_at(a.offsets, a.offset_type, slice) - a.base, to = index_at(a.offsets, a.offset_type, slice + 1) - a.base;
      for (int64_t k = from; k < to; ++k) {
        const int64_t column = index_at(a.indices, a.index_type, checked(k, a.count)) - a.base;
        if (column < 0) continue;  // padding
        p.row.push_back(checked(slice * a.block + (k - from) % a.block, a.rows));
        p.column.push_back(checked(column, a.columns));
        p.at.push_back(k);
      }
    }
    return p;
  }
  if (a.format == CUSPARSE_FORMAT_BSR) {
    const int64_t lines = a.rows / a.block, each = a.block * a.block_width, blocks = a.count / each;
    memory.reads(a.offsets, static_cast<size_t>(lines + 1) * index_bytes(a.offset_type));
    const auto columns = loaded_indices(memory, a.indices, a.index_type, blocks, a.base, a.columns / a.block_width);
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t k = index_at(a.offsets, a.offset_type, line) - a.base; k < index_at(a.offsets, a.offset_type, line + 1) - a.base; ++k)
        for (int64_t e = 0; e < each; ++e) {
          const bool by_rows = a.block_order == CUSPARSE_ORDER_ROW;
          p.row.push_back(line * a.block + (by_rows ? e / a.block_width : e % a.block));
          p.column.push_back(columns[checked(k, blocks)] * a.block_width + (by_rows ? e % a.block_width : e / a.block));
          p.at.push_back(k * each + e);
        }
    return p;
  }
  const bool by_rows = a.format == CUSPARSE_FORMAT_CSR;
  const int64_t lines = by_rows ? a.rows : a.columns, across = by_rows ? a.columns : a.rows;
  memory.reads(a.offsets, static_cast<size_t>(lines + 1) * index_bytes(a.offset_type));
  std::vector<int64_t> other = loaded_indices(memory, a.indices, a.index_type, a.count, a.base, across), mine(other.size());
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t from = index_at(a.offsets, a.offset_type, line) - a.base, to = index_at(a.offsets, a.offset_type, line + 1) - a.base;
    for (int64_t k = from; k < to; ++k) mine[checked(k, a.count)] = line;
  }
  p.row = by_rows ? std::move(mine) : other;
  p.column = by_rows ? std::move(other) : std::move(mine);
  p.at.resize(p.row.size());
  std::iota(p.at.begin(), p.at.end(), 0);
  return p;
}

// --- vectors -------------------------------------------------------------------------------------------------------------

namespace {

cusparseStatus_t axpby(Call& call, const void* alpha, cusparseConstSpVecDescr_t x, const void* beta, cusparseDnVecDescr_t y) {
  call.require(x && y && x->size == y->size);
  const LateScalar s = call.scalar(alpha, y->type), b = call.scalar(beta, y->type);
  return call.submit(effort(y->size), [=, x = *x, y = *y](Memory& memory) {
    const DoubleComplex keep = b.get(memory), factor = s.get(memory);
    auto out = keep == DoubleComplex{} ? std::vector<DoubleComplex>(y.size) : loaded<DoubleComplex>(memory, y.values, y.type, y.size);
    if (keep != DoubleComplex{} && keep != DoubleComplex(1))
      for (auto& v : out) v *= keep;
    const auto at = places(memory, x);
    const auto in = loaded<DoubleComplex>(memory, x.values, x.type, x.count);
    for (size_t k = 0; k < at.size(); ++k) out[at[k]] += factor * in[k];
    stored(memory, y.values, y.type, out);
  });
}

cusparseStatus_t gather(Call& call, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x) {
  call.require(x && y && x->size == y->size);
  call.support(x->type == y->type);
  return call.submit(effort(x->count), [x = *x, y = *y](Memory& memory) {
    const auto from = loaded<DoubleComplex>(memory, y.values, y.type, y.size);
    std::vector<DoubleComplex> out;
    for (int64_t at : places(memory, x)) out.push_back(from[at]);
    stored(memory, x.values, x.type, out);
  });
}

cusparseStatus_t scatter(Call& call, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y) {
  call.require(x && y && x->size == y->size);
  call.support(x->type == y->type);
  return call.submit(effort(x->count), [x = *x, y = *y](Memory& memory) {
    const auto at = places(memory, x);
    const auto in = loaded<DoubleComplex>(memory, x.values, x.type, x.count);
    for (size_t k = 0; k < at.size(); ++k) {
      memory.writes(static_cast<char*>(y.values) + at[k] * static_cast<int64_t>(bytes_of(y.type)), bytes_of(y.type));
      store(y.values, y.type, at[k], in[k]);
    }
  });
}

cusparseStatus_t rot(Call& call, const void* c, const void* s, cusparseSpVecDescr_t x, cusparseDnVecDescr_t y) {
  call.require(x && y && x->size == y->size);
  call.support(x->type == y->type);
  const LateScalar cosine = call.scalar(c, x->type), sine = call.scalar(s, x->type);
  return call.submit(effort(x->count), [=, x = *x, y = *y](Memory& memory) {
    const DoubleComplex c = cosine.get(memory), s = sine.get(memory);
    const auto at = places(memory, x);
    auto in = loaded<DoubleComplex>(memory, x.values, x.type, x.count), other = loaded<DoubleComplex>(memory, y.values, y.type, y.size);
    for (size_t k = 0; k < at.size(); ++k) {
      const DoubleComplex a = in[k], b = other[at[k]];
      in[k] = c * a + s * b;
      other[at[k]] = c * b - std::conj(s) * a;
    }
    stored(memory, x.values, x.type, in);
    stored(memory, y.values, y.type, other);
  });
}

cusparseStatus_t spvv(Call& call, cusparseOperation_t op, cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y, void* result,
                      cudaDataType compute) {
  check(call, op);
  check_compute(call, compute);
  call.require(x && y && result && x->size == y->size);
  const bool on_device = call.scalars_on_device();
  const cusparseStatus_t queued = call.submit(effort(x->count), [=, x = *x, y = *y](Memory& memory) {
    const auto at = places(memory, x);
    const auto in = loaded<DoubleComplex>(memory, x.values, x.type, x.count),
               other = loaded<DoubleComplex>(memory, y.values, y.type, y.size);
    DoubleComplex sum{};
    for (size_t k = 0; k < at.size(); ++k) sum += conjugate_if(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, in[k]) * other[at[k]];
    if (on_device) memory.writes(result, bytes_of(compute));
    store(result, compute, 0, sum);
  });
  // A result on the host is there when this returns; of a graph, when the graph has run.
  return queued != CUSPARSE_STATUS_SUCCESS || on_device || call.captured() ? queued : call.wait();
}

// --- sparse and dense ------------------------------------------------------------------------------------------------------

cusparseStatus_t sparse_to_dense(Call& call, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b) {
  call.require(a && b && a->rows == b->rows && a->columns == b->columns);
  call.support(a->type == b->type);
  return call.submit(effort(a->rows * a->columns), [a = *a, b = *b](Memory& memory) {
    const Pattern p = pattern_of(memory, a);
    const auto values = loaded<DoubleComplex>(memory, a.values, a.type, a.count);
    std::vector<DoubleComplex> out(static_cast<size_t>(a.rows * a.columns));
    for (size_t k = 0; k < p.row.size(); ++k) out[p.column[k] * a.rows + p.row[k]] = values[p.at[k]];
    set_dense(memory, b, out);
  });
}

// The offsets are written and the number of entries is known when this returns.
cusparseStatus_t count_dense(Call& call, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b) {
  call.require(a && b && a->rows == b->rows && a->columns == b->columns);
  call.support(a->type == b->type && b->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
  if (b->format == CUSPARSE_FORMAT_BLOCKED_ELL) return CUSPARSE_STATUS_SUCCESS;  // the program has said which blocks there are
  auto total = std::make_shared<int64_t>(0);
  const cusparseStatus_t queued = call.submit(effort(a->rows * a->columns), [total, a = *a, b = *b](Memory& memory) {
    const auto dense = dense_of<DoubleComplex>(memory, a);
    const bool by_rows = b.format != CUSPARSE_FORMAT_CSC;
    const int64_t lines = by_rows ? a.rows : a.columns, across = by_rows ? a.columns : a.rows;
    const bool offsets = b.format != CUSPARSE_FORMAT_COO;
    if (offsets) memory.writes(b.offsets, static_cast<size_t>(lines + 1) * index_bytes(b.offset_type));
    for (int64_t line = 0; line < lines; ++line) {
      if (offsets) set_index(b.offsets, b.offset_type, line, *total + b.base);
      for (int64_t k = 0; k < across; ++k) *total += dense[by_rows ? k * a.rows + line : line * a.rows + k] != DoubleComplex{};
    }
    if (offsets) set_index(b.offsets, b.offset_type, lines, *total + b.base);
  });
  if (queued != CUSPARSE_STATUS_SUCCESS) return queued;
  const cusparseStatus_t waited = call.wait();
  if (waited == CUSPARSE_STATUS_SUCCESS) b->count = *total;
  return waited;
}

cusparseStatus_t dense_to_sparse(Call& call, cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b) {
  call.require(a && b && a->rows == b->rows && a->columns == b->columns);
  call.support(a->type == b->type && b->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
  return call.submit(effort(a->rows * a->columns), [a = *a, b = *b](Memory& memory) {
    const auto dense = dense_of<DoubleComplex>(memory, a);
    if (b.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
      const Pattern p = pattern_of(memory, b);
      std::vector<DoubleComplex> values(static_cast<size_t>(b.count));  // 0 where there is no block
      for (size_t k = 0; k < p.row.size(); ++k) values[p.at[k]] = dense[p.column[k] * a.rows + p.row[k]];
      return stored(memory, b.values, b.type, values);
    }
    const bool by_rows = b.format != CUSPARSE_FORMAT_CSC, coo = b.format == CUSPARSE_FORMAT_COO;
    const int64_t lines = by_rows ? a.rows : a.columns, across = by_rows ? a.columns : a.rows;
    memory.writes(b.indices, static_cast<size_t>(b.count) * index_bytes(b.index_type));
    if (coo) memory.writes(b.offsets, static_cast<size_t>(b.count) * index_bytes(b.offset_type));
    std::vector<DoubleComplex> values;
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t k = 0; k < across; ++k) {
        const DoubleComplex v = dense[by_rows ? k * a.rows + line : line * a.rows + k];
        if (v == DoubleComplex{}) continue;
        const int64_t at = checked(static_cast<int64_t>(values.size()), b.count);
        set_index(b.indices, b.index_type, at, k + b.base);
        if (coo) set_index(b.offsets, b.offset_type, at, line + b.base);
        values.push_back(v);
      }
    stored(memory, b.values, b.type, values);
  });
}

}  // namespace

// --- products ----------------------------------------------------------------------------------------------------------------

cusparseStatus_t spmv(Call& call, cusparseOperation_t op, const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                      const void* beta, cusparseDnVecDescr_t y, cudaDataType compute) {
  check(call, op);
  check_compute(call, compute);
  call.require(a && x && y);
  call.require(x->size == rows_after(op, a->columns, a->rows) && y->size == rows_after(op, a->rows, a->columns));
  const LateScalar s = call.scalar(alpha, compute), b = call.scalar(beta, compute);
  return call.submit(effort(a->count + a->rows), [=, a = *a, x = *x, y = *y](Memory& memory) {
    with_numbers(compute, [&]<class W>(W) {
      const W factor = convert<W>(s.get(memory)), keep = convert<W>(b.get(memory));
      const auto in = loaded<W>(memory, x.values, x.type, x.size);
      auto out = keep == W{} ? std::vector<W>(y.size) : loaded<W>(memory, y.values, y.type, y.size);
      const Pattern p = pattern_of(memory, a);
      const auto values = loaded<W>(memory, a.values, a.type, a.count);
      std::vector<W> sums(out.size());
      for (size_t k = 0; k < p.row.size(); ++k) {
        if (op == kPlain) sums[p.row[k]] += values[p.at[k]] * in[p.column[k]];
        else sums[p.column[k]] += conjugate_if(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, values[p.at[k]]) * in[p.row[k]];
      }
      for (size_t i = 0; i < out.size(); ++i) out[i] = factor * sums[i] + (keep == W{} ? W{} : keep * out[i]);
      stored(memory, y.values, y.type, out);
      return 0;
    });
  });
}

cusparseStatus_t spmm(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                      cusparseConstDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c, cudaDataType compute) {
  check(call, op_a);
  check(call, op_b);
  check_compute(call, compute);
  call.require(a && b && c);
  call.support(a->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
  const int64_t m = rows_after(op_a, a->rows, a->columns), k = rows_after(op_a, a->columns, a->rows);
  const int64_t n = rows_after(op_b, b->columns, b->rows);
  call.require(rows_after(op_b, b->rows, b->columns) == k && c->rows == m && c->columns == n);
  const LateScalar s = call.scalar(alpha, compute), keep_later = call.scalar(beta, compute);
  return call.submit(effort(a->count * n + 1), [=, a = *a, b = *b, c = *c](Memory& memory) {
    with_numbers(compute, [&]<class W>(W) {
      const W factor = convert<W>(s.get(memory)), keep = convert<W>(keep_later.get(memory));
      Rows<W> rows;
      for (int batch = 0; batch < c.batch; ++batch) {
        if (batch == 0 || a.batch > 1) rows = rows_of<W>(memory, matrix_of(a, batch), op_a);
        const auto right = transposed_if(op_b != kPlain, op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE,
                                         dense_of<W>(memory, b, b.batch > 1 ? batch : 0), b.rows, b.columns);
        auto out = keep == W{} ? std::vector<W>(static_cast<size_t>(m * n)) : dense_of<W>(memory, c, batch);
        for (int64_t j = 0; j < n; ++j)
          for (int64_t i = 0; i < m; ++i) {
            W sum{};
            for (int64_t e = rows.first[i]; e < rows.first[i + 1]; ++e) sum += rows.value[e] * right[j * k + rows.column[e]];
            W& to = out[j * m + i];
            to = factor * sum + (keep == W{} ? W{} : keep * to);
          }
        set_dense(memory, c, out, batch);
      }
      return 0;
    });
  });
}

namespace {

cusparseStatus_t sddmm(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha, cusparseConstDnMatDescr_t a,
                       cusparseConstDnMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute) {
  check(call, op_a);
  check(call, op_b);
  check_compute(call, compute);
  call.require(a && b && c);
  const int64_t k = rows_after(op_a, a->columns, a->rows);
  call.require(rows_after(op_a, a->rows, a->columns) == c->rows && rows_after(op_b, b->columns, b->rows) == c->columns);
  call.require(rows_after(op_b, b->rows, b->columns) == k);
  const LateScalar s = call.scalar(alpha, compute), keep_later = call.scalar(beta, compute);
  return call.submit(effort(c->count * k + 1), [=, a = *a, b = *b, c = *c](Memory& memory) {
    const DoubleComplex factor = s.get(memory), keep = keep_later.get(memory);
    const auto conjugate = CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
    for (int batch = 0; batch < c.batch; ++batch) {
      const auto dense = [&](const cusparseDnMatDescr& d, cusparseOperation_t op) {
        return transposed_if(op != kPlain, op == conjugate, dense_of<DoubleComplex>(memory, d, d.batch > 1 ? batch : 0), d.rows, d.columns);
      };
      const auto left = dense(a, op_a), right = dense(b, op_b);
      const cusparseSpMatDescr out = matrix_of(c, batch);
      const Pattern p = pattern_of(memory, out);
      auto values =
          keep == DoubleComplex{} ? std::vector<DoubleComplex>(c.count) : loaded<DoubleComplex>(memory, out.values, c.type, c.count);
      for (size_t e = 0; e < p.row.size(); ++e) {
        DoubleComplex sum{};
        for (int64_t l = 0; l < k; ++l) sum += left[l * c.rows + p.row[e]] * right[p.column[e] * k + l];
        DoubleComplex& to = values[p.at[e]];
        to = factor * sum + (keep == DoubleComplex{} ? DoubleComplex{} : keep * to);
      }
      stored(memory, out.values, c.type, values);
    }
  });
}

// --- triangles -----------------------------------------------------------------------------------------------------------------

template <class Descriptor>
cusparseStatus_t analyse(Call& call, cusparseConstSpMatDescr_t a, Descriptor* solver) {
  call.require(a && solver && a->rows == a->columns);
  solver->values = nullptr;
  return CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor>
cusparseStatus_t update(Call& call, Descriptor* solver, void* values, bool all) {
  call.require(solver && values);
  call.support(all);
  solver->values = values;
  return CUSPARSE_STATUS_SUCCESS;
}

// x = inverse(op(A)) x for one column. Entries of the other triangle do not count.
template <class W>
void solve(const Rows<W>& rows, bool upper, bool unit, W* x) {
  const int64_t n = static_cast<int64_t>(rows.first.size()) - 1;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    W sum = x[i], diagonal{};
    for (int64_t e = rows.first[i]; e < rows.first[i + 1]; ++e) {
      const int64_t j = rows.column[e];
      if (j == i) diagonal += rows.value[e];
      else if (upper ? j > i : j < i) sum -= rows.value[e] * x[j];
    }
    x[i] = unit ? sum : sum / diagonal;
  }
}

cusparseStatus_t spsv(Call& call, cusparseOperation_t op, const void* alpha, cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                      cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVDescr_t solver) {
  check(call, op);
  check_compute(call, compute);
  call.require(a && x && y && solver && a->rows == a->columns && x->size == a->rows && y->size == a->rows);
  const LateScalar s = call.scalar(alpha, compute);
  return call.submit(effort(a->count), [=, a = *a, x = *x, y = *y, values = solver->values](Memory& memory) mutable {
    if (values) a.values = values;
    with_numbers(compute, [&]<class W>(W) {
      auto out = loaded<W>(memory, x.values, x.type, x.size);
      const W factor = convert<W>(s.get(memory));
      for (W& v : out) v *= factor;
      const bool upper = (a.fill == CUSPARSE_FILL_MODE_UPPER) == (op == kPlain);
      solve(rows_of<W>(memory, a, op), upper, a.diag == CUSPARSE_DIAG_TYPE_UNIT, out.data());
      stored(memory, y.values, y.type, out);
      return 0;
    });
  });
}

cusparseStatus_t spsm(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha, cusparseConstSpMatDescr_t a,
                      cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMDescr_t solver) {
  check(call, op_a);
  check(call, op_b);
  check_compute(call, compute);
  call.require(a && b && c && solver && a->rows == a->columns && c->rows == a->rows);
  call.support(a->format != CUSPARSE_FORMAT_SLICED_ELLPACK);
  call.require(rows_after(op_b, b->rows, b->columns) == c->rows && rows_after(op_b, b->columns, b->rows) == c->columns);
  const LateScalar s = call.scalar(alpha, compute);
  return call.submit(effort(a->count * c->columns), [=, a = *a, b = *b, c = *c, values = solver->values](Memory& memory) mutable {
    if (values) a.values = values;
    with_numbers(compute, [&]<class W>(W) {
      auto out = transposed_if(op_b != kPlain, op_b == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, dense_of<W>(memory, b), b.rows, b.columns);
      const W factor = convert<W>(s.get(memory));
      for (W& v : out) v *= factor;
      const Rows<W> rows = rows_of<W>(memory, a, op_a);
      const bool upper = (a.fill == CUSPARSE_FILL_MODE_UPPER) == (op_a == kPlain);
      for (int64_t j = 0; j < c.columns; ++j) solve(rows, upper, a.diag == CUSPARSE_DIAG_TYPE_UNIT, out.data() + j * c.rows);
      set_dense(memory, c, out);
      return 0;
    });
  });
}

template <class Descriptor>
cusparseStatus_t make(Descriptor** descr) {
  if (!descr) return CUSPARSE_STATUS_INVALID_VALUE;
  *descr = new Descriptor;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cusparse

using namespace warpbeam::cusparse;

#define WB_CUSPARSE(name, parameters, ...) WB_DEFINE_CUSPARSE(cusparse##name, parameters, __VA_ARGS__)
#include "warpbeam/cusparse/generic.inc"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))
#define WB_STATE(Name)                                                                                            \
  WB_EXPORT cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t* descr) { return make(descr); } \
  WB_EXPORT cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descr) {                       \
    delete descr;                                                                                                 \
    return CUSPARSE_STATUS_SUCCESS;                                                                               \
  }
WB_STATE(SpSV)
WB_STATE(SpSM)
WB_STATE(SpGEMM)

WB_EXPORT cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descr, int64_t* products) {
  if (!descr || !products) return CUSPARSE_STATUS_INVALID_VALUE;
  *products = descr->products;
  return CUSPARSE_STATUS_SUCCESS;
}
