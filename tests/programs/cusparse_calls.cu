// cuSPARSE against dense loops: formats, index bases, operations, products, solvers, conversions, streams, old functions.

// build: -lcusparse
#include <cusparse.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static int failures = 0;
static cusparseHandle_t handle;
static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  if (++failures < 30) printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define DO(call) expect((call) == CUSPARSE_STATUS_SUCCESS, #call, __LINE__)
#define CUDA(call) expect((call) == cudaSuccess, #call, __LINE__)

typedef std::complex<double> Z;
template <class T> struct Type;
template <> struct Type<float> { static const cudaDataType value = CUDA_R_32F; };
template <> struct Type<double> { static const cudaDataType value = CUDA_R_64F; };
template <> struct Type<Z> { static const cudaDataType value = CUDA_C_64F; };
static double conj_if(bool, double x) { return x; }
static float conj_if(bool, float x) { return x; }
static Z conj_if(bool c, Z x) { return c ? std::conj(x) : x; }
template <class T> T draw() { return T((rand() % 201 - 100) / 50.0); }
template <> Z draw<Z>() { return Z((rand() % 201 - 100) / 50.0, (rand() % 201 - 100) / 50.0); }

template <class T>
T* device(const std::vector<T>& from) {
  T* p;
  CUDA(cudaMalloc(&p, (from.size() + 1) * sizeof(T)));
  CUDA(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
std::vector<T> host(const T* p, size_t n) {
  std::vector<T> out(n);
  CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  for (size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= 1e-4 * (1 + std::abs(b[i])))) return false;
  return a.size() == b.size();
}

// A random matrix, dense by columns and in three sparse formats.
template <class T, class Index>
struct Matrix {
  int m, n, base;
  std::vector<T> dense, csr, csc;
  std::vector<Index> row_offsets, columns, column_offsets, rows, coo_rows;
  Matrix(int m, int n, int base, double part = 0.4) : m(m), n(n), base(base), dense(m * n) {
    for (T& x : dense)
      if (rand() % 1000 < part * 1000) x = draw<T>() + T(0.001);
    for (int i = 0; i < m && i < n; ++i) dense[i * m + i] += T(9);
    for (int i = 0; i < m; ++i) {
      row_offsets.push_back(csr.size() + base);
      for (int j = 0; j < n; ++j)
        if (dense[j * m + i] != T(0)) csr.push_back(dense[j * m + i]), columns.push_back(j + base), coo_rows.push_back(i + base);
    }
    row_offsets.push_back(csr.size() + base);
    for (int j = 0; j < n; ++j) {
      column_offsets.push_back(csc.size() + base);
      for (int i = 0; i < m; ++i)
        if (dense[j * m + i] != T(0)) csc.push_back(dense[j * m + i]), rows.push_back(i + base);
    }
    column_offsets.push_back(csc.size() + base);
  }
  T at(cusparseOperation_t op, int i, int j) const {
    return op == CUSPARSE_OPERATION_NON_TRANSPOSE ? dense[j * m + i] : conj_if(op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, dense[i * m + j]);
  }
  cusparseSpMatDescr_t make(int format) const {
    const cusparseIndexType_t type = sizeof(Index) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    const cusparseIndexBase_t b = (cusparseIndexBase_t)base;
    cusparseSpMatDescr_t a;
    const int64_t count = csr.size();
    if (format == 0) DO(cusparseCreateCsr(&a, m, n, count, device(row_offsets), device(columns), device(csr), type, type, b, Type<T>::value));
    if (format == 1) DO(cusparseCreateCsc(&a, m, n, count, device(column_offsets), device(rows), device(csc), type, type, b, Type<T>::value));
    if (format == 2) DO(cusparseCreateCoo(&a, m, n, count, device(coo_rows), device(columns), device(csr), type, b, Type<T>::value));
    return a;
  }
};

static const cusparseOperation_t ops[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};

template <class T, class Index>
void products() {
  for (int format = 0; format < 3; ++format)
    for (int base = 0; base < 2; ++base) {
      const Matrix<T, Index> a(7, 5, base);
      cusparseSpMatDescr_t A = a.make(format);
      for (cusparseOperation_t op : ops)
        for (bool nan : {false, true}) {
          const bool plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
          const int out = plain ? 7 : 5, in = plain ? 5 : 7;
          T alpha = draw<T>(), beta = nan ? T(0) : draw<T>();
          std::vector<T> x(in), y(out, T(NAN)), want(out);
          for (T& v : x) v = draw<T>();
          for (T& v : y) v = nan ? T(NAN) : draw<T>();
          for (int i = 0; i < out; ++i) {
            T sum = 0;
            for (int j = 0; j < in; ++j) sum += a.at(op, i, j) * x[j];
            want[i] = alpha * sum + (nan ? T(0) : beta * y[i]);
          }
          T *dx = device(x), *dy = device(y);
          cusparseDnVecDescr_t X, Y;
          DO(cusparseCreateDnVec(&X, in, dx, Type<T>::value));
          DO(cusparseCreateDnVec(&Y, out, dy, Type<T>::value));
          size_t size = 0;
          void* buffer = nullptr;
          DO(cusparseSpMV_bufferSize(handle, op, &alpha, A, X, &beta, Y, Type<T>::value, CUSPARSE_SPMV_ALG_DEFAULT, &size));
          CUDA(cudaMalloc(&buffer, size));
          DO(cusparseSpMV(handle, op, &alpha, A, X, &beta, Y, Type<T>::value, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
          EXPECT(same(host(dy, out), want));
          DO(cusparseDestroyDnVec(X)), DO(cusparseDestroyDnVec(Y));
          for (cusparseOrder_t order : {CUSPARSE_ORDER_COL, CUSPARSE_ORDER_ROW})
            for (cusparseOperation_t opb : ops) {
              const int n = 3, br = opb == CUSPARSE_OPERATION_NON_TRANSPOSE ? in : n, bc = opb == CUSPARSE_OPERATION_NON_TRANSPOSE ? n : in, ld = 11;
              std::vector<T> b(ld * ld), c(ld * ld);
              for (T& v : b) v = draw<T>();
              for (T& v : c) v = nan ? T(NAN) : draw<T>();
              auto place = [&](int i, int j) { return order == CUSPARSE_ORDER_COL ? j * ld + i : i * ld + j; };
              auto bat = [&](int i, int j) {
                return opb == CUSPARSE_OPERATION_NON_TRANSPOSE ? b[place(i, j)] : conj_if(opb == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, b[place(j, i)]);
              };
              T *db = device(b), *dc = device(c);
              cusparseDnMatDescr_t B, C;
              DO(cusparseCreateDnMat(&B, br, bc, ld, db, Type<T>::value, order));
              DO(cusparseCreateDnMat(&C, out, n, ld, dc, Type<T>::value, order));
              DO(cusparseSpMM(handle, op, opb, &alpha, A, B, &beta, C, Type<T>::value, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
              const std::vector<T> got = host(dc, ld * ld);
              bool right = true;
              for (int i = 0; i < out; ++i)
                for (int j = 0; j < n; ++j) {
                  T sum = 0;
                  for (int k = 0; k < in; ++k) sum += a.at(op, i, k) * bat(k, j);
                  sum = alpha * sum + (nan ? T(0) : beta * c[place(i, j)]);
                  right &= std::abs(got[place(i, j)] - sum) < 1e-3;
                }
              EXPECT(right);
              DO(cusparseDestroyDnMat(B)), DO(cusparseDestroyDnMat(C));
              CUDA(cudaFree(db)), CUDA(cudaFree(dc));
            }
          CUDA(cudaFree(dx)), CUDA(cudaFree(dy)), CUDA(cudaFree(buffer));
        }
      DO(cusparseDestroySpMat(A));
    }
}

static void conversions() {
  const Matrix<double, int> a(6, 8, 1);
  cusparseMatDescr_t d;
  DO(cusparseCreateMatDescr(&d));
  DO(cusparseSetMatType(d, CUSPARSE_MATRIX_TYPE_GENERAL));
  DO(cusparseSetMatIndexBase(d, CUSPARSE_INDEX_BASE_ONE));
  EXPECT(cusparseGetMatIndexBase(d) == CUSPARSE_INDEX_BASE_ONE);
  const int count = a.csr.size();
  double* dense = device(a.dense);
  int* each = device(std::vector<int>(8));
  int total = 0;
  DO(cusparseDnnz(handle, CUSPARSE_DIRECTION_ROW, 6, 8, d, dense, 6, each, &total));
  EXPECT(total == count && host(each, 6)[2] == a.row_offsets[3] - a.row_offsets[2]);
  double* val = device(std::vector<double>(count));
  int *offsets = device(std::vector<int>(9)), *indices = device(std::vector<int>(count)), *more = device(std::vector<int>(count));
  DO(cusparseDdense2csr(handle, 6, 8, d, dense, 6, each, val, offsets, indices));
  EXPECT(host(offsets, 7) == a.row_offsets && host(indices, count) == a.columns && host(val, count) == a.csr);
  DO(cusparseXcsr2coo(handle, offsets, count, 6, more, CUSPARSE_INDEX_BASE_ONE));
  EXPECT(host(more, count) == a.coo_rows);
  CUDA(cudaMemset(offsets, 0, 9 * sizeof(int)));
  DO(cusparseXcoo2csr(handle, more, count, 6, offsets, CUSPARSE_INDEX_BASE_ONE));
  EXPECT(host(offsets, 7) == a.row_offsets);
  double* csc = device(std::vector<double>(count));
  int* starts = device(std::vector<int>(9));
  DO(cusparseCsr2cscEx2(handle, 6, 8, count, val, offsets, indices, csc, starts, more, CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                        CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG_DEFAULT, nullptr));
  EXPECT(host(starts, 9) == a.column_offsets && host(more, count) == a.rows && host(csc, count) == a.csc);
  CUDA(cudaMemset(dense, 0xff, 48 * sizeof(double)));
  DO(cusparseDcsr2dense(handle, 6, 8, d, val, offsets, indices, dense, 6));
  EXPECT(host(dense, 48) == a.dense);
  // A product with the function of older toolkits.
  const double one = 1, zero = 0;
  double *x = device(std::vector<double>(8, 1)), *y = device(std::vector<double>(8, NAN));
  DO(cusparseDcsrmv(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, 6, 8, count, &one, d, val, offsets, indices, x, &zero, y));
  double sum = 0;
  for (int j = 0; j < 8; ++j) sum += a.dense[j * 6 + 4];
  EXPECT(std::abs(host(y, 6)[4] - sum) < 1e-12);
  // Entries in disorder, and back into order.
  std::vector<int> mixed_rows, mixed_columns;
  for (int k = 0; k < count; ++k) mixed_rows.push_back(a.coo_rows[k * 5 % count]), mixed_columns.push_back(a.columns[k * 5 % count]);
  int *mr = device(mixed_rows), *mc = device(mixed_columns), *p = device(std::vector<int>(count));
  DO(cusparseCreateIdentityPermutation(handle, count, p));
  DO(cusparseXcoosortByRow(handle, 6, 8, count, mr, mc, p, nullptr));
  if (count % 5) EXPECT(host(mr, count) == a.coo_rows && host(mc, count) == a.columns && host(p, count)[0] == 0);
  // The generic way between dense and sparse.
  cusparseDnMatDescr_t D;
  cusparseSpMatDescr_t S;
  DO(cusparseCreateDnMat(&D, 6, 8, 6, dense, CUDA_R_64F, CUSPARSE_ORDER_COL));
  DO(cusparseCreateCsr(&S, 6, 8, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  DO(cusparseDenseToSparse_analysis(handle, D, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  int64_t rows, columns, entries;
  DO(cusparseSpMatGetSize(S, &rows, &columns, &entries));
  EXPECT(entries == count);
  DO(cusparseCsrSetPointers(S, offsets, indices, val));
  DO(cusparseDenseToSparse_convert(handle, D, S, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  EXPECT(host(indices, count)[3] == a.columns[3] - 1 && host(val, count) == a.csr);
  CUDA(cudaMemset(dense, 0xff, 48 * sizeof(double)));
  DO(cusparseSparseToDense(handle, S, D, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
  EXPECT(host(dense, 48) == a.dense);
  DO(cusparseDestroyMatDescr(d)), DO(cusparseDestroyDnMat(D)), DO(cusparseDestroySpMat(S));
}

static void solvers() {
  const int n = 8;
  for (int base = 0; base < 2; ++base) {
    const Matrix<double, int> a(n, n, base);
    cusparseSpMatDescr_t A = a.make(0);
    for (cusparseFillMode_t fill : {CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER})
      for (cusparseDiagType_t diag : {CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT})
        for (cusparseOperation_t op : ops) {
          DO(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
          DO(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof diag));
          std::vector<double> x(n), b(n);
          for (double& v : x) v = draw<double>();
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
              const int r = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? i : j, c = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? j : i;
              if (fill == CUSPARSE_FILL_MODE_LOWER ? c > r : c < r) continue;
              b[i] += (i == j && diag == CUSPARSE_DIAG_TYPE_UNIT ? 1 : a.dense[c * n + r]) * x[j];
            }
          double *db = device(b), *dx = device(std::vector<double>(n)), two = 2;
          cusparseDnVecDescr_t B, X;
          cusparseSpSVDescr_t state;
          size_t size;
          DO(cusparseCreateDnVec(&B, n, db, CUDA_R_64F)), DO(cusparseCreateDnVec(&X, n, dx, CUDA_R_64F));
          DO(cusparseSpSV_createDescr(&state));
          DO(cusparseSpSV_bufferSize(handle, op, &two, A, B, X, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, state, &size));
          DO(cusparseSpSV_analysis(handle, op, &two, A, B, X, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, state, nullptr));
          DO(cusparseSpSV_solve(handle, op, &two, A, B, X, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, state));
          for (double& v : x) v *= 2;
          EXPECT(same(host(dx, n), x));
          DO(cusparseSpSV_destroyDescr(state)), DO(cusparseDestroyDnVec(B)), DO(cusparseDestroyDnVec(X));
          CUDA(cudaFree(db)), CUDA(cudaFree(dx));
        }
    DO(cusparseDestroySpMat(A));
  }
  // Of a tridiagonal matrix the incomplete factors are the whole ones.
  std::vector<double> val;
  std::vector<int> offsets{0}, columns;
  for (int i = 0; i < n; ++i) {
    for (int j : {i - 1, i, i + 1})
      if (j >= 0 && j < n) columns.push_back(j), val.push_back(i == j ? 4 + i : -1);
    offsets.push_back(columns.size());
  }
  cusparseMatDescr_t d;
  csrilu02Info_t info;
  csric02Info_t chol;
  DO(cusparseCreateMatDescr(&d)), DO(cusparseCreateCsrilu02Info(&info)), DO(cusparseCreateCsric02Info(&chol));
  double *lu = device(val), *ll = device(val);
  int *po = device(offsets), *pc = device(columns), size, position = 7;
  const int count = val.size();
  DO(cusparseDcsrilu02_bufferSize(handle, n, count, d, lu, po, pc, info, &size));
  DO(cusparseDcsrilu02_analysis(handle, n, count, d, lu, po, pc, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, nullptr));
  DO(cusparseDcsrilu02(handle, n, count, d, lu, po, pc, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL, nullptr));
  DO(cusparseXcsrilu02_zeroPivot(handle, info, &position));
  EXPECT(position == -1);
  DO(cusparseDcsric02(handle, n, count, d, ll, po, pc, chol, CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
  const std::vector<double> f = host(lu, count), g = host(ll, count);
  double pivot = 4;
  bool right = true;
  for (int i = 0, k = 0; i < n; ++i) {
    if (i) right &= std::abs(f[k] + 1 / pivot) < 1e-12 && std::abs(g[k] + 1 / std::sqrt(pivot)) < 1e-12, pivot = 4 + i - 1 / pivot, ++k;
    right &= std::abs(f[k] - pivot) < 1e-12 && std::abs(g[k] - std::sqrt(pivot)) < 1e-12, ++k;
    if (i + 1 < n) ++k;
  }
  EXPECT(right);
  DO(cusparseDestroyMatDescr(d)), DO(cusparseDestroyCsrilu02Info(info)), DO(cusparseDestroyCsric02Info(chol));
  // Tridiagonal systems by themselves, with a diagonal that needs pivots.
  std::vector<double> lower(n, 3), diagonal(n, 1), upper(n, 2), x(n), b(n);
  for (double& v : x) v = draw<double>();
  for (int i = 0; i < n; ++i) b[i] = (i ? 3 * x[i - 1] : 0) + x[i] + (i + 1 < n ? 2 * x[i + 1] : 0);
  double *dl = device(lower), *dd = device(diagonal), *du = device(upper), *db = device(b);
  DO(cusparseDgtsv2(handle, n, 1, dl, dd, du, db, n, nullptr));
  EXPECT(same(host(db, n), x));
}

static void vectors_and_streams() {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  DO(cusparseSetStream(handle, stream));
  float *values = device(std::vector<float>{1, 2, 3}), *y = device(std::vector<float>(6, 1));
  int* at = device(std::vector<int>{0, 2, 5});
  cusparseSpVecDescr_t X;
  cusparseDnVecDescr_t Y;
  DO(cusparseCreateSpVec(&X, 6, 3, at, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DO(cusparseCreateDnVec(&Y, 6, y, CUDA_R_32F));
  const float two = 2, three = 3;
  float dot = 0;
  DO(cusparseAxpby(handle, &two, X, &three, Y));  // 5 3 7 3 3 9
  DO(cusparseSpVV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, X, Y, &dot, CUDA_R_32F, nullptr));
  EXPECT(dot == 5 + 14 + 27);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  DO(cusparseGather(handle, Y, X));
  DO(cusparseAxpby(handle, &two, X, &three, Y));
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(same(host(values, 3), {5, 7, 9}) && same(host(y, 6), {25, 9, 35, 9, 9, 45}));
  DO(cusparseScatter(handle, X, Y));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(same(host(y, 6), {5, 9, 7, 9, 9, 9}));
  DO(cusparseSetStream(handle, nullptr));
  DO(cusparseDestroySpVec(X)), DO(cusparseDestroyDnVec(Y));
  CUDA(cudaGraphExecDestroy(exec)), CUDA(cudaGraphDestroy(graph)), CUDA(cudaStreamDestroy(stream));
}

static void sparse_products() {
  const Matrix<double, int> a(6, 5, 0), b(5, 7, 0);
  cusparseSpMatDescr_t A = a.make(0), B = b.make(0), C;
  int* offsets = device(std::vector<int>(7));
  DO(cusparseCreateCsr(&C, 6, 7, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  cusparseSpGEMMDescr_t state;
  double one = 1, zero = 0;
  size_t size = 0;
  void* buffer;
  const cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  DO(cusparseSpGEMM_createDescr(&state));
  DO(cusparseSpGEMM_workEstimation(handle, n, n, &one, A, B, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, state, &size, nullptr));
  CUDA(cudaMalloc(&buffer, size));
  DO(cusparseSpGEMM_workEstimation(handle, n, n, &one, A, B, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, state, &size, buffer));
  DO(cusparseSpGEMM_compute(handle, n, n, &one, A, B, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, state, &size, nullptr));
  DO(cusparseSpGEMM_compute(handle, n, n, &one, A, B, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, state, &size, buffer));
  int64_t rows, columns, count;
  DO(cusparseSpMatGetSize(C, &rows, &columns, &count));
  int* indices = device(std::vector<int>(count));
  double *values = device(std::vector<double>(count)), *dense = device(std::vector<double>(42));
  DO(cusparseCsrSetPointers(C, offsets, indices, values));
  DO(cusparseSpGEMM_copy(handle, n, n, &one, A, B, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, state));
  cusparseDnMatDescr_t D;
  DO(cusparseCreateDnMat(&D, 6, 7, 6, dense, CUDA_R_64F, CUSPARSE_ORDER_COL));
  DO(cusparseSparseToDense(handle, C, D, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
  std::vector<double> want(42);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < 5; ++k) want[j * 6 + i] += a.dense[k * 6 + i] * b.dense[j * 5 + k];
  EXPECT(same(host(dense, 42), want));
  DO(cusparseSpGEMM_destroyDescr(state)), DO(cusparseDestroyDnMat(D));
  for (cusparseSpMatDescr_t each : {A, B, C}) DO(cusparseDestroySpMat(each));
}

static void mistakes() {
  cusparseDnVecDescr_t x;
  EXPECT(cusparseCreateDnVec(&x, -1, nullptr, CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT(cusparseCreate(nullptr) == CUSPARSE_STATUS_INVALID_VALUE);
  EXPECT(cusparseSetStream(nullptr, nullptr) == CUSPARSE_STATUS_NOT_INITIALIZED);
  EXPECT(std::string(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT)) == "CUSPARSE_STATUS_ZERO_PIVOT");
  // A column that is none: the context is broken, the program is not.
  const Matrix<float, int> a(4, 4, 0);
  cusparseSpMatDescr_t A;
  std::vector<int> wrong = a.columns;
  wrong[1] = 1 << 30;
  DO(cusparseCreateCsr(&A, 4, 4, a.csr.size(), device(a.row_offsets), device(wrong), device(a.csr), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseDnVecDescr_t y;
  DO(cusparseCreateDnVec(&x, 4, device(std::vector<float>(4)), CUDA_R_32F));
  DO(cusparseCreateDnVec(&y, 4, device(std::vector<float>(4)), CUDA_R_32F));
  float one = 1;
  DO(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, A, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
  EXPECT(cudaDeviceSynchronize() != cudaSuccess);
  DO(cusparseDestroySpMat(A)), DO(cusparseDestroyDnVec(x)), DO(cusparseDestroyDnVec(y));
}

// Two matrices of one pattern and two of their own, by rows and as coordinates.
static void batches() {
  const cusparseOperation_t n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const std::vector<int> offsets = {0, 2, 3, 0, 1, 3}, columns = {0, 2, 1, 1, 0, 2}, rows = {0, 0, 1, 0, 1, 1};
  const std::vector<float> values = {1, 2, 3, 4, 5, 6}, right = {1, 2, 3, 4, 5, 6};
  const std::vector<float> want = {7, 6, 16, 15, 8, 23, 20, 56};  // 2 x 2 by columns, each with the same right side
  float one = 1, zero = 0, *out = device(std::vector<float>(8));
  cusparseDnMatDescr_t b, c;
  DO(cusparseCreateDnMat(&b, 3, 2, 3, device(right), CUDA_R_32F, CUSPARSE_ORDER_COL));
  DO(cusparseCreateDnMat(&c, 2, 2, 2, out, CUDA_R_32F, CUSPARSE_ORDER_COL));
  DO(cusparseDnMatSetStridedBatch(b, 2, 0));
  DO(cusparseDnMatSetStridedBatch(c, 2, 4));
  cusparseSpMatDescr_t csr, coo;
  DO(cusparseCreateCsr(&csr, 2, 3, 3, device(offsets), device(columns), device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DO(cusparseCreateCoo(&coo, 2, 3, 3, device(rows), device(columns), device(values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                       CUDA_R_32F));
  EXPECT(cusparseCooSetStridedBatch(csr, 2, 3) == CUSPARSE_STATUS_INVALID_VALUE);
  DO(cusparseCsrSetStridedBatch(csr, 2, 3, 3));
  DO(cusparseCooSetStridedBatch(coo, 2, 3));
  int count = 0;
  DO(cusparseSpMatGetStridedBatch(coo, &count));
  EXPECT(count == 2);
  for (cusparseSpMatDescr_t a : {csr, coo}) {
    DO(cusparseSpMM(handle, n, n, &one, a, b, &zero, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    EXPECT(same(host(out, 8), want));
  }
  // Of the products of two batches, what stands where the patterns have entries.
  const std::vector<float> first = {1, 2, 3, 4}, second = {1, 0, 0, 1, 1, 1, 2, 0, 1, 0, 2, 1};
  float* sampled = device(std::vector<float>(6));
  DO(cusparseCsrSetPointers(csr, device(offsets), device(columns), sampled));
  cusparseDnMatDescr_t left, across;
  DO(cusparseCreateDnMat(&left, 2, 2, 2, device(first), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  DO(cusparseCreateDnMat(&across, 2, 3, 2, device(second), CUDA_R_32F, CUSPARSE_ORDER_COL));
  DO(cusparseDnMatSetStridedBatch(across, 2, 6));
  DO(cusparseSDDMM(handle, n, n, &one, left, across, &zero, csr, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, nullptr));
  EXPECT(same(host(sampled, 6), {1, 3, 4, 1, 6, 10}));
  for (cusparseSpMatDescr_t each : {csr, coo}) DO(cusparseDestroySpMat(each));
  for (cusparseDnMatDescr_t each : {b, c, left, across}) DO(cusparseDestroyDnMat(each));
}

// 2 A + 3 B, where rows have entries of one, of both and of none.
static void sums() {
  cusparseMatDescr_t zero_based, one_based;
  DO(cusparseCreateMatDescr(&zero_based));
  DO(cusparseCreateMatDescr(&one_based));
  DO(cusparseSetMatIndexBase(one_based, CUSPARSE_INDEX_BASE_ONE));
  const int *a_offsets = device<int>({0, 2, 2, 3}), *a_columns = device<int>({0, 2, 1});
  const int *b_offsets = device<int>({1, 2, 2, 4}), *b_columns = device<int>({3, 2, 4});
  const double *a = device<double>({1, 2, 3}), *b = device<double>({4, 5, 6}), alpha = 2, beta = 3;
  int count = 0, *offsets = device(std::vector<int>(4));
  size_t size = 0;
  DO(cusparseDcsrgeam2_bufferSizeExt(handle, 3, 4, &alpha, zero_based, 3, a, a_offsets, a_columns, &beta, one_based, 3, b, b_offsets,
                                     b_columns, one_based, nullptr, offsets, nullptr, &size));
  EXPECT(size > 0);
  DO(cusparseXcsrgeam2Nnz(handle, 3, 4, zero_based, 3, a_offsets, a_columns, one_based, 3, b_offsets, b_columns, one_based, offsets,
                          &count, nullptr));
  EXPECT(count == 4 && host(offsets, 4) == std::vector<int>({1, 3, 3, 5}));
  int* columns = device(std::vector<int>(count));
  double* values = device(std::vector<double>(count));
  DO(cusparseDcsrgeam2(handle, 3, 4, &alpha, zero_based, 3, a, a_offsets, a_columns, &beta, one_based, 3, b, b_offsets, b_columns,
                       one_based, values, offsets, columns, nullptr));
  EXPECT(host(columns, 4) == std::vector<int>({1, 3, 2, 4}));
  EXPECT(same(host(values, 4), {2, 16, 21, 18}));
  DO(cusparseDestroyMatDescr(zero_based)), DO(cusparseDestroyMatDescr(one_based));
}

// The program says which blocks there are; converting fills them.
static void blocks_of_dense() {
  std::vector<float> dense(16);  // by rows, 4 x 4
  for (int i = 0; i < 16; ++i) dense[i] = i + 1;
  float* values = device(std::vector<float>(16, -1));
  cusparseDnMatDescr_t a;
  cusparseSpMatDescr_t e;
  size_t size = 0;
  DO(cusparseCreateDnMat(&a, 4, 4, 4, device(dense), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  DO(cusparseCreateBlockedEll(&e, 4, 4, 2, 4, device<int>({1, 0, 0, -1}), values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DO(cusparseDenseToSparse_bufferSize(handle, a, e, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &size));
  DO(cusparseDenseToSparse_analysis(handle, a, e, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  DO(cusparseDenseToSparse_convert(handle, a, e, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, nullptr));
  EXPECT(host(values, 16) == std::vector<float>({3, 4, 1, 2, 7, 8, 5, 6, 9, 10, 0, 0, 13, 14, 0, 0}));
  DO(cusparseDestroyDnMat(a)), DO(cusparseDestroySpMat(e));
}

// Slices of two rows, each filled up to its longest row; the last one lacks a row.
static void slices() {
  for (int base = 0; base < 2; ++base) {
    const auto index = [&](std::vector<int> v) {
      for (int& i : v) i += base;
      return device(v);
    };
    // 2 . 1 / . 4 . / . . 5
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t x, y;
    const float one = 1, zero = 0;
    float* out = device(std::vector<float>(3));
    int64_t rows, columns, count;
    size_t size = 0;
    DO(cusparseCreateSlicedEll(&a, 3, 3, 4, 6, 2, index({0, 4, 6}), index({0, 1, 2, -1, 2, -1}), device<float>({2, 4, 1, 9, 5, 9}), CUSPARSE_INDEX_32I,
                               CUSPARSE_INDEX_32I, cusparseIndexBase_t(base), CUDA_R_32F));
    DO(cusparseSpMatGetSize(a, &rows, &columns, &count));
    EXPECT(rows == 3 && columns == 3 && count == 4);
    DO(cusparseCreateDnVec(&x, 3, device<float>({1, 10, 100}), CUDA_R_32F)), DO(cusparseCreateDnVec(&y, 3, out, CUDA_R_32F));
    DO(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &size));
    DO(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, device(std::vector<char>(size + 1))));
    EXPECT(host(out, 3) == std::vector<float>({102, 40, 500}));
    DO(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &one, a, x, &zero, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, device(std::vector<char>(size + 1))));
    EXPECT(host(out, 3) == std::vector<float>({2, 40, 501}));
    // Products with dense matrices are not for slices.
    cusparseDnMatDescr_t b, c;
    DO(cusparseCreateDnMat(&b, 3, 1, 3, out, CUDA_R_32F, CUSPARSE_ORDER_COL)), DO(cusparseCreateDnMat(&c, 3, 1, 3, out, CUDA_R_32F, CUSPARSE_ORDER_COL));
    EXPECT(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero, c, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT,
                        nullptr) == CUSPARSE_STATUS_NOT_SUPPORTED);
    DO(cusparseDestroyDnMat(b)), DO(cusparseDestroyDnMat(c));
    DO(cusparseDestroyDnVec(x)), DO(cusparseDestroyDnVec(y)), DO(cusparseDestroySpMat(a));
  }
  cusparseSpMatDescr_t a;
  EXPECT(cusparseCreateSlicedEll(&a, 3, 3, 4, 6, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                 CUDA_R_32F) == CUSPARSE_STATUS_INVALID_VALUE);
}

// The number of products is known before they are computed.
static void estimates() {
  const Matrix<double, int> a(6, 6, 0);
  cusparseSpMatDescr_t A = a.make(0), C;
  cusparseSpGEMMDescr_t state;
  DO(cusparseCreateCsr(&C, 6, 6, 0, device(std::vector<int>(7)), nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                       CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  DO(cusparseSpGEMM_createDescr(&state));
  const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const double one = 1, zero = 0;
  size_t size1 = 0, size2 = 0, size3 = 0;
  DO(cusparseSpGEMM_workEstimation(handle, plain, plain, &one, A, A, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_ALG3, state, &size1, nullptr));
  DO(cusparseSpGEMM_workEstimation(handle, plain, plain, &one, A, A, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_ALG3, state, &size1,
                                   device(std::vector<char>(size1))));
  int64_t products = -1, want = 0;
  for (int column : a.columns) want += a.row_offsets[column + 1] - a.row_offsets[column];
  DO(cusparseSpGEMM_getNumProducts(state, &products));
  EXPECT(products == want);
  DO(cusparseSpGEMM_estimateMemory(handle, plain, plain, &one, A, A, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_ALG3, state, 0.2f, &size3,
                                   nullptr, nullptr));
  DO(cusparseSpGEMM_estimateMemory(handle, plain, plain, &one, A, A, &zero, C, CUDA_R_64F, CUSPARSE_SPGEMM_ALG3, state, 0.2f, &size3,
                                   device(std::vector<char>(size3)), &size2));
  EXPECT(size1 > 0 && size2 > 0 && size3 > 0);
  DO(cusparseSpGEMM_destroyDescr(state)), DO(cusparseDestroySpMat(A)), DO(cusparseDestroySpMat(C));
}

// A result on the host is written each time the graph runs.
static void captured_result() {
  float result = -1, *y = device<float>({1, 2, 3, 4});
  cusparseSpVecDescr_t x;
  cusparseDnVecDescr_t dense;
  DO(cusparseCreateSpVec(&x, 4, 2, device<int>({1, 3}), device<float>({10, 100}), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  DO(cusparseCreateDnVec(&dense, 4, y, CUDA_R_32F));
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t run;
  CUDA(cudaStreamCreate(&stream));
  DO(cusparseSetStream(handle, stream));
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  DO(cusparseSpVV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, x, dense, &result, CUDA_R_32F, nullptr));
  CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT(result == -1);
  CUDA(cudaGraphInstantiate(&run, graph, 0));
  CUDA(cudaGraphLaunch(run, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(result == 420);
  const float more = 7;
  CUDA(cudaMemcpy(y + 3, &more, sizeof more, cudaMemcpyHostToDevice));
  CUDA(cudaGraphLaunch(run, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(result == 720);
  DO(cusparseSetStream(handle, nullptr));
  CUDA(cudaGraphExecDestroy(run)), CUDA(cudaGraphDestroy(graph)), CUDA(cudaStreamDestroy(stream));
  DO(cusparseDestroySpVec(x)), DO(cusparseDestroyDnVec(dense));
}

int main() {
  DO(cusparseCreate(&handle));
  products<float, int>();
  products<double, long long>();
  products<Z, int>();
  conversions();
  solvers();
  vectors_and_streams();
  sparse_products();
  batches();
  sums();
  blocks_of_dense();
  slices();
  estimates();
  captured_result();
  CUDA(cudaGetLastError());
  mistakes();
  DO(cusparseDestroy(handle));
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
