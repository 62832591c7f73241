// Matrices.
#include "libraries/cublas/blas.h"
#include "libraries/cublas/gemm_ex.h"

namespace warpbeam::cublas {

namespace {

// --- general products ----------------------------------------------------------------------------------------------------

template <class T>
cublasStatus_t gemm(Call& call, const Product& p, const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const T* beta, T* c,
                    int64_t ldc) {
  p.check(call, lda, ldb, ldc);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (p.empty()) return CUBLAS_STATUS_SUCCESS;
  return call.submit(p.effort(), [=](Memory& memory) {
    run_product(memory, p, factor.get(memory), values(a), lda, values(b), ldb, keep.get(memory), values(c), ldc);
  });
}

template <class T>
cublasStatus_t gemm_batched(Call& call, const Product& p, const T* alpha, const T* const a[], int64_t lda, const T* const b[], int64_t ldb,
                            const T* beta, T* const c[], int64_t ldc, int64_t count) {
  p.check(call, lda, ldb, ldc);
  call.require(count >= 0);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (p.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(p.effort() * count, [=](Memory& memory) {
    const auto s = factor.get(memory), k = keep.get(memory);
    const size_t bytes = static_cast<size_t>(count) * sizeof(void*);
    memory.reads(a, bytes), memory.reads(b, bytes), memory.reads(c, bytes);
    for (int64_t i = 0; i < count; ++i) run_product(memory, p, s, values(a[i]), lda, values(b[i]), ldb, k, values(c[i]), ldc);
  });
}

template <class T>
cublasStatus_t gemm_strided(Call& call, const Product& p, const T* alpha, const T* a, int64_t lda, int64_t stride_a, const T* b,
                            int64_t ldb, int64_t stride_b, const T* beta, T* c, int64_t ldc, int64_t stride_c, int64_t count) {
  p.check(call, lda, ldb, ldc);
  call.require(count >= 0);
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (p.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(p.effort() * count, [=](Memory& memory) {
    const auto s = factor.get(memory), k = keep.get(memory);
    for (int64_t i = 0; i < count; ++i)
      run_product(memory, p, s, values(a + i * stride_a), lda, values(b + i * stride_b), ldb, k, values(c + i * stride_c), ldc);
  });
}

// As below, for types that are named at run time. Everything is looked at before the first group is queued.
template <class Index>
cublasStatus_t gemm_grouped_ex(Call& call, const cublasOperation_t op_a[], const cublasOperation_t op_b[], const Index m[], const Index n[],
                               const Index k[], const void* alpha, const void* const a[], cudaDataType type_a, const Index lda[],
                               const void* const b[], cudaDataType type_b, const Index ldb[], const void* beta, void* const c[],
                               cudaDataType type_c, const Index ldc[], Index groups, const Index group_size[],
                               cublasComputeType_t compute) {
  call.require(groups >= 0);
  if (groups == 0) return CUBLAS_STATUS_SUCCESS;
  call.require(op_a && op_b && m && n && k && alpha && beta && lda && ldb && ldc && group_size);
  call.support(!call.scalars_on_device());  // the arrays of scalars are the host's
  const size_t scalar = scalar_bytes(call, compute, type_a, type_b, type_c);
  const auto product = [&](Index g) { return Product{op_a[g], op_b[g], m[g], n[g], k[g]}; };
  for (Index g = 0; g < groups; ++g) product(g).check(call, lda[g], ldb[g], ldc[g]), call.require(group_size[g] >= 0);
  int64_t before = 0;
  for (Index g = 0; g < groups; before += group_size[g++]) {
    const cublasStatus_t status =
        gemm_batched_ex(call, product(g), static_cast<const char*>(alpha) + g * scalar, a + before, {nullptr, type_a, lda[g]}, b + before,
                        {nullptr, type_b, ldb[g]}, static_cast<const char*>(beta) + g * scalar, c + before, {nullptr, type_c, ldc[g]},
                        group_size[g], compute);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// The sizes and scalars of the groups are the host's, the matrices' addresses the device's.
template <class T, class Index>
cublasStatus_t gemm_grouped(Call& call, const cublasOperation_t op_a[], const cublasOperation_t op_b[], const Index m[], const Index n[],
                            const Index k[], const T alpha[], const T* const a[], const Index lda[], const T* const b[], const Index ldb[],
                            const T beta[], T* const c[], const Index ldc[], Index groups, const Index group_size[]) {
  call.require(groups >= 0);
  if (groups == 0) return CUBLAS_STATUS_SUCCESS;
  call.require(op_a && op_b && m && n && k && alpha && beta && lda && ldb && ldc && group_size);
  struct Group {
    Product p;
    T alpha, beta;
    int64_t lda, ldb, ldc, count;
  };
  std::vector<Group> all;
  size_t effort = 0, total = 0;
  for (Index g = 0; g < groups; ++g) {
    all.push_back({{op_a[g], op_b[g], m[g], n[g], k[g]}, alpha[g], beta[g], lda[g], ldb[g], ldc[g], group_size[g]});
    all.back().p.check(call, lda[g], ldb[g], ldc[g]);
    call.require(group_size[g] >= 0);
    effort += all.back().p.effort() * group_size[g];
    total += group_size[g];
  }
  return call.submit(effort, [=](Memory& memory) {
    memory.reads(a, total * sizeof(void*)), memory.reads(b, total * sizeof(void*)), memory.reads(c, total * sizeof(void*));
    size_t at = 0;
    for (const Group& g : all)
      for (int64_t i = 0; i < g.count; ++i, ++at) run_product(memory, g.p, g.alpha, a[at], g.lda, b[at], g.ldb, g.beta, c[at], g.ldc);
  });
}

// --- symmetric and hermitian ones ------------------------------------------------------------------------------------------

template <class T>
cublasStatus_t symm(Call& call, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m, int64_t n, const T* alpha, const T* a, int64_t lda,
                    const T* b, int64_t ldb, const T* beta, T* c, int64_t ldc, bool hermitian) {
  using V = Value<T>;
  check(call, side);
  check(call, uplo);
  call.require(m >= 0 && n >= 0);
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  check_lead(call, lda, order);
  check_lead(call, ldb, m);
  check_lead(call, ldc, m);
  Product::fits(call, {m, n, lda, ldb, ldc});
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(m) * n * order, [=](Memory& memory) {
    const V s = factor.get(memory), k = keep.get(memory);
    if (s != V{0}) {
      touch_triangle(memory, a, order, lda, sizeof(V), uplo == CUBLAS_FILL_MODE_UPPER, false);
      read_matrix(memory, b, m, n, ldb, sizeof(V));
    }
    if (k != V{0}) read_matrix(memory, c, m, n, ldc, sizeof(V));
    write_matrix(memory, c, m, n, ldc, sizeof(V));
    if constexpr (is_complex<V>) {
      if (hermitian) return hemm(to_blas(side), to_blas(uplo), m, n, s, values(a), lda, values(b), ldb, k, values(c), ldc);
    }
    Blas<V>::symm(side, uplo, m, n, s, values(a), lda, values(b), ldb, k, values(c), ldc);
  });
}

// Which operations a rank update knows: complex matrices have two ways to be transposed, but each kind of update has one.
template <class T>
void check_rank(const Call& call, cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, bool hermitian) {
  check(call, uplo);
  check(call, op);
  if constexpr (is_complex<Value<T>>) call.require(op != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C));
  call.require(n >= 0 && k >= 0);
}

template <class S, class T>
cublasStatus_t syrk(Call& call, cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, const S* alpha, const T* a, int64_t lda,
                    const S* beta, T* c, int64_t ldc, bool hermitian) {
  using V = Value<T>;
  check_rank<T>(call, uplo, op, n, k, hermitian);
  const int64_t rows = op == CUBLAS_OP_N ? n : k, columns = op == CUBLAS_OP_N ? k : n;
  check_lead(call, lda, rows);
  check_lead(call, ldc, n);
  Product::fits(call, {n, k, lda, ldc});
  const auto factor = call.scalar(alpha), keep = call.scalar(beta);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * (k + 1), [=](Memory& memory) {
    const auto s = factor.get(memory), b = keep.get(memory);
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    using Factor = std::remove_cvref_t<decltype(s)>;
    if (s != Factor{0} && k > 0) read_matrix(memory, a, rows, columns, lda, sizeof(V));
    if (b != Factor{0}) touch_triangle(memory, c, n, ldc, sizeof(V), upper, false);
    touch_triangle(memory, c, n, ldc, sizeof(V), upper, true);
    if constexpr (is_complex<V> && !is_complex<Factor>) herk(to_blas(uplo), to_blas(op), n, k, s, values(a), lda, b, values(c), ldc);
    else Blas<V>::syrk(uplo, op, n, k, s, values(a), lda, b, values(c), ldc);
  });
}

enum class Ranks { Both, First };

// C = alpha op(A) op(B)^t (+ its mirror image) + beta C: the product as a whole, of which one triangle is kept. A real beta
// over complex matrices tells hermitian updates.
template <class T, class S>
cublasStatus_t syr2k(Call& call, cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, const T* alpha, const T* a, int64_t lda,
                     const T* b, int64_t ldb, const S* beta, T* c, int64_t ldc, Ranks ranks) {
  using V = Value<T>;
  constexpr bool hermitian = is_complex<V> && !is_complex<Value<S>>;
  check_rank<T>(call, uplo, op, n, k, hermitian);
  const int64_t rows = op == CUBLAS_OP_N ? n : k, columns = op == CUBLAS_OP_N ? k : n;
  check_lead(call, lda, rows);
  check_lead(call, ldb, rows);
  check_lead(call, ldc, n);
  Product::fits(call, {n, k, lda, ldb, ldc});
  const auto factor = call.scalar(alpha);
  const auto keep = call.scalar(beta);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * (k + 1), [=](Memory& memory) {
    const V s = factor.get(memory);
    const V kept = V(keep.get(memory));
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    std::vector<V> product(static_cast<size_t>(n) * static_cast<size_t>(n));
    if (s != V{0} && k > 0) {
      read_matrix(memory, a, rows, columns, lda, sizeof(V));
      read_matrix(memory, b, rows, columns, ldb, sizeof(V));
      const cublasOperation_t other = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
      const bool plain = op == CUBLAS_OP_N;
      Blas<V>::gemm(plain ? CUBLAS_OP_N : other, plain ? other : CUBLAS_OP_N, n, n, k, s, values(a), lda, values(b), ldb, V{0},
                    product.data(), n);
    }
    if (kept != V{0}) touch_triangle(memory, c, n, ldc, sizeof(V), upper, false);
    touch_triangle(memory, c, n, ldc, sizeof(V), upper, true);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) {
        V value = product[j * n + i];
        if (ranks == Ranks::Both) value += conjugate_if(hermitian, product[i * n + j]);
        V& to = values(c)[j * ldc + i];
        if (kept != V{0}) value += kept * to;
        to = hermitian && i == j ? V(real_part(value)) : value;
      }
  });
}

// --- triangles -------------------------------------------------------------------------------------------------------------

struct TriangularShape {
  cublasSideMode_t side;
  cublasFillMode_t uplo;
  cublasOperation_t op;
  cublasDiagType_t diag;
  int64_t m, n;
  int64_t order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  bool empty() const { return m == 0 || n == 0; }
  size_t effort() const { return static_cast<size_t>(m) * n * order(); }
  void check(const Call& call, int64_t lda, int64_t ldb) const {
    cublas::check(call, side);
    cublas::check(call, uplo);
    cublas::check(call, op);
    cublas::check(call, diag);
    call.require(m >= 0 && n >= 0);
    check_lead(call, lda, order());
    check_lead(call, ldb, m);
    Product::fits(call, {m, n, lda, ldb});
  }
};

// The product goes to a place of its own, which may be B's.
template <class T>
cublasStatus_t trmm(Call& call, const TriangularShape& t, const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T* c,
                    int64_t ldc) {
  using V = Value<T>;
  t.check(call, lda, ldb);
  check_lead(call, ldc, t.m);
  const auto factor = call.scalar(alpha);
  if (t.empty()) return CUBLAS_STATUS_SUCCESS;
  return call.submit(t.effort(), [=](Memory& memory) {
    const V s = factor.get(memory);
    write_matrix(memory, c, t.m, t.n, ldc, sizeof(V));
    if (s == V{0}) {
      for (int64_t j = 0; j < t.n; ++j) std::fill_n(values(c) + j * ldc, t.m, V{0});
      return;
    }
    touch_triangle(memory, a, t.order(), lda, sizeof(V), t.uplo == CUBLAS_FILL_MODE_UPPER, false);
    read_matrix(memory, b, t.m, t.n, ldb, sizeof(V));
    if (b != c)
      for (int64_t j = 0; j < t.n; ++j) std::copy_n(values(b) + j * ldb, t.m, values(c) + j * ldc);
    Blas<V>::trmm(t.side, t.uplo, t.op, t.diag, t.m, t.n, s, values(a), lda, values(c), ldc);
  });
}

template <class V>
void run_trsm(Memory& memory, const TriangularShape& t, V alpha, const V* a, int64_t lda, V* b, int64_t ldb) {
  write_matrix(memory, b, t.m, t.n, ldb, sizeof(V));
  if (alpha == V{0}) {
    for (int64_t j = 0; j < t.n; ++j) std::fill_n(b + j * ldb, t.m, V{0});
    return;
  }
  touch_triangle(memory, a, t.order(), lda, sizeof(V), t.uplo == CUBLAS_FILL_MODE_UPPER, false);
  read_matrix(memory, b, t.m, t.n, ldb, sizeof(V));
  Blas<V>::trsm(t.side, t.uplo, t.op, t.diag, t.m, t.n, alpha, a, lda, b, ldb);
}

template <class T>
cublasStatus_t trsm(Call& call, const TriangularShape& t, const T* alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  t.check(call, lda, ldb);
  const auto factor = call.scalar(alpha);
  if (t.empty()) return CUBLAS_STATUS_SUCCESS;
  return call.submit(t.effort(), [=](Memory& memory) { run_trsm(memory, t, factor.get(memory), values(a), lda, values(b), ldb); });
}

template <class T>
cublasStatus_t trsm_batched(Call& call, const TriangularShape& t, const T* alpha, const T* const a[], int64_t lda, T* const b[],
                            int64_t ldb, int64_t count) {
  t.check(call, lda, ldb);
  call.require(count >= 0);
  const auto factor = call.scalar(alpha);
  if (t.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(t.effort() * count, [=](Memory& memory) {
    const auto s = factor.get(memory);
    memory.reads(a, count * sizeof(void*)), memory.reads(b, count * sizeof(void*));
    for (int64_t i = 0; i < count; ++i) run_trsm(memory, t, s, values(a[i]), lda, values(b[i]), ldb);
  });
}

// --- beyond BLAS -------------------------------------------------------------------------------------------------------------

template <class V>
V element(const V* a, int64_t lead, cublasOperation_t op, int64_t i, int64_t j) {
  return op == CUBLAS_OP_N ? a[j * lead + i] : conjugate_if(op == CUBLAS_OP_C, a[i * lead + j]);
}

// C may be A or B, with its leading dimension and not transposed.
template <class T>
cublasStatus_t geam(Call& call, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n, const T* alpha, const T* a,
                    int64_t lda, const T* beta, const T* b, int64_t ldb, T* c, int64_t ldc) {
  using V = Value<T>;
  check(call, op_a);
  check(call, op_b);
  call.require(m >= 0 && n >= 0);
  const bool plain_a = op_a == CUBLAS_OP_N, plain_b = op_b == CUBLAS_OP_N;
  check_lead(call, lda, plain_a ? m : n);
  check_lead(call, ldb, plain_b ? m : n);
  check_lead(call, ldc, m);
  call.require(c != a || (plain_a && lda == ldc));
  call.require(c != b || (plain_b && ldb == ldc));
  const auto factor = call.scalar(alpha), other = call.scalar(beta);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(m) * n * sizeof(V), [=](Memory& memory) {
    const V s = factor.get(memory), t = other.get(memory);
    const bool has_a = s != V{0}, has_b = t != V{0};
    if (has_a) read_matrix(memory, a, plain_a ? m : n, plain_a ? n : m, lda, sizeof(V));
    if (has_b) read_matrix(memory, b, plain_b ? m : n, plain_b ? n : m, ldb, sizeof(V));
    write_matrix(memory, c, m, n, ldc, sizeof(V));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        V sum{};
        if (has_a) sum += s * element(values(a), lda, op_a, i, j);
        if (has_b) sum += t * element(values(b), ldb, op_b, i, j);
        values(c)[j * ldc + i] = sum;
      }
  });
}

template <class T>
cublasStatus_t dgmm(Call& call, cublasSideMode_t side, int64_t m, int64_t n, const T* a, int64_t lda, const T* x, int64_t inc, T* c,
                    int64_t ldc) {
  using V = Value<T>;
  check(call, side);
  call.require(m >= 0 && n >= 0);
  check_lead(call, lda, m);
  check_lead(call, ldc, m);
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool rows = side == CUBLAS_SIDE_LEFT;
  return call.submit(static_cast<size_t>(m) * n * sizeof(V), [=, v = vector(x, rows ? m : n, inc)](Memory& memory) {
    v.reads(memory);
    read_matrix(memory, a, m, n, lda, sizeof(V));
    write_matrix(memory, c, m, n, ldc, sizeof(V));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) values(c)[j * ldc + i] = values(a)[j * lda + i] * v[rows ? i : j];
  });
}

}  // namespace
}  // namespace warpbeam::cublas

using namespace warpbeam::cublas;

#include "warpbeam/cublas/types.inc"
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name, parameters, __VA_ARGS__)
#define WB_INT int
#include "warpbeam/cublas/level3.inc"
#undef WB_CUBLAS
#undef WB_INT
#define WB_CUBLAS(name, parameters, ...) WB_DEFINE_CUBLAS(cublas##name##_64, parameters, __VA_ARGS__)
#define WB_INT int64_t
#include "warpbeam/cublas/level3.inc"
