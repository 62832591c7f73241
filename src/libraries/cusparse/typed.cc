// The operations with a letter for the type, and those on indices alone. Where a generic function does the same work, they
// only make its descriptors.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>

#include "libraries/cusparse/call.h"

// The first zero on the diagonal that an incomplete factorisation met, -1 for none.
struct csrilu02Info {
  std::shared_ptr<int> pivot = std::make_shared<int>(-1);
};
struct csric02Info {
  std::shared_ptr<int> pivot = std::make_shared<int>(-1);
};

namespace warpbeam::cusparse {

namespace {

size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(int); }

cusparseSpMatDescr csr(const cusparseMatDescr* d, int64_t rows, int64_t columns, int64_t count, const void* values, const int* offsets,
                       const int* indices, cudaDataType type) {
  return {CUSPARSE_FORMAT_CSR,
          rows,
          columns,
          count,
          const_cast<int*>(offsets),
          const_cast<int*>(indices),
          const_cast<void*>(values),
          CUSPARSE_INDEX_32I,
          CUSPARSE_INDEX_32I,
          d->base,
          type};
}

// --- indices ---------------------------------------------------------------------------------------------------------------

cusparseStatus_t coo2csr(Call& call, const int* rows, int count, int m, int* offsets, cusparseIndexBase_t base) {
  call.require(count >= 0 && m >= 0);
  return call.submit(bytes(count + m), [=](Memory& memory) {
    memory.reads(rows, bytes(count)), memory.writes(offsets, bytes(m + 1));
    int at = 0;
    for (int r = 0; r <= m; ++r) {
      while (at < count && rows[at] - base < r) ++at;
      offsets[r] = at + base;
    }
  });
}

cusparseStatus_t csr2coo(Call& call, const int* offsets, int count, int m, int* rows, cusparseIndexBase_t base) {
  call.require(count >= 0 && m >= 0);
  return call.submit(bytes(count + m), [=](Memory& memory) {
    memory.reads(offsets, bytes(m + 1)), memory.writes(rows, bytes(count));
    for (int r = 0; r < m; ++r)
      for (int k = offsets[r] - base; k < offsets[r + 1] - base; ++k) rows[checked(k, count)] = r + base;
  });
}

cusparseStatus_t identity(Call& call, int n, int* p) {
  call.require(n >= 0);
  return call.submit(bytes(n), [=](Memory& memory) {
    memory.writes(p, bytes(n));
    std::iota(p, p + n, 0);
  });
}

// Equals keep their order.
template <class Less>
void sort_stably(std::vector<int64_t>& order, Less less) {
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return less(a, b) || (!less(b, a) && a < b); });
}

template <class T>
void permute(T* values, const std::vector<int64_t>& order, int64_t from) {
  std::vector<T> old(values + from, values + from + static_cast<int64_t>(order.size()));
  for (size_t k = 0; k < order.size(); ++k) values[from + static_cast<int64_t>(k)] = old[order[k] - from];
}

cusparseStatus_t coosort(Call& call, int m, int n, int count, int* first, int* second, int* p) {
  call.require(m >= 0 && n >= 0 && count >= 0);
  return call.submit(bytes(count) * 8, [=](Memory& memory) {
    for (int* array : {first, second}) memory.reads(array, bytes(count)), memory.writes(array, bytes(count));
    if (p) memory.reads(p, bytes(count)), memory.writes(p, bytes(count));
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    sort_stably(order, [&](int64_t a, int64_t b) { return std::pair(first[a], second[a]) < std::pair(first[b], second[b]); });
    permute(first, order, 0), permute(second, order, 0);
    if (p) permute(p, order, 0);
  });
}

cusparseStatus_t csrsort(Call& call, int m, int count, cusparseMatDescr_t d, const int* offsets, int* columns, int* p) {
  call.require(d && m >= 0 && count >= 0);
  return call.submit(bytes(count) * 8, [=, base = d->base](Memory& memory) {
    memory.reads(offsets, bytes(m + 1)), memory.reads(columns, bytes(count)), memory.writes(columns, bytes(count));
    if (p) memory.reads(p, bytes(count)), memory.writes(p, bytes(count));
    for (int r = 0; r < m; ++r) {
      const int64_t from = checked(offsets[r] - base, count + 1), to = checked(offsets[r + 1] - base, count + 1);
      if (to <= from) continue;
      std::vector<int64_t> order(to - from);
      std::iota(order.begin(), order.end(), from);
      sort_stably(order, [&](int64_t a, int64_t b) { return columns[a] < columns[b]; });
      permute(columns, order, from);
      if (p) permute(p, order, from);
    }
  });
}

cusparseStatus_t csr2csc(Call& call, int m, int n, int count, const void* values, const int* offsets, const int* columns, void* out_values,
                         int* out_offsets, int* out_rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base) {
  call.require(m >= 0 && n >= 0 && count >= 0);
  call.support(bytes_of(type) != 0);
  cusparseMatDescr d;
  d.base = base;
  return call.submit(bytes(count) * 8, [=, a = csr(&d, m, n, count, values, offsets, columns, type)](Memory& memory) {
    const Pattern p = pattern_of(memory, a);
    memory.writes(out_offsets, bytes(n + 1)), memory.writes(out_rows, bytes(count));
    std::vector<int64_t> next(static_cast<size_t>(n) + 1);
    for (int64_t c : p.column) ++next[c + 1];
    for (int c = 0; c < n; ++c) next[c + 1] += next[c];
    for (int c = 0; c <= n; ++c) out_offsets[c] = static_cast<int>(next[c] + base);
    const bool numeric = action == CUSPARSE_ACTION_NUMERIC;
    const size_t element = bytes_of(type);
    if (numeric)
      memory.reads(values, static_cast<size_t>(count) * element), memory.writes(out_values, static_cast<size_t>(count) * element);
    for (size_t k = 0; k < p.row.size(); ++k) {
      const int64_t to = next[p.column[k]]++;
      out_rows[to] = static_cast<int>(p.row[k] + base);
      if (numeric)
        std::copy_n(static_cast<const char*>(values) + p.at[k] * element, element, static_cast<char*>(out_values) + to * element);
    }
  });
}

// --- sums ------------------------------------------------------------------------------------------------------------------

// The rows of a sum, with the factors that the entries of A and B have; without values the entries are ones.
using SumRows = std::vector<std::map<int64_t, DoubleComplex>>;

void add_to(SumRows& rows, Memory& memory, const cusparseSpMatDescr& a, DoubleComplex factor) {
  const Pattern p = pattern_of(memory, a);
  std::vector<DoubleComplex> values(static_cast<size_t>(a.count), 1);
  if (a.values) values = loaded<DoubleComplex>(memory, a.values, a.type, a.count);
  for (size_t k = 0; k < p.row.size(); ++k) rows[p.row[k]][p.column[k]] += factor * values[p.at[k]];
}

cusparseStatus_t count_sum(Call& call, int m, int n, cusparseMatDescr_t da, int count_a, const int* offsets_a, const int* columns_a,
                           cusparseMatDescr_t db, int count_b, const int* offsets_b, const int* columns_b, cusparseMatDescr_t dc,
                           int* offsets, int* total) {
  call.require(m >= 0 && n >= 0 && count_a >= 0 && count_b >= 0 && da && db && dc && total);
  const auto a = csr(da, m, n, count_a, nullptr, offsets_a, columns_a, CUDA_R_32F);
  const auto b = csr(db, m, n, count_b, nullptr, offsets_b, columns_b, CUDA_R_32F);
  return counted(call, bytes(count_a + count_b) * 8, total, [=, base = dc->base](Memory& memory) {
    SumRows rows(m);
    add_to(rows, memory, a, 1), add_to(rows, memory, b, 1);
    memory.writes(offsets, bytes(m + 1));
    offsets[0] = base;
    for (int r = 0; r < m; ++r) offsets[r + 1] = offsets[r] + static_cast<int>(rows[r].size());
    return offsets[m] - base;
  });
}

template <class T>
cusparseStatus_t sum(Call& call, int m, int n, const T* alpha, cusparseMatDescr_t da, int count_a, const T* values_a, const int* offsets_a,
                     const int* columns_a, const T* beta, cusparseMatDescr_t db, int count_b, const T* values_b, const int* offsets_b,
                     const int* columns_b, cusparseMatDescr_t dc, T* values, const int* offsets, int* columns) {
  call.require(m >= 0 && n >= 0 && count_a >= 0 && count_b >= 0 && da && db && dc);
  const cudaDataType type = type_of(values);
  const LateScalar s = call.scalar(alpha, type), t = call.scalar(beta, type);
  const auto a = csr(da, m, n, count_a, values_a, offsets_a, columns_a, type);
  const auto b = csr(db, m, n, count_b, values_b, offsets_b, columns_b, type);
  return call.submit(bytes(count_a + count_b) * 8, [=, base = dc->base](Memory& memory) {
    SumRows rows(m);
    add_to(rows, memory, a, s.get(memory)), add_to(rows, memory, b, t.get(memory));
    memory.reads(offsets, bytes(m + 1));
    const int count = offsets[m] - base;
    memory.writes(columns, bytes(count));
    std::vector<DoubleComplex> out(count);
    for (int r = 0; r < m; ++r) {
      int64_t at = offsets[r] - base;
      for (const auto& [column, value] : rows[r]) {
        columns[checked(at, count)] = static_cast<int>(column + base);
        out[at++] = value;
      }
    }
    stored(memory, values, type, out);
  });
}

// --- dense matrices ----------------------------------------------------------------------------------------------------------

template <class T>
bool is_zero(const T& x) {
  return *values(&x) == Value<T>{};
}

template <class T>
cusparseStatus_t count_nonzero(Call& call, cusparseDirection_t direction, int m, int n, const T* a, int lda, int* each, int* total) {
  call.require(m >= 0 && n >= 0 && lda >= std::max(1, m) && total);
  return counted(call, bytes(m) * n, total, [=, by_rows = direction == CUSPARSE_DIRECTION_ROW](Memory& memory) {
    memory.reads(a, m * sizeof(T), n, lda * sizeof(T)), memory.writes(each, bytes(by_rows ? m : n));
    std::fill_n(each, by_rows ? m : n, 0);
    int all = 0;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i)
        if (!is_zero(a[j * lda + i])) ++each[by_rows ? i : j], ++all;
    return all;
  });
}

template <class T>
cusparseStatus_t dense2csr(Call& call, int m, int n, cusparseMatDescr_t d, const T* a, int lda, const int* each, T* out, int* offsets,
                           int* indices, bool by_rows) {
  call.require(d && m >= 0 && n >= 0 && lda >= std::max(1, m));
  return call.submit(bytes(m) * n, [=, base = d->base](Memory& memory) {
    const int lines = by_rows ? m : n, across = by_rows ? n : m;
    memory.reads(a, m * sizeof(T), n, lda * sizeof(T));
    memory.reads(each, bytes(lines)), memory.writes(offsets, bytes(lines + 1));
    const int64_t count = std::accumulate(each, each + lines, int64_t{0});
    memory.writes(out, count * sizeof(T)), memory.writes(indices, bytes(count));
    int64_t at = 0;
    for (int64_t line = 0; line < lines; ++line) {
      offsets[line] = static_cast<int>(at + base);
      for (int64_t k = 0; k < across; ++k) {
        const T& x = a[by_rows ? k * lda + line : line * lda + k];
        if (is_zero(x)) continue;
        out[checked(at, count)] = x;
        indices[at++] = static_cast<int>(k + base);
      }
    }
    offsets[lines] = static_cast<int>(at + base);
  });
}

template <class T>
cusparseStatus_t csr2dense(Call& call, int m, int n, cusparseMatDescr_t d, const T* from, const int* offsets, const int* indices, T* a,
                           int lda, bool by_rows) {
  call.require(d && m >= 0 && n >= 0 && lda >= std::max(1, m));
  return call.submit(bytes(m) * n, [=, base = d->base](Memory& memory) {
    const int lines = by_rows ? m : n, across = by_rows ? n : m;
    memory.writes(a, m * sizeof(T), n, lda * sizeof(T)), memory.reads(offsets, bytes(lines + 1));
    for (int64_t j = 0; j < n; ++j) std::fill_n(a + j * lda, m, T{});
    const int64_t count = offsets[lines] - base;
    memory.reads(from, count * sizeof(T)), memory.reads(indices, bytes(count));
    for (int64_t line = 0; line < lines; ++line)
      for (int64_t k = offsets[line] - base; k < offsets[line + 1] - base; ++k) {
        const int64_t other = checked(indices[checked(k, count)] - base, across);
        a[by_rows ? other * lda + line : line * lda + other] = from[k];
      }
  });
}

// --- products ------------------------------------------------------------------------------------------------------------------

template <class T>
cusparseStatus_t csrmv(Call& call, cusparseOperation_t op, int m, int n, int count, const T* alpha, cusparseMatDescr_t d, const T* val,
                       const int* offsets, const int* columns, const T* x, const T* beta, T* y) {
  call.require(d && m >= 0 && n >= 0 && count >= 0);
  if (d->type != CUSPARSE_MATRIX_TYPE_GENERAL) throw Refused{CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED};
  const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cudaDataType type = type_of(val);
  const auto a = csr(d, m, n, count, val, offsets, columns, type);
  const cusparseDnVecDescr in{plain ? n : m, const_cast<T*>(x), type};
  cusparseDnVecDescr out{plain ? m : n, y, type};
  return spmv(call, op, alpha, &a, &in, beta, &out, type);
}

template <class T>
cusparseStatus_t csrmm(Call& call, cusparseOperation_t op, int m, int n, int k, int count, const T* alpha, cusparseMatDescr_t d,
                       const T* val, const int* offsets, const int* columns, const T* b, int ldb, const T* beta, T* c, int ldc) {
  call.require(d && m >= 0 && n >= 0 && k >= 0 && count >= 0);
  if (d->type != CUSPARSE_MATRIX_TYPE_GENERAL) throw Refused{CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED};
  const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cudaDataType type = type_of(val);
  const auto a = csr(d, m, k, count, val, offsets, columns, type);
  const cusparseDnMatDescr in{plain ? k : m, n, ldb, const_cast<T*>(b), type, CUSPARSE_ORDER_COL};
  cusparseDnMatDescr out{plain ? m : k, n, ldc, c, type, CUSPARSE_ORDER_COL};
  call.require(ldb >= in.rows && ldc >= out.rows);
  return spmm(call, op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, &a, &in, beta, &out, type);
}

// --- sparse vectors --------------------------------------------------------------------------------------------------------------

template <class T>
cusparseStatus_t axpyi(Call& call, int count, const T* alpha, const T* x, const int* at, T* y, cusparseIndexBase_t base) {
  call.require(count >= 0);
  const LateScalar s = call.scalar(alpha, type_of(x));
  return call.submit(bytes(count) * 4, [=](Memory& memory) {
    const auto factor = convert<Value<T>>(s.get(memory));
    memory.reads(x, count * sizeof(T)), memory.reads(at, bytes(count));
    for (int k = 0; k < count; ++k) {
      T* to = y + at[k] - base;
      memory.reads(to, sizeof(T)), memory.writes(to, sizeof(T));
      *values(to) += factor * values(x)[k];
    }
  });
}

template <class T>
cusparseStatus_t gthr(Call& call, int count, const T* y, T* x, const int* at, cusparseIndexBase_t base) {
  call.require(count >= 0);
  return call.submit(bytes(count) * 4, [=](Memory& memory) {
    memory.reads(at, bytes(count)), memory.writes(x, count * sizeof(T));
    for (int k = 0; k < count; ++k) {
      memory.reads(y + at[k] - base, sizeof(T));
      x[k] = y[at[k] - base];
    }
  });
}

template <class T>
cusparseStatus_t sctr(Call& call, int count, const T* x, const int* at, T* y, cusparseIndexBase_t base) {
  call.require(count >= 0);
  return call.submit(bytes(count) * 4, [=](Memory& memory) {
    memory.reads(at, bytes(count)), memory.reads(x, count * sizeof(T));
    for (int k = 0; k < count; ++k) {
      memory.writes(y + at[k] - base, sizeof(T));
      y[at[k] - base] = x[k];
    }
  });
}

// --- incomplete factorisations -----------------------------------------------------------------------------------------------------

template <class V>
struct Factor {
  int n;
  const int *first, *column;
  V* value;
  int base;
  int from(int row) const { return first[row] - base; }
  int to(int row) const { return first[row + 1] - base; }
  int at(int k) const { return column[k] - base; }
  // Where (row, wanted) is stored, -1 if it is not.
  int find(int row, int wanted) const {
    for (int k = from(row); k < to(row); ++k)
      if (at(k) == wanted) return k;
    return -1;
  }
};

template <class T>
Factor<Value<T>> open(Memory& memory, int n, int count, int base, T* val, const int* offsets, const int* columns) {
  memory.reads(offsets, bytes(n + 1)), memory.reads(columns, bytes(count));
  memory.reads(val, count * sizeof(T)), memory.writes(val, count * sizeof(T));
  for (int r = 0; r <= n; ++r) checked(offsets[r] - base, count + 1);
  for (int k = 0; k < count; ++k) checked(columns[k] - base, n);
  return {n, offsets, columns, values(val), base};
}

// A becomes L and U where it has entries; L's diagonal is one.
template <class T>
cusparseStatus_t incomplete_lu(Call& call, int n, int count, cusparseMatDescr_t d, T* val, const int* offsets, const int* columns,
                               csrilu02Info_t info) {
  call.require(d && info && n >= 0 && count >= 0);
  *info->pivot = -1;
  return call.submit(bytes(count) * 64, [=, base = d->base, pivot = info->pivot](Memory& memory) {
    const auto a = open(memory, n, count, base, val, offsets, columns);
    std::vector<int> place(n, -1);
    for (int i = 0; i < n; ++i) {
      for (int k = a.from(i); k < a.to(i); ++k) place[a.at(k)] = k;
      for (int k = a.from(i); k < a.to(i); ++k) {
        const int j = a.at(k);
        if (j >= i) continue;
        const int diagonal = a.find(j, j);
        if (diagonal < 0 || a.value[diagonal] == Value<T>{}) continue;
        a.value[k] /= a.value[diagonal];
        for (int l = a.from(j); l < a.to(j); ++l)
          if (a.at(l) > j && place[a.at(l)] >= 0) a.value[place[a.at(l)]] -= a.value[k] * a.value[l];
      }
      for (int k = a.from(i); k < a.to(i); ++k) place[a.at(k)] = -1;
      const int diagonal = a.find(i, i);
      if (*pivot < 0 && (diagonal < 0 || a.value[diagonal] == Value<T>{})) *pivot = i + base;
    }
  });
}

// The lower triangle of A becomes L; what is above stays.
template <class T>
cusparseStatus_t incomplete_cholesky(Call& call, int n, int count, cusparseMatDescr_t d, T* val, const int* offsets, const int* columns,
                                     csric02Info_t info) {
  call.require(d && info && n >= 0 && count >= 0);
  *info->pivot = -1;
  return call.submit(bytes(count) * 64, [=, base = d->base, pivot = info->pivot](Memory& memory) {
    const auto a = open(memory, n, count, base, val, offsets, columns);
    std::vector<int> place(n, -1);
    for (int i = 0; i < n; ++i) {
      for (int k = a.from(i); k < a.to(i); ++k) place[a.at(k)] = k;
      for (int k = a.from(i); k < a.to(i); ++k) {
        const int j = a.at(k);
        if (j > i) continue;
        Value<T> sum = a.value[k];
        for (int l = a.from(j); l < a.to(j); ++l)
          if (a.at(l) < j && place[a.at(l)] >= 0) sum -= a.value[place[a.at(l)]] * conjugate_if(true, a.value[l]);
        if (j < i) {
          const int diagonal = a.find(j, j);
          if (diagonal >= 0) sum /= a.value[diagonal];
        } else {
          if (*pivot < 0 && !(real_part(sum) > 0)) *pivot = i + base;
          sum = std::sqrt(real_part(sum));
        }
        a.value[k] = sum;
      }
      for (int k = a.from(i); k < a.to(i); ++k) place[a.at(k)] = -1;
      if (*pivot < 0 && a.find(i, i) < 0) *pivot = i + base;
    }
  });
}

template <class Info>
cusparseStatus_t zero_pivot(Call& call, Info* info, int* position) {
  call.require(info && position);
  const cusparseStatus_t waited = call.wait();
  if (waited != CUSPARSE_STATUS_SUCCESS) return waited;
  *position = *info->pivot;
  return *position < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

// --- tridiagonal systems -------------------------------------------------------------------------------------------------------------

// Gauss, with the larger of two rows in front where pivoting is wanted.
template <class V>
void solve(int m, const V* lower, const V* diagonal, const V* upper, V* x, bool pivoting) {
  std::vector<V> d(diagonal, diagonal + m), u(upper, upper + m), u2(m);
  u[m - 1] = V{};
  for (int i = 0; i + 1 < m; ++i) {
    V below = lower[i + 1];
    if (pivoting && std::abs(below) > std::abs(d[i])) {
      std::swap(d[i], below), std::swap(x[i], x[i + 1]);
      std::swap(u[i], d[i + 1]);
      u2[i] = u[i + 1], u[i + 1] = V{};
    }
    const V f = below / d[i];
    d[i + 1] -= f * u[i], u[i + 1] -= f * u2[i], x[i + 1] -= f * x[i];
  }
  for (int i = m - 1; i >= 0; --i) {
    if (i + 1 < m) x[i] -= u[i] * x[i + 1];
    if (i + 2 < m) x[i] -= u2[i] * x[i + 2];
    x[i] /= d[i];
  }
}

template <class T>
cusparseStatus_t gtsv(Call& call, int m, int n, const T* lower, const T* diagonal, const T* upper, T* b, int ldb, bool pivoting) {
  call.require(m >= 3 && n >= 0 && ldb >= m);
  return call.submit(bytes(m) * 8 * n, [=](Memory& memory) {
    for (const T* p : {lower, diagonal, upper}) memory.reads(p, m * sizeof(T));
    memory.reads(b, m * sizeof(T), n, ldb * sizeof(T)), memory.writes(b, m * sizeof(T), n, ldb * sizeof(T));
    for (int64_t j = 0; j < n; ++j) solve(m, values(lower), values(diagonal), values(upper), values(b) + j * ldb, pivoting);
  });
}

template <class T>
cusparseStatus_t gtsv_batch(Call& call, int m, const T* lower, const T* diagonal, const T* upper, T* x, int count, int stride) {
  call.require(m >= 3 && count >= 0 && stride >= m);
  return call.submit(bytes(m) * 8 * count, [=](Memory& memory) {
    for (const T* p : {lower, diagonal, upper}) memory.reads(p, m * sizeof(T), count, stride * sizeof(T));
    memory.reads(x, m * sizeof(T), count, stride * sizeof(T)), memory.writes(x, m * sizeof(T), count, stride * sizeof(T));
    for (int64_t k = 0; k < count; ++k)
      solve(m, values(lower) + k * stride, values(diagonal) + k * stride, values(upper) + k * stride, values(x) + k * stride, false);
  });
}

// Gauss with the largest of the rows below in front, for as many diagonals as there are, half of them below the main one.
template <class V, int kDiagonals>
void solve_band(int m, std::vector<std::array<V, 2 * kDiagonals>>& rows, std::vector<V>& x) {
  constexpr int kBelow = kDiagonals / 2;  // in rows[i], place p is column i - kBelow + p
  for (int i = 0; i < m; ++i) {
    int best = i;
    for (int r = i + 1; r <= std::min(m - 1, i + kBelow); ++r)
      if (std::abs(rows[r][i - r + kBelow]) > std::abs(rows[best][i - best + kBelow])) best = r;
    for (int c = i; best != i && c <= std::min(m - 1, i + kDiagonals); ++c)
      std::swap(rows[i][c - i + kBelow], rows[best][c - best + kBelow]);
    std::swap(x[i], x[best]);
    for (int r = i + 1; r <= std::min(m - 1, i + kBelow); ++r) {
      const V f = rows[r][i - r + kBelow] / rows[i][kBelow];
      for (int c = i; c < std::min(m, i + kDiagonals); ++c) rows[r][c - r + kBelow] -= f * rows[i][c - i + kBelow];
      x[r] -= f * x[i];
    }
  }
  for (int i = m - 1; i >= 0; --i) {
    for (int c = i + 1; c < std::min(m, i + kDiagonals); ++c) x[i] -= rows[i][c - i + kBelow] * x[c];
    x[i] /= rows[i][kBelow];
  }
}

template <class T, int kDiagonals>
cusparseStatus_t banded_interleaved(Call& call, int m, std::array<const T*, kDiagonals> diagonals, T* x, int count) {
  call.require(m >= kDiagonals / 2 + 1 && count >= 0 && x);
  const size_t size = static_cast<size_t>(m) * count;
  return call.submit(size * 8, [=](Memory& memory) {
    using V = Value<T>;
    for (const T* p : diagonals) memory.reads(p, size * sizeof(T));
    memory.reads(x, size * sizeof(T)), memory.writes(x, size * sizeof(T));
    for (int k = 0; k < count; ++k) {
      std::vector<std::array<V, 2 * kDiagonals>> rows(m);
      std::vector<V> right(m);
      for (int64_t i = 0; i < m; ++i) {
        right[i] = values(x)[i * count + k];
        for (int p = 0; p < kDiagonals; ++p)
          if (const int64_t column = i - kDiagonals / 2 + p; column >= 0 && column < m) rows[i][p] = values(diagonals[p])[i * count + k];
      }
      solve_band<V, kDiagonals>(m, rows, right);
      for (int64_t i = 0; i < m; ++i) values(x)[i * count + k] = right[i];
    }
  });
}

// Systems of which element i of each one stands beside that of the next.
template <class T>
cusparseStatus_t gtsv_interleaved(Call& call, int m, const T* lower, const T* diagonal, const T* upper, T* x, int count) {
  return banded_interleaved<T, 3>(call, m, {lower, diagonal, upper}, x, count);
}
template <class T>
cusparseStatus_t gpsv_interleaved(Call& call, int m, const T* far_lower, const T* lower, const T* diagonal, const T* upper,
                                  const T* far_upper, T* x, int count) {
  return banded_interleaved<T, 5>(call, m, {far_lower, lower, diagonal, upper, far_upper}, x, count);
}

}  // namespace
}  // namespace warpbeam::cusparse

using namespace warpbeam::cusparse;

#define WB_CUSPARSE(name, parameters, ...) WB_DEFINE_CUSPARSE(cusparse##name, parameters, __VA_ARGS__)
#include "warpbeam/cusparse/typed.inc"

WB_DEFINE_CUSPARSE(cusparseXcsric02_zeroPivot, (cusparseHandle_t handle, csric02Info_t info, int* position),
                   zero_pivot(call, info, position))
WB_DEFINE_CUSPARSE(cusparseXcsrilu02_zeroPivot, (cusparseHandle_t handle, csrilu02Info_t info, int* position),
                   zero_pivot(call, info, position))

#define WB_INFO(name, Name)                                                                                           \
  extern "C" __attribute__((visibility("default"))) cusparseStatus_t cusparseCreate##Name##Info(name##Info_t* info) { \
    if (!info) return CUSPARSE_STATUS_INVALID_VALUE;                                                                  \
    *info = new name##Info;                                                                                           \
    return CUSPARSE_STATUS_SUCCESS;                                                                                   \
  }                                                                                                                   \
  extern "C" __attribute__((visibility("default"))) cusparseStatus_t cusparseDestroy##Name##Info(name##Info_t info) { \
    delete info;                                                                                                      \
    return CUSPARSE_STATUS_SUCCESS;                                                                                   \
  }
WB_INFO(csric02, Csric02)
WB_INFO(csrilu02, Csrilu02)
