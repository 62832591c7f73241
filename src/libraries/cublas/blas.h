// The host's BLAS by type: Blas<float>::gemm is cblas_sgemm. Matrices are stored by columns.
#pragma once
#include <cblas.h>

#include <vector>

#include "libraries/cublas/call.h"

namespace warpbeam::cublas {

inline CBLAS_TRANSPOSE to_blas(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO to_blas(cublasFillMode_t uplo) { return uplo == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower; }
inline CBLAS_SIDE to_blas(cublasSideMode_t side) { return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight; }
inline CBLAS_DIAG to_blas(cublasDiagType_t diag) { return diag == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit; }
inline blasint size(int64_t n) { return static_cast<blasint>(n); }

template <class T>
struct Blas;

// WB_BY is how a scalar is handed over: by value for real numbers, by address for complex ones.
#define WB_BLAS(T, p, WB_BY)                                                                                                              \
  template <>                                                                                                                             \
  struct Blas<T> {                                                                                                                        \
    static void gemm(cublasOperation_t ta, cublasOperation_t tb, int64_t m, int64_t n, int64_t k, T alpha, const T* a, int64_t lda,       \
                     const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {                                                                \
      cblas_##p##gemm(CblasColMajor, to_blas(ta), to_blas(tb), size(m), size(n), size(k), WB_BY alpha, a, size(lda), b, size(ldb),        \
                      WB_BY beta, c, size(ldc));                                                                                          \
    }                                                                                                                                     \
    static void symm(cublasSideMode_t side, cublasFillMode_t uplo, int64_t m, int64_t n, T alpha, const T* a, int64_t lda, const T* b,    \
                     int64_t ldb, T beta, T* c, int64_t ldc) {                                                                            \
      cblas_##p##symm(CblasColMajor, to_blas(side), to_blas(uplo), size(m), size(n), WB_BY alpha, a, size(lda), b, size(ldb), WB_BY beta, \
                      c, size(ldc));                                                                                                      \
    }                                                                                                                                     \
    static void syrk(cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, T alpha, const T* a, int64_t lda, T beta, T* c,   \
                     int64_t ldc) {                                                                                                       \
      cblas_##p##syrk(CblasColMajor, to_blas(uplo), to_blas(op), size(n), size(k), WB_BY alpha, a, size(lda), WB_BY beta, c, size(ldc));  \
    }                                                                                                                                     \
    static void trmm(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int64_t m, int64_t n,     \
                     T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {                                                               \
      cblas_##p##trmm(CblasColMajor, to_blas(side), to_blas(uplo), to_blas(op), to_blas(diag), size(m), size(n), WB_BY alpha, a,          \
                      size(lda), b, size(ldb));                                                                                           \
    }                                                                                                                                     \
    static void trsm(cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t op, cublasDiagType_t diag, int64_t m, int64_t n,     \
                     T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {                                                               \
      cblas_##p##trsm(CblasColMajor, to_blas(side), to_blas(uplo), to_blas(op), to_blas(diag), size(m), size(n), WB_BY alpha, a,          \
                      size(lda), b, size(ldb));                                                                                           \
    }                                                                                                                                     \
  };
WB_BLAS(float, s, )
WB_BLAS(double, d, )
WB_BLAS(Complex, c, &)
WB_BLAS(DoubleComplex, z, &)
#undef WB_BLAS

inline void hemm(CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, Complex alpha, const Complex* a, int64_t lda, const Complex* b,
                 int64_t ldb, Complex beta, Complex* c, int64_t ldc) {
  cblas_chemm(CblasColMajor, side, uplo, size(m), size(n), &alpha, a, size(lda), b, size(ldb), &beta, c, size(ldc));
}
inline void hemm(CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, DoubleComplex alpha, const DoubleComplex* a, int64_t lda,
                 const DoubleComplex* b, int64_t ldb, DoubleComplex beta, DoubleComplex* c, int64_t ldc) {
  cblas_zhemm(CblasColMajor, side, uplo, size(m), size(n), &alpha, a, size(lda), b, size(ldb), &beta, c, size(ldc));
}
inline void herk(CBLAS_UPLO uplo, CBLAS_TRANSPOSE op, int64_t n, int64_t k, float alpha, const Complex* a, int64_t lda, float beta,
                 Complex* c, int64_t ldc) {
  cblas_cherk(CblasColMajor, uplo, op, size(n), size(k), alpha, a, size(lda), beta, c, size(ldc));
}
inline void herk(CBLAS_UPLO uplo, CBLAS_TRANSPOSE op, int64_t n, int64_t k, double alpha, const DoubleComplex* a, int64_t lda, double beta,
                 DoubleComplex* c, int64_t ldc) {
  cblas_zherk(CblasColMajor, uplo, op, size(n), size(k), alpha, a, size(lda), beta, c, size(ldc));
}

// --- products --------------------------------------------------------------------------------------------------------

struct Product {
  cublasOperation_t a, b;
  int64_t m, n, k;
  int64_t rows_a() const { return a == CUBLAS_OP_N ? m : k; }
  int64_t columns_a() const { return a == CUBLAS_OP_N ? k : m; }
  int64_t rows_b() const { return b == CUBLAS_OP_N ? k : n; }
  int64_t columns_b() const { return b == CUBLAS_OP_N ? n : k; }
  bool empty() const { return m == 0 || n == 0; }
  size_t effort() const { return static_cast<size_t>(m) * static_cast<size_t>(n) * static_cast<size_t>(k + 1); }
  void check(const Call& call, int64_t lda, int64_t ldb, int64_t ldc) const {
    cublas::check(call, a);
    cublas::check(call, b);
    call.require(m >= 0 && n >= 0 && k >= 0);
    check_lead(call, lda, rows_a());
    check_lead(call, ldb, rows_b());
    check_lead(call, ldc, m);
    fits(call, {m, n, k, lda, ldb, ldc});
  }
  // The host's BLAS counts with 32 bits.
  static void fits(const Call& call, std::initializer_list<int64_t> sizes) {
    for (int64_t s : sizes) call.support(s <= 0x7fffffff);
  }
};

// C = alpha op(A) op(B) + beta C, asked of the device's memory first. A, B and C are read only where they matter.
template <class T>
void run_product(Memory& memory, const Product& p, T alpha, const T* a, int64_t lda, const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (p.empty()) return;
  if (alpha != T{0} && p.k > 0) {
    read_matrix(memory, a, p.rows_a(), p.columns_a(), lda, sizeof(T));
    read_matrix(memory, b, p.rows_b(), p.columns_b(), ldb, sizeof(T));
  }
  if (beta != T{0}) read_matrix(memory, c, p.m, p.n, ldc, sizeof(T));
  write_matrix(memory, c, p.m, p.n, ldc, sizeof(T));
  Blas<T>::gemm(p.a, p.b, p.m, p.n, p.k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Halves are multiplied as floats and rounded once.
inline void run_product(Memory& memory, const Product& p, Half alpha, const Half* a, int64_t lda, const Half* b, int64_t ldb, Half beta,
                        Half* c, int64_t ldc);

struct AnyMatrix {
  AnyMatrix(const void* base, cudaDataType type, int64_t lead) : base(const_cast<void*>(base)), type(type), lead(lead) {}
  void* base;
  cudaDataType type;
  int64_t lead;
};

// The same for matrices whose types are named at run time, computed in numbers of type W.
template <class W>
void run_any_product(Memory& memory, const Product& p, W alpha, const AnyMatrix& a, const AnyMatrix& b, W beta, const AnyMatrix& c);

// A matrix as numbers of another type, side by side.
template <class W>
std::vector<W> converted(const AnyMatrix& m, int64_t rows, int64_t columns) {
  std::vector<W> out(static_cast<size_t>(rows) * static_cast<size_t>(columns));
  with_type<int>(m.type, 0, [&]<class T>(T*) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) out[j * rows + i] = convert<W>(static_cast<const T*>(m.base)[j * m.lead + i]);
    return 0;
  });
  return out;
}

template <class W>
void run_any_product(Memory& memory, const Product& p, W alpha, const AnyMatrix& a, const AnyMatrix& b, W beta, const AnyMatrix& c) {
  if (p.empty()) return;
  // Products of bytes are exact in double, however many are added.
  using Factor = std::conditional_t<std::is_integral_v<W>, double, W>;
  std::vector<Factor> product(static_cast<size_t>(p.m) * static_cast<size_t>(p.n));
  if (alpha != W{0} && p.k > 0) {
    read_matrix(memory, a.base, p.rows_a(), p.columns_a(), a.lead, bytes_of(a.type));
    read_matrix(memory, b.base, p.rows_b(), p.columns_b(), b.lead, bytes_of(b.type));
    const auto left = converted<Factor>(a, p.rows_a(), p.columns_a()), right = converted<Factor>(b, p.rows_b(), p.columns_b());
    Blas<Factor>::gemm(p.a, p.b, p.m, p.n, p.k, Factor(1), left.data(), std::max<int64_t>(1, p.rows_a()), right.data(),
                       std::max<int64_t>(1, p.rows_b()), Factor(0), product.data(), p.m);
  }
  if (beta != W{0}) read_matrix(memory, c.base, p.m, p.n, c.lead, bytes_of(c.type));
  write_matrix(memory, c.base, p.m, p.n, c.lead, bytes_of(c.type));
  with_type<int>(c.type, 0, [&]<class T>(T*) {
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t i = 0; i < p.m; ++i) {
        T& to = static_cast<T*>(c.base)[j * c.lead + i];
        if constexpr (std::is_integral_v<W>) {  // wraps around, as 32-bit integers do
          uint32_t sum = static_cast<uint32_t>(alpha) * static_cast<uint32_t>(static_cast<int64_t>(product[j * p.m + i]));
          if (beta != W{0}) sum += static_cast<uint32_t>(beta) * static_cast<uint32_t>(convert<int32_t>(to));
          to = convert<T>(static_cast<int32_t>(sum));
        } else {
          W value = alpha * product[j * p.m + i];
          if (beta != W{0}) value += beta * convert<W>(to);
          to = convert<T>(value);
        }
      }
    return 0;
  });
}

inline void run_product(Memory& memory, const Product& p, Half alpha, const Half* a, int64_t lda, const Half* b, int64_t ldb, Half beta,
                        Half* c, int64_t ldc) {
  run_any_product<float>(memory, p, static_cast<float>(alpha), {a, CUDA_R_16F, lda}, {b, CUDA_R_16F, ldb}, static_cast<float>(beta),
                         {c, CUDA_R_16F, ldc});
}

}  // namespace warpbeam::cublas
