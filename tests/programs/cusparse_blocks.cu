// build: -lcusparse
// cuSPARSE: matrices of blocks in old functions and in descriptors, entries left out, banded systems side by side, products
// whose pattern is used again.
#include <cuda_fp16.h>
#include <cusparse.h>

#include <algorithm>
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
#define SPARSE(call) REQUIRE((call) == CUSPARSE_STATUS_SUCCESS)

static cusparseHandle_t handle;
static cusparseMatDescr_t zero_based, one_based;

template <class T>
struct Device {
  T* p = nullptr;
  size_t n;
  explicit Device(size_t n) : n(n) { CUDA(cudaMalloc(&p, (n + 1) * sizeof(T))); }
  explicit Device(const std::vector<T>& from) : Device(from.size()) {
    CUDA(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(p); }
  Device(const Device&) = delete;
  operator T*() const { return p; }
  std::vector<T> get() const {
    std::vector<T> out(n);
    CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
};

static double number() {
  static unsigned seed = 5;
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) / double(1 << 24) - 0.5;
}
static std::vector<double> numbers(size_t n) {
  std::vector<double> out(n);
  for (double& x : out) x = number();
  return out;
}
static bool near(const std::vector<double>& a, const std::vector<double>& b) {
  bool all = a.size() == b.size();
  for (size_t i = 0; all && i < a.size(); ++i) all = std::fabs(a[i] - b[i]) < 1e-10 * (1 + std::fabs(b[i]));
  return all;
}

struct Sparse {  // by rows; dense by columns
  int m, n, base;
  std::vector<double> dense, values;
  std::vector<int> offsets, columns;
  Sparse(int m, int n, int base, double part) : m(m), n(n), base(base), dense(size_t(m) * n) {
    for (double& x : dense) x = number() + 0.5 < part ? number() : 0;
    offsets.push_back(base);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j)
        if (double x = dense[j * m + i]) values.push_back(x), columns.push_back(j + base);
      offsets.push_back(int(values.size()) + base);
    }
  }
};
static std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b, int m, int n, int k) {
  std::vector<double> out(size_t(m) * n);
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l)
      for (int i = 0; i < m; ++i) out[j * m + i] += a[l * m + i] * b[j * k + l];
  return out;
}

// To blocks and back, and products with vectors and matrices on the way.
static void blocks(cusparseDirection_t direction, int base) {
  const int mb = 5, nb = 4, edge = 3, m = mb * edge, n = nb * edge, columns = 2;
  const cusparseMatDescr_t descr = base ? one_based : zero_based;
  const Sparse a(m, n, base, 0.15);
  Device<double> values(a.values);
  Device<int> offsets(a.offsets), indices(a.columns), block_offsets(mb + 1);
  int count = -1, wanted = 0;
  SPARSE(cusparseXcsr2bsrNnz(handle, direction, m, n, descr, offsets, indices, edge, zero_based, block_offsets, &count));
  for (int i = 0; i < mb; ++i)
    for (int j = 0; j < nb; ++j) {
      bool any = false;
      for (int e = 0; e < edge * edge; ++e) any |= a.dense[(j * edge + e / edge) * m + i * edge + e % edge] != 0;
      wanted += any;
    }
  REQUIRE(count == wanted && block_offsets.get()[mb] == count);
  Device<double> block_values(count * edge * edge);
  Device<int> block_indices(count);
  SPARSE(cusparseDcsr2bsr(handle, direction, m, n, descr, values, offsets, indices, edge, zero_based, block_values, block_offsets,
                          block_indices));

  const std::vector<double> x = numbers(n), y = numbers(m), b = numbers(n * columns), c = numbers(m * columns);
  const double alpha = 1.5, beta = -0.5;
  std::vector<double> want = times(a.dense, x, m, 1, n), want_c = times(a.dense, b, m, columns, n), turned(n * columns);
  for (int i = 0; i < m; ++i) want[i] = alpha * want[i] + beta * y[i];
  for (int i = 0; i < m * columns; ++i) want_c[i] = alpha * want_c[i] + beta * c[i];
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < columns; ++j) turned[i * columns + j] = b[j * n + i];
  Device<double> dx(x), dy(y), db(b), dt(turned), dc(c), dc2(c);
  SPARSE(cusparseDbsrmv(handle, direction, CUSPARSE_OPERATION_NON_TRANSPOSE, mb, nb, count, &alpha, zero_based, block_values, block_offsets,
                        block_indices, edge, dx, &beta, dy));
  SPARSE(cusparseDbsrmm(handle, direction, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, mb, columns, nb, count, &alpha,
                        zero_based, block_values, block_offsets, block_indices, edge, db, n, &beta, dc, m));
  SPARSE(cusparseDbsrmm(handle, direction, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, mb, columns, nb, count, &alpha,
                        zero_based, block_values, block_offsets, block_indices, edge, dt, columns, &beta, dc2, m));
  REQUIRE(near(dy.get(), want) && near(dc.get(), want_c) && near(dc2.get(), want_c));
  REQUIRE(cusparseDbsrmv(handle, direction, CUSPARSE_OPERATION_TRANSPOSE, mb, nb, count, &alpha, zero_based, block_values, block_offsets,
                         block_indices, edge, dx, &beta, dy) == CUSPARSE_STATUS_NOT_SUPPORTED);

  Device<double> back_values(count * edge * edge);
  Device<int> back_offsets(m + 1), back_indices(count * edge * edge);
  SPARSE(cusparseDbsr2csr(handle, direction, mb, nb, zero_based, block_values, block_offsets, block_indices, edge, descr, back_values,
                          back_offsets, back_indices));
  std::vector<double> dense(m * n), v = back_values.get();
  const std::vector<int> o = back_offsets.get(), i = back_indices.get();
  REQUIRE(o[m] - base == count * edge * edge);
  for (int r = 0; r < m; ++r)
    for (int k = o[r] - base; k < o[r + 1] - base; ++k) dense[(i[k] - base) * m + r] += v[k];
  REQUIRE(dense == a.dense);

  // The same blocks as a descriptor.
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t vx, vy;
  SPARSE(cusparseCreateBsr(&matrix, mb, nb, count, edge, edge, block_offsets, block_indices, block_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F, direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  Device<double> result(y);
  SPARSE(cusparseCreateDnVec(&vx, n, dx, CUDA_R_64F));
  SPARSE(cusparseCreateDnVec(&vy, m, result, CUDA_R_64F));
  size_t bytes = 0;
  SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vx, &beta, vy, CUDA_R_64F, CUSPARSE_SPMV_BSR_ALG1,
                                 &bytes));
  Device<char> work(bytes);
  SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, vx, &beta, vy, CUDA_R_64F, CUSPARSE_SPMV_BSR_ALG1, work));
  REQUIRE(near(result.get(), want));
  SPARSE(cusparseDestroySpMat(matrix));
  SPARSE(cusparseDestroyDnVec(vx));
  SPARSE(cusparseDestroyDnVec(vy));
}

// Blocks that are wider than high, and the products of dense matrices at their places.
static void sampled() {
  const int mb = 3, nb = 2, height = 2, width = 4, m = mb * height, n = nb * width, k = 5;
  const std::vector<int> offsets{0, 1, 3, 4}, indices{1, 0, 1, 0};
  const std::vector<double> a = numbers(m * k), b = numbers(k * n), c = times(a, b, m, n, k);
  Device<int> o(offsets), i(indices);
  Device<double> values(std::vector<double>(4 * height * width)), da(a), db(b);
  cusparseSpMatDescr_t matrix;
  cusparseDnMatDescr_t left, right;
  SPARSE(cusparseCreateBsr(&matrix, mb, nb, 4, height, width, o, i, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_64F, CUSPARSE_ORDER_ROW));
  SPARSE(cusparseCreateDnMat(&left, m, k, m, da, CUDA_R_64F, CUSPARSE_ORDER_COL));
  SPARSE(cusparseCreateDnMat(&right, k, n, k, db, CUDA_R_64F, CUSPARSE_ORDER_COL));
  const double one = 1, zero = 0;
  SPARSE(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, left, right, &zero, matrix, CUDA_R_64F,
                       CUSPARSE_SDDMM_ALG_DEFAULT, nullptr));
  std::vector<double> want;
  for (int r = 0; r < mb; ++r)
    for (int e = offsets[r]; e < offsets[r + 1]; ++e)
      for (int p = 0; p < height * width; ++p) want.push_back(c[(indices[e] * width + p % width) * m + r * height + p / width]);
  REQUIRE(near(values.get(), want));
  REQUIRE(cusparseCreateBsr(&matrix, mb, nb, 4, 0, width, o, i, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_64F, CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_INVALID_VALUE);
  SPARSE(cusparseDestroySpMat(matrix));
  SPARSE(cusparseDestroyDnMat(left));
  SPARSE(cusparseDestroyDnMat(right));
}

// --- entries left out -----------------------------------------------------------------------------------------------------

static void require_rows(const std::vector<double>& dense, int m, int n, double limit, const std::vector<int>& offsets,
                         const std::vector<int>& columns, const std::vector<double>& values) {
  int at = 0;
  for (int i = 0; i < m; ++i) {
    REQUIRE(offsets[i] == at);
    for (int j = 0; j < n; ++j)
      if (std::fabs(dense[j * m + i]) > limit) {
        REQUIRE(at < int(values.size()) && columns[at] == j && values[at] == dense[j * m + i]);
        ++at;
      }
  }
  REQUIRE(offsets[m] == at);
}

static void pruned() {
  const int m = 7, n = 6;
  const double limit = 0.2;
  const float part = 40;
  const Sparse a(m, n, 0, 0.6);
  Device<double> dense(a.dense), values(a.values);
  Device<int> offsets(a.offsets), columns(a.columns), new_offsets(m + 1);
  const int all = int(a.values.size());
  size_t bytes = 0;
  int count = 0;
  pruneInfo_t info;
  SPARSE(cusparseCreatePruneInfo(&info));
  const auto magnitude_at = [&](std::vector<double> from) {
    for (double& x : from) x = std::fabs(x);
    std::sort(from.begin(), from.end());
    return from[size_t(std::ceil(double(from.size()) * (part / 100.0))) - 1];
  };

  SPARSE(cusparseDpruneDense2csr_bufferSizeExt(handle, m, n, dense, m, &limit, zero_based, nullptr, new_offsets, nullptr, &bytes));
  Device<char> work(bytes);
  SPARSE(cusparseDpruneDense2csrNnz(handle, m, n, dense, m, &limit, zero_based, new_offsets, &count, work));
  Device<double> kept(count);
  Device<int> kept_columns(count);
  SPARSE(cusparseDpruneDense2csr(handle, m, n, dense, m, &limit, zero_based, kept, new_offsets, kept_columns, work));
  require_rows(a.dense, m, n, limit, new_offsets.get(), kept_columns.get(), kept.get());
  SPARSE(cusparseDpruneCsr2csrNnz(handle, m, n, all, zero_based, values, offsets, columns, &limit, zero_based, new_offsets, &count, work));
  SPARSE(cusparseDpruneCsr2csr(handle, m, n, all, zero_based, values, offsets, columns, &limit, zero_based, kept, new_offsets, kept_columns,
                               work));
  require_rows(a.dense, m, n, limit, new_offsets.get(), kept_columns.get(), kept.get());

  SPARSE(cusparseDpruneDense2csrNnzByPercentage(handle, m, n, dense, m, part, zero_based, new_offsets, &count, info, work));
  Device<double> more(count);
  Device<int> more_columns(count);
  SPARSE(cusparseDpruneDense2csrByPercentage(handle, m, n, dense, m, part, zero_based, more, new_offsets, more_columns, info, work));
  require_rows(a.dense, m, n, magnitude_at(a.dense), new_offsets.get(), more_columns.get(), more.get());
  SPARSE(cusparseDpruneCsr2csrNnzByPercentage(handle, m, n, all, zero_based, values, offsets, columns, part, zero_based, new_offsets, &count, info,
                                              work));
  REQUIRE(count == all - int(std::ceil(all * 0.4)));
  SPARSE(cusparseDestroyPruneInfo(info));

  std::vector<__half> half(m * n);
  for (int i = 0; i < m * n; ++i) half[i] = __float2half(float(a.dense[i]));
  Device<__half> narrow(half);
  const __half narrow_limit = __float2half(0.2f);
  int expected = 0;
  for (__half x : half) expected += std::fabs(__half2float(x)) > __half2float(narrow_limit);
  SPARSE(cusparseHpruneDense2csrNnz(handle, m, n, narrow, m, &narrow_limit, zero_based, new_offsets, &count, work));
  REQUIRE(count == expected);

  Device<int> each(m);
  SPARSE(cusparseDnnz_compress(handle, m, zero_based, values, offsets, each, &count, limit));
  Device<double> pressed(count);
  Device<int> pressed_columns(count);
  SPARSE(cusparseDcsr2csr_compress(handle, m, n, zero_based, values, columns, offsets, all, each, pressed, pressed_columns, new_offsets, limit));
  require_rows(a.dense, m, n, limit, new_offsets.get(), pressed_columns.get(), pressed.get());
}

// --- systems side by side -------------------------------------------------------------------------------------------------

static void bands() {
  const int m = 9, batch = 4;
  for (const int diagonals : {3, 5}) {
    std::vector<std::vector<double>> a(diagonals, std::vector<double>(m * batch));
    for (auto& d : a) d = numbers(m * batch);  // without a heavy diagonal: rows have to change places
    const std::vector<double> x = numbers(m * batch);
    std::vector<double> b(m * batch);
    for (int k = 0; k < batch; ++k)
      for (int i = 0; i < m; ++i)
        for (int p = 0; p < diagonals; ++p)
          if (const int j = i + p - diagonals / 2; j >= 0 && j < m) b[i * batch + k] += a[p][i * batch + k] * x[j * batch + k];
    Device<double> d0(a[0]), d1(a[1]), d2(a[2]), d3(a[diagonals == 5 ? 3 : 0]), d4(a[diagonals == 5 ? 4 : 0]), right(b);
    size_t bytes = 0;
    if (diagonals == 3) {
      SPARSE(cusparseDgtsvInterleavedBatch_bufferSizeExt(handle, 1, m, d0, d1, d2, right, batch, &bytes));
      Device<char> work(bytes);
      SPARSE(cusparseDgtsvInterleavedBatch(handle, 1, m, d0, d1, d2, right, batch, work));
    } else {
      SPARSE(cusparseDgpsvInterleavedBatch_bufferSizeExt(handle, 0, m, d0, d1, d2, d3, d4, right, batch, &bytes));
      Device<char> work(bytes);
      SPARSE(cusparseDgpsvInterleavedBatch(handle, 0, m, d0, d1, d2, d3, d4, right, batch, work));
    }
    const std::vector<double> got = right.get();
    for (int i = 0; i < m * batch; ++i) REQUIRE(std::fabs(got[i] - x[i]) < 1e-9);
  }
}

// --- a product again and again ----------------------------------------------------------------------------------------------

static void products() {
  const int m = 6, k = 5, n = 7;
  Sparse a(m, k, 0, 0.4), b(k, n, 0, 0.4);
  Device<double> va(a.values), vb(b.values);
  Device<int> oa(a.offsets), ob(b.offsets), ca(a.columns), cb(b.columns), oc(m + 1);
  cusparseSpMatDescr_t ma, mb, mc;
  const auto make = [&](cusparseSpMatDescr_t* out, int rows, int columns, int count, int* o, int* c, double* v) {
    SPARSE(cusparseCreateCsr(out, rows, columns, count, o, c, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  };
  make(&ma, m, k, int(a.values.size()), oa, ca, va);
  make(&mb, k, n, int(b.values.size()), ob, cb, vb);
  make(&mc, m, n, 0, oc, nullptr, nullptr);
  cusparseSpGEMMDescr_t kept;
  SPARSE(cusparseSpGEMM_createDescr(&kept));
  const auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const auto alg = CUSPARSE_SPGEMM_DEFAULT;
  size_t s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
  SPARSE(cusparseSpGEMMreuse_workEstimation(handle, op, op, ma, mb, mc, alg, kept, &s1, nullptr));
  Device<char> w1(s1);
  SPARSE(cusparseSpGEMMreuse_workEstimation(handle, op, op, ma, mb, mc, alg, kept, &s1, w1));
  SPARSE(cusparseSpGEMMreuse_nnz(handle, op, op, ma, mb, mc, alg, kept, &s2, nullptr, &s3, nullptr, &s4, nullptr));
  Device<char> w2(s2), w3(s3), w4(s4);
  SPARSE(cusparseSpGEMMreuse_nnz(handle, op, op, ma, mb, mc, alg, kept, &s2, w2, &s3, w3, &s4, w4));
  int64_t rows, columns, count;
  SPARSE(cusparseSpMatGetSize(mc, &rows, &columns, &count));
  Device<int> cc(count);
  Device<double> vc(std::vector<double>(count, 1.0));
  SPARSE(cusparseCsrSetPointers(mc, oc, cc, vc));
  SPARSE(cusparseSpGEMMreuse_copy(handle, op, op, ma, mb, mc, alg, kept, &s5, nullptr));
  Device<char> w5(s5);
  SPARSE(cusparseSpGEMMreuse_copy(handle, op, op, ma, mb, mc, alg, kept, &s5, w5));
  const double alpha = 2;
  for (const double beta : {0.0, 0.5}) {
    const std::vector<double> before = vc.get();
    SPARSE(cusparseSpGEMMreuse_compute(handle, op, op, &alpha, ma, mb, &beta, mc, CUDA_R_64F, alg, kept));
    const std::vector<double> want = times(a.dense, b.dense, m, n, k), values = vc.get();
    const std::vector<int> o = oc.get(), c = cc.get();
    REQUIRE(o[m] == count);
    std::vector<double> got(m * n);
    for (int i = 0; i < m; ++i)
      for (int e = o[i]; e < o[i + 1]; ++e) got[c[e] * m + i] = values[e] - beta * before[e];
    for (int i = 0; i < m * n; ++i) REQUIRE(std::fabs(got[i] - alpha * want[i]) < 1e-12);
    for (double& x : a.values) x *= -3;  // the pattern stays
    for (double& x : a.dense) x *= -3;
    CUDA(cudaMemcpy(va, a.values.data(), a.values.size() * sizeof(double), cudaMemcpyHostToDevice));
  }
  SPARSE(cusparseSpGEMM_destroyDescr(kept));
  for (cusparseSpMatDescr_t one : {ma, mb, mc}) SPARSE(cusparseDestroySpMat(one));
}

int main() {
  SPARSE(cusparseCreate(&handle));
  SPARSE(cusparseCreateMatDescr(&zero_based));
  SPARSE(cusparseCreateMatDescr(&one_based));
  SPARSE(cusparseSetMatIndexBase(one_based, CUSPARSE_INDEX_BASE_ONE));
  for (const cusparseDirection_t direction : {CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN})
    for (const int base : {0, 1}) blocks(direction, base);
  sampled();
  pruned();
  bands();
  products();
  SPARSE(cusparseDestroyMatDescr(zero_based));
  SPARSE(cusparseDestroyMatDescr(one_based));
  SPARSE(cusparseDestroy(handle));
  std::puts("PASSED");
}
