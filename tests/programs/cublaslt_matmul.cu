// cuBLASLt against plain loops: operations, orders, batches, types, epilogues, scalars of the device, algorithms, refusals.

// build: -lcublasLt
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;
static cublasLtHandle_t handle;
static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  if (++failures < 30) printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define DO(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call, __LINE__)
#define CUDA(call) expect((call) == cudaSuccess, #call, __LINE__)

template <class T>
T* device(const std::vector<T>& from) {
  T* p;
  CUDA(cudaMalloc(&p, from.size() * sizeof(T)));
  CUDA(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
std::vector<T> host(const T* p, size_t n) {
  std::vector<T> out(n);
  CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

struct Matrix {
  int rows, columns, ld, order;
  long long stride = 0;
  int place(int i, int j) const { return order == CUBLASLT_ORDER_COL ? j * ld + i : i * ld + j; }
  cublasLtMatrixLayout_t make(cudaDataType type, int batch) const {
    cublasLtMatrixLayout_t l;
    DO(cublasLtMatrixLayoutCreate(&l, type, rows, columns, ld));
    DO(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    DO(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
    DO(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
    return l;
  }
};

static double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }

template <class In, class Out, class S>
void product(cudaDataType in, cudaDataType out, cudaDataType scale, cublasComputeType_t compute, cublasOperation_t opa, cublasOperation_t opb,
             int order, int batch, unsigned epilogue, double tolerance) {
  const int m = 7, n = 5, k = 6, ld = 9, area = 128;
  Matrix a{opa == CUBLAS_OP_N ? m : k, opa == CUBLAS_OP_N ? k : m, ld, order, area}, b{opb == CUBLAS_OP_N ? k : n, opb == CUBLAS_OP_N ? n : k, ld, order, area};
  Matrix d{m, n, ld, CUBLASLT_ORDER_COL, area};
  std::vector<In> ha(area * batch), hb(area * batch);
  std::vector<Out> hc(area * batch), bias(m);
  for (In& x : ha) x = In(float(rand() % 9 - 4));
  for (In& x : hb) x = In(float(rand() % 9 - 4));
  for (Out& x : hc) x = Out(float(rand() % 9 - 4));
  for (Out& x : bias) x = Out(float(rand() % 9 - 4));
  In *da = device(ha), *db = device(hb);
  Out *dc = device(hc), *dd = device(std::vector<Out>(area * batch)), *dbias = device(bias);
  Out* aux = device(std::vector<Out>(256));
  cublasLtMatmulDesc_t desc;
  cublasLtMatmulPreference_t preference;
  DO(cublasLtMatmulDescCreate(&desc, compute, scale));
  DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &opa, sizeof opa));
  DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &opb, sizeof opb));
  DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  const bool has_bias = epilogue & 4;
  if (has_bias) DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof dbias));
  if (epilogue & 128) {
    const long long aux_ld = 16;
    DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
    DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld, sizeof aux_ld));
  }
  cublasLtMatrixLayout_t la = a.make(in, batch), lb = b.make(in, batch), lc = d.make(out, batch);
  DO(cublasLtMatmulPreferenceCreate(&preference));
  const size_t room = 1 << 20;
  DO(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  DO(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, preference, 1, &result, &found));
  EXPECT(found == 1 && result.state == CUBLAS_STATUS_SUCCESS);
  const S alpha = S(2.f), beta = S(1.f);
  DO(cublasLtMatmul(handle, desc, &alpha, da, la, db, lb, &beta, dc, lc, dd, lc, &result.algo, nullptr, 0, nullptr));
  const std::vector<Out> got = host(dd, area * batch), kept = host(aux, 256);
  bool right = true;
  for (int q = 0; q < batch; ++q)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += double(float(ha[q * area + (opa == CUBLAS_OP_N ? a.place(i, l) : a.place(l, i))])) *
                 double(float(hb[q * area + (opb == CUBLAS_OP_N ? b.place(l, j) : b.place(j, l))]));
        double want = 2 * sum + double(float(hc[q * area + d.place(i, j)])) + (has_bias ? double(float(bias[i])) : 0);
        if (epilogue & 128 && epilogue & 32) right &= std::fabs(float(kept[j * 16 + i]) - want) <= tolerance * (1 + std::fabs(want));
        if (epilogue & 128 && epilogue & 2) right &= (((const unsigned char*)kept.data())[j * 2 + i / 8] >> i % 8 & 1) == (want > 0);
        if (epilogue & 2) want = want > 0 ? want : 0;
        if (epilogue & 32) want = gelu(want);
        if (sizeof(Out) == 1) want = want > 127 ? 127 : want < -128 ? -128 : want;
        right &= std::fabs(double(float(got[q * area + d.place(i, j)])) - want) <= tolerance * (1 + std::fabs(want));
      }
  EXPECT(right);
  DO(cublasLtMatmulPreferenceDestroy(preference));
  for (cublasLtMatrixLayout_t l : {la, lb, lc}) DO(cublasLtMatrixLayoutDestroy(l));
  DO(cublasLtMatmulDescDestroy(desc));
  for (void* p : {(void*)da, (void*)db, (void*)dc, (void*)dd, (void*)dbias, (void*)aux}) CUDA(cudaFree(p));
}

static void scalars_and_refusals() {
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t l, wrong;
  DO(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  DO(cublasLtMatrixLayoutCreate(&l, CUDA_R_32F, 2, 2, 2));
  DO(cublasLtMatrixLayoutCreate(&wrong, CUDA_R_32F, 3, 2, 3));
  float *x = device(std::vector<float>{1, 2, 3, 4}), *y = device(std::vector<float>(4, NAN)), *s = device(std::vector<float>{10, 100, 0});
  const float one = 1, zero = 0;
  // alpha for each row, on the device; C is not read where beta is zero.
  const int mode = CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO;
  DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &mode, sizeof mode));
  DO(cublasLtMatmul(handle, desc, s, x, l, x, l, nullptr, y, l, y, l, nullptr, nullptr, 0, nullptr));
  EXPECT((host(y, 4) == std::vector<float>{70, 1000, 150, 2200}));
  const int on_host = CUBLASLT_POINTER_MODE_HOST;
  DO(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &on_host, sizeof on_host));
  EXPECT(cublasLtMatmul(handle, desc, &one, x, wrong, x, wrong, &zero, y, l, y, l, nullptr, nullptr, 0, nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasLtMatmul(nullptr, desc, &one, x, l, x, l, &zero, y, l, y, l, nullptr, nullptr, 0, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &mode, 8) == CUBLAS_STATUS_INVALID_VALUE);
  const int tiled = CUBLASLT_ORDER_COL32;
  DO(cublasLtMatrixLayoutSetAttribute(wrong, CUBLASLT_MATRIX_LAYOUT_ORDER, &tiled, sizeof tiled));
  EXPECT(cublasLtMatmul(handle, desc, &one, x, l, x, l, &zero, y, wrong, y, wrong, nullptr, nullptr, 0, nullptr) == CUBLAS_STATUS_NOT_SUPPORTED);
  size_t size = 0;
  DO(cublasLtMatrixLayoutGetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ROWS, nullptr, 0, &size));
  EXPECT(size == 8);
  // From columns to rows.
  cublasLtMatrixTransformDesc_t transform;
  const int rows = CUBLASLT_ORDER_ROW;
  DO(cublasLtMatrixTransformDescCreate(&transform, CUDA_R_32F));
  cublasLtMatrixLayoutOpaque_t own;
  DO(cublasLtMatrixLayoutInit(&own, CUDA_R_32F, 2, 2, 2));
  DO(cublasLtMatrixLayoutSetAttribute(&own, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows));
  DO(cublasLtMatrixTransform(handle, transform, &one, x, l, &zero, nullptr, nullptr, y, &own, nullptr));
  EXPECT((host(y, 4) == std::vector<float>{1, 3, 2, 4}));
  DO(cublasLtMatrixTransformDescDestroy(transform));
  for (cublasLtMatrixLayout_t one_of : {l, wrong}) DO(cublasLtMatrixLayoutDestroy(one_of));
  DO(cublasLtMatmulDescDestroy(desc));
}

// A configuration that was written down after a search elsewhere.
static void preset() {
  cublasLtMatmulAlgo_t algo;
  DO(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 10, &algo));
  const cublasLtMatmulTile_t tile = CUBLASLT_MATMUL_TILE_16x16;
  const cublasLtMatmulStages_t stages = CUBLASLT_MATMUL_STAGES_16x10;
  DO(cublasLtMatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tile, sizeof tile));
  DO(cublasLtMatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, &stages, sizeof stages));
  int32_t id = 0, kept = 0, split = -1;
  DO(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id, nullptr));
  DO(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &kept, sizeof kept, nullptr));
  EXPECT(id == 10 && kept == 5);
  EXPECT(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, -1, &algo) ==
         CUBLAS_STATUS_INVALID_VALUE);
  uint32_t tiles[CUBLASLT_MATMUL_TILE_END], epilogues = 0;
  size_t written = 0;
  DO(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, &split, sizeof split, &written));
  EXPECT(split == 0 && written == 4);
  DO(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0, &written));
  EXPECT(written == 4);
  DO(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, sizeof tiles, &written));
  EXPECT(written == 4 && tiles[0] == CUBLASLT_MATMUL_TILE_UNDEFINED);
  DO(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_EPILOGUE_MASK, &epilogues, sizeof epilogues, &written));
  EXPECT(epilogues & CUBLASLT_EPILOGUE_GELU);
}

static void emulation() {
  cublasLtEmulationDesc_t d = nullptr;
  DO(cublasLtEmulationDescCreate(&d));
  const int want[] = {0, 65535, 0, 0, 0};
  for (int k = 0; k < 5; ++k) {
    int v = -7;
    size_t written = 0;
    DO(cublasLtEmulationDescGetAttribute(d, cublasLtEmulationDescAttributes_t(k), &v, sizeof v, &written));
    EXPECT(v == want[k] && written == sizeof v);
  }
  const int eager = CUBLAS_EMULATION_STRATEGY_EAGER;
  int v = 0;
  DO(cublasLtEmulationDescSetAttribute(d, CUBLASLT_EMULATION_DESC_STRATEGY, &eager, sizeof eager));
  DO(cublasLtEmulationDescGetAttribute(d, CUBLASLT_EMULATION_DESC_STRATEGY, &v, sizeof v, nullptr));
  EXPECT(v == eager);
  cublasLtMatmulDesc_t m;
  DO(cublasLtMatmulDescCreate(&m, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, CUDA_R_64F));
  DO(cublasLtMatmulDescSetAttribute(m, CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, &d, sizeof d));
  DO(cublasLtMatmulDescDestroy(m));
  DO(cublasLtEmulationDescDestroy(d));
}

int main() {
  DO(cublasLtCreate(&handle));
  emulation();
  preset();
  const auto f = CUBLAS_COMPUTE_32F;
  for (cublasOperation_t opa : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (cublasOperation_t opb : {CUBLAS_OP_N, CUBLAS_OP_T})
      for (int order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
        for (int batch : {1, 3}) product<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, f, opa, opb, order, batch, 1, 1e-6);
        product<__half, __half, float>(CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, f, opa, opb, order, 2, 1, 1e-3);
      }
  for (unsigned epilogue : {2u, 4u, 6u, 32u, 36u, 130u, 134u, 160u, 164u}) {
    product<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, f, CUBLAS_OP_T, CUBLAS_OP_N, CUBLASLT_ORDER_COL, 1, epilogue, 1e-5);
    product<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, f, CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_ORDER_COL, 1, epilogue, 8e-3);
  }
  product<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_OP_N, CUBLAS_OP_T, 0, 1, 1, 1e-6);
  product<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUBLAS_OP_N, CUBLAS_OP_N, 0, 1, 1, 1e-3);
  product<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUBLAS_OP_T, CUBLAS_OP_T, 0, 1, 1, 1e-12);
  product<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUBLAS_OP_T, CUBLAS_OP_N, 0, 2, 1, 0);
  product<signed char, signed char, float>(CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32I, CUBLAS_OP_T, CUBLAS_OP_N, 0, 1, 1, 0);
  scalars_and_refusals();
  CUDA(cudaDeviceSynchronize());
  DO(cublasLtDestroy(handle));
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
