#include "libraries/cublas/gemm_ex.h"

namespace warpbeam::cublas {

namespace {

// What a compute type and the matrices' types make of a product: in which numbers it is computed, and which type its
// scalars have. Combinations that cuBLAS's table does not have are refused.
struct Plan {
  cudaDataType numbers, scalars;
};

bool among(cudaDataType type, std::initializer_list<cudaDataType> types) {
  for (cudaDataType t : types)
    if (t == type) return true;
  return false;
}

Plan plan_of(const Call& call, cublasComputeType_t compute, cudaDataType a, cudaDataType b, cudaDataType c) {
  auto known = [&](bool holds) { call.support(holds); };
  const bool complex = a == CUDA_C_32F || a == CUDA_C_64F;
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: known(a == CUDA_R_16F && b == CUDA_R_16F && c == CUDA_R_16F); return {CUDA_R_32F, CUDA_R_16F};
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: known(a == CUDA_R_8I && b == CUDA_R_8I && c == CUDA_R_32I); return {CUDA_R_32I, CUDA_R_32I};
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: known(a == b && a == c && among(a, {CUDA_R_64F, CUDA_C_64F})); return {a, a};
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      known(a == b);
      if (complex) {
        known(a == CUDA_C_32F && c == CUDA_C_32F);
        return {CUDA_C_32F, CUDA_C_32F};
      }
      known((a == CUDA_R_32F && c == CUDA_R_32F) || (a == CUDA_R_16F && among(c, {CUDA_R_16F, CUDA_R_32F})) ||
            (a == CUDA_R_16BF && among(c, {CUDA_R_16BF, CUDA_R_32F})) || (a == CUDA_R_8I && c == CUDA_R_32F));
      return {CUDA_R_32F, CUDA_R_32F};
  }
  throw Refused{CUBLAS_STATUS_INVALID_VALUE};
}

LateScalar scalar(const Call& call, const void* at, cudaDataType type) {
  call.require(at);
  if (call.scalars_on_device()) return {{}, at, type};
  return {load(at, type, 0), nullptr, type};
}

void run(Memory& memory, const Product& p, cudaDataType numbers, DoubleComplex alpha, const AnyMatrix& a, const AnyMatrix& b,
         DoubleComplex beta, const AnyMatrix& c) {
  with_type<int>(numbers, 0, [&]<class W>(W*) {
    if constexpr (std::is_same_v<W, Half> || std::is_same_v<W, BFloat> || std::is_same_v<W, int8_t>) return 0;
    else {
      const W s = convert<W>(alpha), k = convert<W>(beta);
      if constexpr (!std::is_integral_v<W>)
        if (a.type == numbers && b.type == numbers && c.type == numbers) {
          run_product(memory, p, s, static_cast<const W*>(a.base), a.lead, static_cast<const W*>(b.base), b.lead, k,
                      static_cast<W*>(c.base), c.lead);
          return 0;
        }
      run_any_product<W>(memory, p, s, a, b, k, c);
      return 0;
    }
  });
}

AnyMatrix at(const AnyMatrix& m, int64_t element) {
  return {static_cast<const char*>(m.base) + element * static_cast<int64_t>(bytes_of(m.type)), m.type, m.lead};
}

// `matrices(memory, i)` gives the i-th three.
template <class Matrices>
cublasStatus_t products(Call& call, const Product& p, const void* alpha, AnyMatrix a, AnyMatrix b, const void* beta, AnyMatrix c,
                        int64_t count, cublasComputeType_t compute, Matrices matrices) {
  const Plan plan = plan_of(call, compute, a.type, b.type, c.type);
  p.check(call, a.lead, b.lead, c.lead);
  call.require(count >= 0);
  const LateScalar s = scalar(call, alpha, plan.scalars), k = scalar(call, beta, plan.scalars);
  if (p.empty() || count == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(p.effort() * count, [=](Memory& memory) {
    const DoubleComplex factor = s.get(memory), keep = k.get(memory);
    for (int64_t i = 0; i < count; ++i) {
      const auto [x, y, z] = matrices(memory, i);
      run(memory, p, plan.numbers, factor, x, y, keep, z);
    }
  });
}

struct Three {
  AnyMatrix a, b, c;
};

}  // namespace

cublasStatus_t gemm_ex(Call& call, const Product& p, const void* alpha, AnyMatrix a, AnyMatrix b, const void* beta, AnyMatrix c,
                       cublasComputeType_t compute) {
  return products(call, p, alpha, a, b, beta, c, 1, compute, [=](Memory&, int64_t) { return Three{a, b, c}; });
}

cublasStatus_t gemm_batched_ex(Call& call, const Product& p, const void* alpha, const void* const a[], AnyMatrix as, const void* const b[],
                               AnyMatrix bs, const void* beta, void* const c[], AnyMatrix cs, int64_t count, cublasComputeType_t compute) {
  return products(call, p, alpha, as, bs, beta, cs, count, compute, [=](Memory& memory, int64_t i) {
    memory.reads(a + i, sizeof *a), memory.reads(b + i, sizeof *b), memory.reads(c + i, sizeof *c);
    return Three{{a[i], as.type, as.lead}, {b[i], bs.type, bs.lead}, {c[i], cs.type, cs.lead}};
  });
}

size_t scalar_bytes(Call& call, cublasComputeType_t compute, cudaDataType a, cudaDataType b, cudaDataType c) {
  return bytes_of(plan_of(call, compute, a, b, c).scalars);
}

cublasStatus_t gemm_strided_ex(Call& call, const Product& p, const void* alpha, AnyMatrix a, int64_t stride_a, AnyMatrix b,
                               int64_t stride_b, const void* beta, AnyMatrix c, int64_t stride_c, int64_t count,
                               cublasComputeType_t compute) {
  return products(call, p, alpha, a, b, beta, c, count, compute,
                  [=](Memory&, int64_t i) { return Three{at(a, i * stride_a), at(b, i * stride_b), at(c, i * stride_c)}; });
}

// As a whole product of which one triangle is kept.
cublasStatus_t syrk_ex(Call& call, cublasFillMode_t uplo, cublasOperation_t op, int64_t n, int64_t k, const void* alpha, AnyMatrix a,
                       const void* beta, AnyMatrix c, bool hermitian) {
  check(call, uplo);
  check(call, op);
  call.require(op != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C));
  call.require(n >= 0 && k >= 0);
  const int64_t rows = op == CUBLAS_OP_N ? n : k;
  check_lead(call, a.lead, rows);
  check_lead(call, c.lead, n);
  Product::fits(call, {n, k, a.lead, c.lead});
  call.support(a.type == CUDA_C_32F && c.type == CUDA_C_32F);
  const cudaDataType type = hermitian ? CUDA_R_32F : CUDA_C_32F;
  const LateScalar s = scalar(call, alpha, type), keep = scalar(call, beta, type);
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  return call.submit(static_cast<size_t>(n) * n * (k + 1), [=](Memory& memory) {
    const Complex factor = convert<Complex>(s.get(memory)), kept = convert<Complex>(keep.get(memory));
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER, plain = op == CUBLAS_OP_N;
    const cublasOperation_t other = hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
    auto* from = static_cast<const Complex*>(a.base);
    auto* to = static_cast<Complex*>(c.base);
    std::vector<Complex> product(static_cast<size_t>(n) * n);
    if (factor != Complex{} && k > 0) {
      read_matrix(memory, from, rows, plain ? k : n, a.lead, sizeof(Complex));
      Blas<Complex>::gemm(plain ? CUBLAS_OP_N : other, plain ? other : CUBLAS_OP_N, n, n, k, factor, from, a.lead, from, a.lead, Complex{},
                          product.data(), n);
    }
    if (kept != Complex{}) touch_triangle(memory, to, n, c.lead, sizeof(Complex), upper, false);
    touch_triangle(memory, to, n, c.lead, sizeof(Complex), upper, true);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = upper ? 0 : j; i <= (upper ? j : n - 1); ++i) {
        Complex value = product[j * n + i];
        if (kept != Complex{}) value += kept * to[j * c.lead + i];
        to[j * c.lead + i] = hermitian && i == j ? Complex(value.real()) : value;
      }
  });
}

}  // namespace warpbeam::cublas
