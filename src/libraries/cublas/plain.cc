// Rotations that are made, factorisations of many small matrices, and packed triangles.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "libraries/cublas/call.h"
#include "libraries/numeric/lapack.h"

namespace warpbeam::cublas {

namespace {

// --- rotations: on host or device, as the pointer mode says ---------------------------------------------------------------

template <class T>
void make_rotation(T& a, T& b, T& c, T& s) {
  const T larger = std::abs(a) > std::abs(b) ? a : b, scale = std::abs(a) + std::abs(b);
  if (scale == 0) {
    c = 1, s = 0, a = 0, b = 0;
    return;
  }
  const T r = std::copysign(scale * std::sqrt(a / scale * (a / scale) + b / scale * (b / scale)), larger);
  c = a / r, s = b / r;
  const T z = std::abs(a) > std::abs(b) ? s : c != 0 ? 1 / c : T(1);
  a = r, b = z;
}

template <class R>
void make_rotation(std::complex<R>& a, std::complex<R>& b, R& c, std::complex<R>& s) {
  const R size = std::abs(a);
  if (size == 0) {
    c = 0, s = 1, a = b;
    return;
  }
  const R scale = size + std::abs(b);
  const R norm = scale * std::sqrt(std::norm(a / scale) + std::norm(b / scale));
  const std::complex<R> direction = a / size;
  c = size / norm, s = direction * std::conj(b) / norm, a = direction * norm;
}

template <class T, class R>
cublasStatus_t rotg(Call& call, T* a, T* b, R* c, T* s) {
  call.require(a && b && c && s);
  if (!call.scalars_on_device()) {
    make_rotation(*values(a), *values(b), *values(c), *values(s));
    return CUBLAS_STATUS_SUCCESS;
  }
  return call.submit(0, [=](Memory& memory) {
    memory.reads(a, sizeof *a), memory.reads(b, sizeof *b);
    memory.writes(a, sizeof *a), memory.writes(b, sizeof *b), memory.writes(c, sizeof *c), memory.writes(s, sizeof *s);
    make_rotation(*values(a), *values(b), *values(c), *values(s));
  });
}

void make_modified(float* d1, float* d2, float* x1, float y1, float* param) { cblas_srotmg(d1, d2, x1, y1, param); }
void make_modified(double* d1, double* d2, double* x1, double y1, double* param) { cblas_drotmg(d1, d2, x1, y1, param); }

template <class T>
cublasStatus_t rotmg(Call& call, T* d1, T* d2, T* x1, const T* y1, T* param) {
  call.require(d1 && d2 && x1 && y1 && param);
  if (!call.scalars_on_device()) {
    make_modified(d1, d2, x1, *y1, param);
    return CUBLAS_STATUS_SUCCESS;
  }
  return call.submit(0, [=](Memory& memory) {
    for (T* p : {d1, d2, x1}) memory.reads(p, sizeof(T)), memory.writes(p, sizeof(T));
    memory.reads(y1, sizeof(T)), memory.writes(param, 5 * sizeof(T));
    make_modified(d1, d2, x1, *y1, param);
  });
}

// --- many small matrices ------------------------------------------------------------------------------------------------

// Gauss without a choice of pivots. Gives the first column whose pivot is zero, counted from 1, or 0.
template <class V>
int factor_in_place(int n, V* a, int lda) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    V* column = a + static_cast<size_t>(k) * lda;
    if (column[k] == V{0}) {
      if (!info) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < n; ++i) column[i] /= column[k];
    for (int j = k + 1; j < n; ++j) {
      V* other = a + static_cast<size_t>(j) * lda;
      for (int i = k + 1; i < n; ++i) other[i] -= column[i] * other[k];
    }
  }
  return info;
}

template <class P>
void read_addresses(Memory& memory, P pointers, int count) {
  memory.reads(pointers, static_cast<size_t>(count) * sizeof(void*));
}

template <class V>
std::vector<V> copy_of(const V* a, int rows, int columns, int lead) {
  std::vector<V> out(static_cast<size_t>(rows) * columns);
  for (int j = 0; j < columns; ++j) std::copy_n(a + static_cast<size_t>(j) * lead, rows, out.data() + static_cast<size_t>(j) * rows);
  return out;
}

std::vector<int> pivots_or_identity(Memory& memory, const int* pivots, int n, int which) {
  std::vector<int> out(n);
  for (int i = 0; i < n; ++i) out[i] = i + 1;
  if (!pivots) return out;
  const int* mine = pivots + static_cast<size_t>(which) * n;
  memory.reads(mine, n * sizeof(int));
  out.assign(mine, mine + n);
  // Pivots that no factorisation gave would lead outside of the matrix.
  for (int i = 0; i < n; ++i)
    if (out[i] < 1 || out[i] > n) out[i] = i + 1;
  return out;
}

size_t cube(int n, int count) { return static_cast<size_t>(n) * n * n * count; }

template <class T>
cublasStatus_t getrf_batched(Call& call, int n, T* const a[], int lda, int* pivots, int* info, int count) {
  call.require(n >= 0 && count >= 0);
  check_lead(call, lda, n);
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(cube(n, count), [=](Memory& memory) {
    read_addresses(memory, a, count);
    memory.writes(info, count * sizeof(int));
    for (int k = 0; k < count; ++k) {
      auto* m = values(a[k]);
      read_matrix(memory, m, n, n, lda, sizeof *m);
      write_matrix(memory, m, n, n, lda, sizeof *m);
      if (pivots) memory.writes(pivots + static_cast<size_t>(k) * n, n * sizeof(int));
      info[k] = pivots ? lapack::getrf(n, n, m, lda, pivots + static_cast<size_t>(k) * n) : factor_in_place(n, m, lda);
    }
  });
}

// The inverse of what getrf made of a matrix whose U has zeros on its diagonal, by plain arithmetic: LAPACK gives none, but programs
// see by the infinities and NaNs that GPUs give that there is none.
template <class V>
void divide_anyhow(int n, const V* factors, const std::vector<int>& pivots, V* out, int lead) {
  for (int j = 0; j < n; ++j) {
    V* x = out + static_cast<size_t>(j) * lead;
    for (int i = 0; i < n; ++i) x[i] = V(i == j ? 1 : 0);
    for (int i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < i; ++k) x[i] -= factors[static_cast<size_t>(k) * n + i] * x[k];
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) x[i] -= factors[static_cast<size_t>(k) * n + i] * x[k];
      x[i] /= factors[static_cast<size_t>(i) * n + i];
    }
  }
}

template <class T>
cublasStatus_t getri_batched(Call& call, int n, const T* const a[], int lda, const int* pivots, T* const c[], int ldc, int* info,
                             int count) {
  call.require(n >= 0 && count >= 0);
  check_lead(call, lda, n);
  check_lead(call, ldc, n);
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(cube(n, count), [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, c, count);
    memory.writes(info, count * sizeof(int));
    for (int k = 0; k < count; ++k) {
      const auto* from = values(a[k]);
      auto* to = values(c[k]);
      read_matrix(memory, from, n, n, lda, sizeof *from);
      write_matrix(memory, to, n, n, ldc, sizeof *to);
      auto m = copy_of(from, n, n, lda);
      const std::vector<int> order = pivots_or_identity(memory, pivots, n, k);
      const auto factors = m;
      info[k] = lapack::getri(n, m.data(), n, order.data());
      if (info[k] > 0) divide_anyhow(n, factors.data(), order, to, ldc);
      if (info[k] == 0)
        for (int j = 0; j < n; ++j) std::copy_n(m.data() + static_cast<size_t>(j) * n, n, to + static_cast<size_t>(j) * ldc);
    }
  });
}

// `info` is the host's here: it tells wrong arguments.
template <class T>
cublasStatus_t getrs_batched(Call& call, cublasOperation_t op, int n, int columns, const T* const a[], int lda, const int* pivots,
                             T* const b[], int ldb, int* info, int count) {
  check(call, op);
  call.require(info);
  const int wrong = n < 0 ? -2 : columns < 0 ? -3 : lda < std::max(1, n) ? -5 : ldb < std::max(1, n) ? -8 : count < 0 ? -10 : 0;
  *info = wrong;
  call.require(!wrong);
  if (n == 0 || columns == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * columns * count, [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, b, count);
    for (int k = 0; k < count; ++k) {
      const auto* m = values(a[k]);
      auto* to = values(b[k]);
      read_matrix(memory, m, n, n, lda, sizeof *m);
      read_matrix(memory, to, n, columns, ldb, sizeof *to);
      write_matrix(memory, to, n, columns, ldb, sizeof *to);
      const std::vector<int> order = pivots_or_identity(memory, pivots, n, k);
      lapack::getrs(op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C', n, columns, m, lda, order.data(), to, ldb);
    }
  });
}

template <class T>
cublasStatus_t matinv_batched(Call& call, int n, const T* const a[], int lda, T* const inverse[], int ldi, int* info, int count) {
  call.require(n >= 0 && count >= 0);
  check_lead(call, lda, n);
  check_lead(call, ldi, n);
  call.require(n <= 32);
  if (n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(cube(n, count), [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, inverse, count);
    memory.writes(info, count * sizeof(int));
    for (int k = 0; k < count; ++k) {
      const auto* from = values(a[k]);
      auto* to = values(inverse[k]);
      read_matrix(memory, from, n, n, lda, sizeof *from);
      write_matrix(memory, to, n, n, ldi, sizeof *to);
      auto m = copy_of(from, n, n, lda);
      std::vector<int> order(n);
      info[k] = lapack::getrf(n, n, m.data(), n, order.data());
      if (info[k] > 0) divide_anyhow(n, m.data(), order, to, ldi);
      if (info[k] == 0) info[k] = lapack::getri(n, m.data(), n, order.data());
      if (info[k] == 0)
        for (int j = 0; j < n; ++j) std::copy_n(m.data() + static_cast<size_t>(j) * n, n, to + static_cast<size_t>(j) * ldi);
    }
  });
}

template <class T>
cublasStatus_t geqrf_batched(Call& call, int m, int n, T* const a[], int lda, T* const tau[], int* info, int count) {
  call.require(info);
  const int wrong = m < 0 ? -1 : n < 0 ? -2 : lda < std::max(1, m) ? -4 : count < 0 ? -7 : 0;
  *info = wrong;
  call.require(!wrong);
  if (m == 0 || n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(m) * n * std::min(m, n) * count, [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, tau, count);
    for (int k = 0; k < count; ++k) {
      auto* to = values(a[k]);
      read_matrix(memory, to, m, n, lda, sizeof *to);
      write_matrix(memory, to, m, n, lda, sizeof *to);
      memory.writes(tau[k], std::min(m, n) * sizeof(T));
      lapack::geqrf(m, n, to, lda, values(tau[k]));
    }
  });
}

template <class T>
cublasStatus_t gels_batched(Call& call, cublasOperation_t op, int m, int n, int columns, T* const a[], int lda, T* const c[], int ldc,
                            int* info, int* device_info, int count) {
  check(call, op);
  call.require(info);
  const int wrong = m < 0                  ? -2
                    : n < 0                ? -3
                    : columns < 0          ? -4
                    : lda < std::max(1, m) ? -6
                    : ldc < std::max(1, m) ? -8
                    : count < 0            ? -11
                                           : 0;
  *info = wrong;
  call.require(!wrong);
  call.support(op == CUBLAS_OP_N && m >= n);  // as documented
  if (m == 0 || n == 0 || columns == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(m) * n * n * count, [=](Memory& memory) {
    read_addresses(memory, a, count), read_addresses(memory, c, count);
    if (device_info) memory.writes(device_info, count * sizeof(int));
    for (int k = 0; k < count; ++k) {
      auto* left = values(a[k]);
      auto* to = values(c[k]);
      read_matrix(memory, left, m, n, lda, sizeof *left), write_matrix(memory, left, m, n, lda, sizeof *left);
      read_matrix(memory, to, m, columns, ldc, sizeof *to), write_matrix(memory, to, m, columns, ldc, sizeof *to);
      const int result = lapack::gels('N', m, n, columns, left, lda, to, ldc);
      if (device_info) device_info[k] = result;
    }
  });
}

// --- packed triangles -----------------------------------------------------------------------------------------------------

template <class T>
cublasStatus_t tpttr(Call& call, cublasFillMode_t uplo, int n, const T* packed, T* a, int lda) {
  check(call, uplo);
  call.require(n >= 0);
  check_lead(call, lda, n);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * sizeof(T), [=](Memory& memory) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    memory.reads(packed, static_cast<size_t>(n) * (n + 1) / 2 * sizeof(T));
    touch_triangle(memory, a, n, lda, sizeof(T), upper, true);
    const T* from = packed;
    for (int j = 0; j < n; ++j)
      for (int i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) a[static_cast<size_t>(j) * lda + i] = *from++;
  });
}

template <class T>
cublasStatus_t trttp(Call& call, cublasFillMode_t uplo, int n, const T* a, int lda, T* packed) {
  check(call, uplo);
  call.require(n >= 0);
  check_lead(call, lda, n);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * sizeof(T), [=](Memory& memory) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    touch_triangle(memory, a, n, lda, sizeof(T), upper, false);
    memory.writes(packed, static_cast<size_t>(n) * (n + 1) / 2 * sizeof(T));
    T* to = packed;
    for (int j = 0; j < n; ++j)
      for (int i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) *to++ = a[static_cast<size_t>(j) * lda + i];
  });
}

}  // namespace
}  // namespace warpbeam::cublas

using namespace warpbeam::cublas;

#include "warpbeam/cublas/types.inc"
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name, parameters, __VA_ARGS__)
#define WB_INT int
#include "warpbeam/cublas/plain.inc"
