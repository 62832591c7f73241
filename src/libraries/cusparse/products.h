// Products of two sparse matrices: their entries are counted first, so that the program can make room for them.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "libraries/cusparse/call.h"

// A product that has been computed, until it is copied.
struct cusparseSpGEMMDescr {
  std::vector<int64_t> first, column;
  std::vector<warpbeam::numeric::DoubleComplex> value;
  int64_t products = 0;
};

namespace warpbeam::cusparse {

inline void check_product(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                          cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c, const void* kept) {
  check(call, op_a);
  check(call, op_b);
  call.require(a && b && c && kept);
  call.support(op_a == kPlain && op_b == kPlain && c->format == CUSPARSE_FORMAT_CSR);  // as documented
  call.require(a->columns == b->rows && c->rows == a->rows && c->columns == b->columns);
}

// Asked without a buffer it says how large one would be; with one it counts the products of entries, and waits.
inline cusparseStatus_t estimate(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                 cusparseConstSpMatDescr_t b, cusparseConstSpMatDescr_t c, cusparseSpGEMMDescr_t kept, size_t* size,
                                 void* buffer) {
  check_product(call, op_a, op_b, a, b, c, kept);
  if (!buffer) return no_buffer(call, size);
  const cusparseStatus_t queued = call.submit(effort(a->count), [=, a = *a, b = *b](Memory& memory) {
    std::vector<int64_t> in_row(static_cast<size_t>(b.rows));
    for (int64_t row : pattern_of(memory, b).row) ++in_row[row];
    kept->products = 0;
    for (int64_t column : pattern_of(memory, a).column) kept->products += in_row[column];
  });
  return queued == CUSPARSE_STATUS_SUCCESS ? call.wait() : queued;
}

// Its own buffer is asked for before the one that it is about.
inline cusparseStatus_t estimate_memory(Call& call, size_t* own, void* buffer, size_t* size) {
  if (!buffer) return no_buffer(call, own);
  return no_buffer(call, own, size);
}

// Asked without a buffer it says how large one would be; with one it computes, and waits: the size of C is known then.
inline cusparseStatus_t multiply(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                                 cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                 cudaDataType compute, cusparseSpGEMMDescr_t kept, size_t* size, void* buffer) {
  check_compute(call, compute);
  call.require(size);
  check_product(call, op_a, op_b, a, b, c, kept);
  if (!buffer) return no_buffer(call, size);
  const LateScalar s = call.scalar(alpha, compute), keep = call.scalar(beta, compute);
  const cusparseStatus_t queued = call.submit(effort(a->count), [=, a = *a, b = *b](Memory& memory) {
    const auto left = rows_of<DoubleComplex>(memory, a, kPlain), right = rows_of<DoubleComplex>(memory, b, kPlain);
    const DoubleComplex factor = s.get(memory);
    if (keep.get(memory) != DoubleComplex{}) throw std::invalid_argument("C is not added: its pattern is the product's");
    *kept = {};
    kept->first.push_back(0);
    std::unordered_map<int64_t, size_t> place;
    for (int64_t i = 0; i < a.rows; ++i) {
      std::vector<std::pair<int64_t, DoubleComplex>> row;
      place.clear();
      for (int64_t e = left.first[i]; e < left.first[i + 1]; ++e)
        for (int64_t f = right.first[left.column[e]]; f < right.first[left.column[e] + 1]; ++f) {
          ++kept->products;
          const auto [found, fresh] = place.try_emplace(right.column[f], row.size());
          if (fresh) row.emplace_back(right.column[f], DoubleComplex{});
          row[found->second].second += left.value[e] * right.value[f];
        }
      std::sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
      for (const auto& [column, value] : row) kept->column.push_back(column), kept->value.push_back(factor * value);
      kept->first.push_back(static_cast<int64_t>(kept->column.size()));
    }
  });
  if (queued != CUSPARSE_STATUS_SUCCESS) return queued;
  const cusparseStatus_t waited = call.wait();
  if (waited == CUSPARSE_STATUS_SUCCESS) c->count = static_cast<int64_t>(kept->column.size());
  return waited;
}

inline cusparseStatus_t copy_product(Call& call, cusparseSpMatDescr_t c, cusparseSpGEMMDescr_t kept) {
  call.require(c && kept && static_cast<int64_t>(kept->first.size()) == c->rows + 1);
  return call.submit(effort(c->count), [c = *c, product = *kept](Memory& memory) {
    memory.writes(c.offsets, product.first.size() * index_bytes(c.offset_type));
    memory.writes(c.indices, product.column.size() * index_bytes(c.index_type));
    for (size_t i = 0; i < product.first.size(); ++i) set_index(c.offsets, c.offset_type, i, product.first[i] + c.base);
    for (size_t i = 0; i < product.column.size(); ++i) set_index(c.indices, c.index_type, i, product.column[i] + c.base);
    stored(memory, c.values, c.type, product.value);
  });
}

// A product whose pattern is found once, for values that change: the pattern is kept, and known when the call returns.
inline cusparseStatus_t find_pattern(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                     cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c, cusparseSpGEMMDescr_t kept,
                                     std::initializer_list<size_t*> sizes, void* buffer) {
  check_product(call, op_a, op_b, a, b, c, kept);
  for (size_t* size : sizes) call.require(size);
  if (!buffer) {
    for (size_t* size : sizes) *size = 16;
    return CUSPARSE_STATUS_SUCCESS;
  }
  const cusparseStatus_t queued = call.submit(effort(a->count), [=, a = *a, b = *b](Memory& memory) {
    const auto left = rows_of<double>(memory, a, kPlain), right = rows_of<double>(memory, b, kPlain);
    *kept = {};
    kept->first.push_back(0);
    for (int64_t i = 0; i < a.rows; ++i) {
      std::vector<int64_t> row;
      for (int64_t e = left.first[i]; e < left.first[i + 1]; ++e)
        row.insert(row.end(), right.column.begin() + right.first[left.column[e]], right.column.begin() + right.first[left.column[e] + 1]);
      kept->products += static_cast<int64_t>(row.size());
      std::sort(row.begin(), row.end());
      kept->column.insert(kept->column.end(), row.begin(), std::unique(row.begin(), row.end()));
      kept->first.push_back(static_cast<int64_t>(kept->column.size()));
    }
  });
  if (queued != CUSPARSE_STATUS_SUCCESS) return queued;
  const cusparseStatus_t waited = call.wait();
  if (waited == CUSPARSE_STATUS_SUCCESS) c->count = static_cast<int64_t>(kept->column.size());
  return waited;
}

inline bool is_pattern_of(const cusparseSpGEMMDescr* kept, const cusparseSpMatDescr* c) {
  return c && kept && static_cast<int64_t>(kept->first.size()) == c->rows + 1 && static_cast<int64_t>(kept->column.size()) == c->count;
}

inline cusparseStatus_t copy_pattern(Call& call, cusparseSpMatDescr_t c, cusparseSpGEMMDescr_t kept, size_t* size, void* buffer) {
  call.require(is_pattern_of(kept, c));
  if (!buffer) return no_buffer(call, size);
  return call.submit(effort(c->count), [c = *c, first = kept->first, column = kept->column](Memory& memory) {
    memory.writes(c.offsets, first.size() * index_bytes(c.offset_type)),
        memory.writes(c.indices, column.size() * index_bytes(c.index_type));
    for (size_t i = 0; i < first.size(); ++i) set_index(c.offsets, c.offset_type, i, first[i] + c.base);
    for (size_t i = 0; i < column.size(); ++i) set_index(c.indices, c.index_type, i, column[i] + c.base);
  });
}

inline cusparseStatus_t multiply_again(Call& call, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
                                       cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c,
                                       cudaDataType compute, cusparseSpGEMMDescr_t kept) {
  check_compute(call, compute);
  check_product(call, op_a, op_b, a, b, c, kept);
  call.require(is_pattern_of(kept, c));
  const LateScalar s = call.scalar(alpha, compute), keep = call.scalar(beta, compute);
  return call.submit(effort(a->count), [=, a = *a, b = *b, c = *c, first = kept->first, column = kept->column](Memory& memory) {
    const auto left = rows_of<DoubleComplex>(memory, a, kPlain), right = rows_of<DoubleComplex>(memory, b, kPlain);
    const DoubleComplex factor = s.get(memory), old = keep.get(memory);
    std::vector<DoubleComplex> out(column.size());
    if (old != DoubleComplex{}) out = loaded<DoubleComplex>(memory, c.values, c.type, c.count);
    for (auto& value : out) value *= old;
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t e = left.first[i]; e < left.first[i + 1]; ++e)
        for (int64_t f = right.first[left.column[e]]; f < right.first[left.column[e] + 1]; ++f) {
          const auto at = std::lower_bound(column.begin() + first[i], column.begin() + first[i + 1], right.column[f]);
          if (at == column.begin() + first[i + 1] || *at != right.column[f]) throw std::out_of_range("A or B has another pattern now");
          out[at - column.begin()] += factor * left.value[e] * right.value[f];
        }
    stored(memory, c.values, c.type, out);
  });
}

}  // namespace warpbeam::cusparse
