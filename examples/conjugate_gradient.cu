// Conjugate gradients: a sparse system of the heat equation, with cuSPARSE for the matrix and cuBLAS for the vectors.
// build: -lcusparse -lcublas
// See: the residual falls below the tolerance after far fewer steps than there are unknowns; a kernel makes the matrix.

#include <cublas_v2.h>
#include <cusparse.h>

#include <cmath>
#include <cstdio>

#define CHECK(call)                                                              \
  do {                                                                           \
    if ((call) != 0) return printf("%s failed (line %d)\n", #call, __LINE__), 1; \
  } while (0)

constexpr int kSide = 32, kUnknowns = kSide * kSide, kMost = 5 * kUnknowns;

// One row for each point of a square: 4 on the diagonal, -1 for each neighbour. Row i begins at 5 i less what edges lack.
__global__ void make_matrix(int* offsets, int* columns, float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > kUnknowns) return;
  const int row = i / kSide, column = i % kSide;
  // Points before this one that lack a neighbour: above, below, left, right.
  const int above = min(i, kSide), below = max(0, i - (kUnknowns - kSide)), left = (i + kSide - 1) / kSide, right = i / kSide;
  int at = 5 * i - above - below - left - right;
  offsets[i] = at;
  if (i == kUnknowns) return;
  auto put = [&](bool there, int other, float value) {
    if (there) columns[at] = other, values[at++] = value;
  };
  put(row > 0, i - kSide, -1);
  put(column > 0, i - 1, -1);
  put(true, i, 4);
  put(column < kSide - 1, i + 1, -1);
  put(row < kSide - 1, i + kSide, -1);
}

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

int main() {
  int *offsets, *columns;
  float *values, *x, *r, *p, *q;
  CHECK(cudaMalloc(&offsets, (kUnknowns + 1) * sizeof(int)));
  CHECK(cudaMalloc(&columns, kMost * sizeof(int)));
  CHECK(cudaMalloc(&values, kMost * sizeof(float)));
  for (float** v : {&x, &r, &p, &q}) CHECK(cudaMalloc(v, kUnknowns * sizeof(float)));
  make_matrix<<<kUnknowns / 256 + 1, 256>>>(offsets, columns, values);
  fill<<<kUnknowns / 256, 256>>>(x, 0);
  fill<<<kUnknowns / 256, 256>>>(r, 1);
  int entries;
  CHECK(cudaMemcpy(&entries, offsets + kUnknowns, sizeof entries, cudaMemcpyDeviceToHost));

  cublasHandle_t blas;
  cusparseHandle_t sparse;
  cusparseSpMatDescr_t a;
  cusparseDnVecDescr_t in, out;
  CHECK(cublasCreate(&blas));
  CHECK(cusparseCreate(&sparse));
  CHECK(cusparseCreateCsr(&a, kUnknowns, kUnknowns, entries, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CHECK(cusparseCreateDnVec(&in, kUnknowns, p, CUDA_R_32F));
  CHECK(cusparseCreateDnVec(&out, kUnknowns, q, CUDA_R_32F));
  const float one = 1, zero = 0;
  size_t bytes;
  void* buffer;
  CHECK(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &zero, out, CUDA_R_32F,
                                CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  CHECK(cudaMalloc(&buffer, bytes));

  float squared, before = 0, along;
  int step = 0;
  CHECK(cublasSdot(blas, kUnknowns, r, 1, r, 1, &squared));
  for (; squared > 1e-6f && step < kUnknowns; ++step) {
    if (step == 0) {
      CHECK(cublasScopy(blas, kUnknowns, r, 1, p, 1));
    } else {
      const float beta = squared / before;
      CHECK(cublasSscal(blas, kUnknowns, &beta, p, 1));
      CHECK(cublasSaxpy(blas, kUnknowns, &one, r, 1, p, 1));
    }
    CHECK(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, in, &zero, out, CUDA_R_32F,
                       CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    CHECK(cublasSdot(blas, kUnknowns, p, 1, q, 1, &along));
    const float alpha = squared / along, minus = -alpha;
    CHECK(cublasSaxpy(blas, kUnknowns, &alpha, p, 1, x, 1));
    CHECK(cublasSaxpy(blas, kUnknowns, &minus, q, 1, r, 1));
    before = squared;
    CHECK(cublasSdot(blas, kUnknowns, r, 1, r, 1, &squared));
    if (step % 10 == 0) printf("step %3d: residual %.6f\n", step, std::sqrt(squared));
  }
  printf("%d unknowns: residual %.6f after %d steps\n", kUnknowns, std::sqrt(squared), step);
  CHECK(cusparseDestroyDnVec(in));
  CHECK(cusparseDestroyDnVec(out));
  CHECK(cusparseDestroySpMat(a));
  CHECK(cusparseDestroy(sparse));
  CHECK(cublasDestroy(blas));
  return squared <= 1e-6f && step < 200 ? 0 : 1;
}
