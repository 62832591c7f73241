// build: -lcublas
// cublasGemmGroupedBatchedEx: groups of products of halves, bfloat16 and floats, each with sizes and scalars of its own.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(holds)                                            \
  do {                                                            \
    if (!(holds)) {                                               \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #holds);     \
      std::exit(1);                                               \
    }                                                             \
  } while (0)
#define CUDA(call) REQUIRE((call) == cudaSuccess)
#define BLAS(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

static float number() {
  static unsigned seed = 3;
  seed = seed * 1664525u + 1013904223u;
  return float(seed >> 8) / (1 << 24) - 0.5f;
}

template <class T>
static T** table(const std::vector<std::vector<T>>& matrices) {
  std::vector<T*> each;
  for (const auto& one : matrices) {
    T* p;
    CUDA(cudaMalloc(&p, one.size() * sizeof(T)));
    CUDA(cudaMemcpy(p, one.data(), one.size() * sizeof(T), cudaMemcpyHostToDevice));
    each.push_back(p);
  }
  T** all;
  CUDA(cudaMalloc(&all, each.size() * sizeof(T*)));
  CUDA(cudaMemcpy(all, each.data(), each.size() * sizeof(T*), cudaMemcpyHostToDevice));
  return all;
}

template <class T>
static void groups(cublasHandle_t handle, cudaDataType type, float within) {
  const int count = 2, sizes[count] = {2, 3}, m[count] = {3, 5}, n[count] = {4, 2}, k[count] = {6, 7};
  const cublasOperation_t op_a[count] = {CUBLAS_OP_N, CUBLAS_OP_T}, op_b[count] = {CUBLAS_OP_T, CUBLAS_OP_N};
  const int lda[count] = {m[0], k[1]}, ldb[count] = {n[0], k[1]}, ldc[count] = {m[0], m[1]};
  const float alpha[count] = {1.5f, -2}, beta[count] = {0, 0.5f};
  std::vector<std::vector<T>> a, b, c;
  for (int g = 0; g < count; ++g)
    for (int i = 0; i < sizes[g]; ++i) {
      for (auto [matrices, size] : {std::pair(&a, m[g] * k[g]), std::pair(&b, k[g] * n[g]), std::pair(&c, m[g] * n[g])}) {
        matrices->emplace_back(size);
        for (T& x : matrices->back()) x = T(number());
      }
    }
  T **da = table(a), **db = table(b), **dc = table(c);
  BLAS(cublasGemmGroupedBatchedEx(handle, op_a, op_b, m, n, k, alpha, (const void**)da, type, lda, (const void**)db, type, ldb, beta, (void**)dc,
                                  type, ldc, count, sizes, CUBLAS_COMPUTE_32F));
  std::vector<T*> results(c.size());
  CUDA(cudaMemcpy(results.data(), dc, results.size() * sizeof(T*), cudaMemcpyDeviceToHost));
  for (int g = 0, which = 0; g < count; ++g)
    for (int i = 0; i < sizes[g]; ++i, ++which) {
      std::vector<T> got(m[g] * n[g]);
      CUDA(cudaMemcpy(got.data(), results[which], got.size() * sizeof(T), cudaMemcpyDeviceToHost));
      for (int row = 0; row < m[g]; ++row)
        for (int column = 0; column < n[g]; ++column) {
          float sum = 0;
          for (int l = 0; l < k[g]; ++l)
            sum += float(a[which][op_a[g] == CUBLAS_OP_N ? l * lda[g] + row : row * lda[g] + l]) *
                   float(b[which][op_b[g] == CUBLAS_OP_N ? column * ldb[g] + l : l * ldb[g] + column]);
          const float want = alpha[g] * sum + beta[g] * float(c[which][column * ldc[g] + row]);
          REQUIRE(std::fabs(float(got[column * ldc[g] + row]) - want) <= within * (1 + std::fabs(want)));
        }
    }
  const int wrong[count] = {m[0] - 1, k[1]};
  REQUIRE(cublasGemmGroupedBatchedEx(handle, op_a, op_b, m, n, k, alpha, (const void**)da, type, wrong, (const void**)db, type, ldb, beta,
                                     (void**)dc, type, ldc, count, sizes, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_INVALID_VALUE);
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  groups<float>(handle, CUDA_R_32F, 1e-5f);
  groups<__half>(handle, CUDA_R_16F, 1e-3f);
  groups<__nv_bfloat16>(handle, CUDA_R_16BF, 1e-2f);
  BLAS(cublasDestroy(handle));
  std::puts("PASSED");
}
