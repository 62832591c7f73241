// cuBLASLt's products of numbers with eight bits, against plain loops: which types go together, scales of matrices, rows and
// columns, the largest result, bias and ReLU, saturation, and what is refused.

// build: -lcublasLt
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

constexpr cudaDataType kE4 = CUDA_R_8F_E4M3, kE5 = CUDA_R_8F_E5M2;

static size_t bytes(cudaDataType t) { return t == CUDA_R_32F ? 4 : t == CUDA_R_16F || t == CUDA_R_16BF ? 2 : 1; }
static float get(const void* p, cudaDataType t, int k) {
  switch (t) {
    case CUDA_R_32F: return static_cast<const float*>(p)[k];
    case CUDA_R_16F: return __half2float(static_cast<const __half*>(p)[k]);
    case CUDA_R_16BF: return __bfloat162float(static_cast<const __nv_bfloat16*>(p)[k]);
    case kE4: return float(static_cast<const __nv_fp8_e4m3*>(p)[k]);
    default: return float(static_cast<const __nv_fp8_e5m2*>(p)[k]);
  }
}
static void put(void* p, cudaDataType t, int k, float x) {
  switch (t) {
    case CUDA_R_32F: static_cast<float*>(p)[k] = x; break;
    case CUDA_R_16F: static_cast<__half*>(p)[k] = __float2half(x); break;
    case CUDA_R_16BF: static_cast<__nv_bfloat16*>(p)[k] = __float2bfloat16(x); break;
    case kE4: static_cast<__nv_fp8_e4m3*>(p)[k] = __nv_fp8_e4m3(x); break;
    default: static_cast<__nv_fp8_e5m2*>(p)[k] = __nv_fp8_e5m2(x); break;
  }
}
static float rounded(cudaDataType t, float x) {
  float place;
  put(&place, t, 0, x);
  return get(&place, t, 0);
}

struct Numbers {  // on both sides
  cudaDataType type;
  std::vector<char> host;
  char* device;
  Numbers(cudaDataType t, size_t n, int range) : type(t), host(n * bytes(t)) {
    for (size_t k = 0; k < n; ++k) put(host.data(), t, int(k), range ? float(rand() % range - range / 2) : 0);
    CUDA(cudaMalloc(&device, host.size() + 16));
    up();
  }
  ~Numbers() { cudaFree(device); }
  void up() { CUDA(cudaMemcpy(device, host.data(), host.size(), cudaMemcpyHostToDevice)); }
  void down() { CUDA(cudaMemcpy(host.data(), device, host.size(), cudaMemcpyDeviceToHost)); }
  float operator[](int k) const { return get(host.data(), type, k); }
};

struct Product {
  cudaDataType a = kE4, b = kE4, c = CUDA_R_16BF, d = CUDA_R_16BF;
  int m = 32, n = 24, k = 48;
  cublasOperation_t op_a = CUBLAS_OP_T, op_b = CUBLAS_OP_N;
  float alpha = 1, beta = 0;
  float *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr, *largest = nullptr;
  int mode = -1;
  unsigned epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  int shift = 0;  // of A's address

  cublasStatus_t operator()(void* pa, void* pb, void* pc, void* pd) const {
    cublasLtMatmulDesc_t desc;
    DO(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const auto set = [&](cublasLtMatmulDescAttributes_t what, auto value) { DO(cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof value)); };
    set(CUBLASLT_MATMUL_DESC_TRANSA, op_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, op_b);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (scale_a) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scale_a);
    if (scale_b) set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scale_b);
    if (scale_c) set(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, scale_c);
    if (scale_d) set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scale_d);
    if (largest) set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, largest);
    if (bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    if (mode >= 0) set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode), set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    const bool ta = op_a != CUBLAS_OP_N, tb = op_b != CUBLAS_OP_N;
    cublasLtMatrixLayout_t la, lb, lc, ld;
    DO(cublasLtMatrixLayoutCreate(&la, a, ta ? k : m, ta ? m : k, ta ? k : m));
    DO(cublasLtMatrixLayoutCreate(&lb, b, tb ? n : k, tb ? k : n, tb ? n : k));
    DO(cublasLtMatrixLayoutCreate(&lc, c, m, n, m));
    DO(cublasLtMatrixLayoutCreate(&ld, d, m, n, m));
    const cublasStatus_t status = cublasLtMatmul(handle, desc, &alpha, static_cast<char*>(pa) + shift, la, pb, lb, &beta, pc, lc, pd, ld, nullptr, nullptr, 0, nullptr);
    CUDA(cudaDeviceSynchronize());
    for (cublasLtMatrixLayout_t l : {la, lb, lc, ld}) DO(cublasLtMatrixLayoutDestroy(l));
    DO(cublasLtMatmulDescDestroy(desc));
    return status;
  }
};

static float* one(float x) {
  float* p;
  CUDA(cudaMalloc(&p, sizeof x));
  CUDA(cudaMemcpy(p, &x, sizeof x, cudaMemcpyHostToDevice));
  return p;
}

// All the numbers are whole and small, so that no sum is rounded before the end.
static void compare(const Product& p, bool outer = false) {
  Numbers a(p.a, p.m * p.k, 7), b(p.b, p.n * p.k, 7), c(p.c, p.m * p.n, 9), d(p.d, p.m * p.n, 0);
  const cudaDataType bias_type = p.c == CUDA_R_16F ? CUDA_R_16F : CUDA_R_16BF;
  Numbers bias(bias_type, p.m, 60), rows(CUDA_R_32F, p.m, 5), columns(CUDA_R_32F, p.n, 5);
  float *sa = one(2), *sb = one(0.5f), *sc = one(4), *sd = one(0.25f), *largest = one(-1);
  Product q = p;
  const bool narrow = p.d == kE4 || p.d == kE5;
  q.scale_a = outer ? reinterpret_cast<float*>(rows.device) : sa;
  q.scale_b = outer ? reinterpret_cast<float*>(columns.device) : sb;
  if (!outer) q.scale_c = sc;
  if (outer) q.mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
  if (narrow) q.scale_d = sd, q.largest = largest;
  if (p.epilogue & CUBLASLT_EPILOGUE_BIAS) q.bias = bias.device;
  DO(q(a.device, b.device, c.device, d.device));
  d.down();
  float most = 0;
  int wrong = 0;
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < p.m; ++i) {
      float sum = 0;
      for (int l = 0; l < p.k; ++l) sum += a[i * p.k + l] * b[j * p.k + l];
      sum *= p.alpha * (outer ? rows[i] * columns[j] : 1.0f);
      sum += p.beta * (outer ? 1 : 4) * c[j * p.m + i];
      if (p.epilogue & CUBLASLT_EPILOGUE_BIAS) sum += bias[i];
      if (p.epilogue & CUBLASLT_EPILOGUE_RELU && sum < 0) sum = 0;
      most = std::fmax(most, std::fabs(sum));
      wrong += d[j * p.m + i] != rounded(p.d, narrow ? sum * 0.25f : sum);
    }
  EXPECT(wrong == 0);
  if (narrow) {
    float got;
    CUDA(cudaMemcpy(&got, largest, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == most);
  }
  for (float* s : {sa, sb, sc, sd, largest}) cudaFree(s);
}

int main() {
  srand(5);
  DO(cublasLtCreate(&handle));
  Numbers a(kE4, 1 << 12, 5), b(kE4, 1 << 12, 5), c(CUDA_R_32F, 1 << 12, 5), d(CUDA_R_32F, 1 << 12, 0);
  const auto asks = [&](const Product& p) { return p(a.device, b.device, c.device, d.device); };

  const cudaDataType eight[] = {kE4, kE5}, results[] = {CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, kE4, kE5};
  int there = 0;
  for (cudaDataType ta : eight)
    for (cudaDataType tb : eight)
      for (cudaDataType tc : results)
        for (cudaDataType td : results) {
          Product p;
          p.a = ta, p.b = tb, p.c = tc, p.d = td;
          const bool fine = ta == kE4 && tb == kE4;
          const bool good = (ta == kE4 || tb == kE4) && bytes(tc) > 1 && (tc == td || (tc != CUDA_R_32F && (td == kE4 || (td == kE5 && !fine))));
          if (good) {
            compare(p);
            p.alpha = 2, p.beta = 3;
            p.epilogue = CUBLASLT_EPILOGUE_BIAS;
            compare(p);
            p.epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
            compare(p);
            if (bytes(td) > 1) compare(p, true);
            ++there;
          } else {
            EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
          }
        }
  EXPECT(there == 19);

  {  // too large numbers become the largest there is; NaN stays and is the largest
    Numbers ones(kE4, 16 * 16, 0), e4(kE4, 16 * 16, 0), e5(kE5, 16 * 16, 0), big(kE5, 16 * 16, 0);
    for (int k = 0; k < 16; ++k) put(ones.host.data(), kE4, k * 17, 1);
    for (int k = 0; k < 256; ++k) put(big.host.data(), kE5, k, k % 3 ? 57344.0f : -57344.0f);
    ones.up(), big.up();
    float* largest = one(0);
    Product p;
    p.m = p.n = p.k = 16;
    p.b = kE5, p.d = kE4, p.largest = largest, p.alpha = 3;
    DO(p(ones.device, big.device, c.device, e4.device));
    e4.down();
    EXPECT(e4[0] == -448 && e4[1] == 448);
    p.d = kE5;
    DO(p(ones.device, big.device, c.device, e5.device));
    e5.down();
    EXPECT(e5[0] == -57344 && e5[1] == 57344);
    float got;
    CUDA(cudaMemcpy(&got, largest, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(got == 3 * 57344.0f);
    big.host[5] = 0x7f;
    big.up();
    DO(p(ones.device, big.device, c.device, e5.device));
    e5.down();
    EXPECT(std::isnan(e5[5]));
    CUDA(cudaMemcpy(&got, largest, sizeof got, cudaMemcpyDeviceToHost));
    EXPECT(std::isnan(got));
    cudaFree(largest);
  }

  // Tensor cores read A by rows and B by columns, in pieces of 16 bytes.
  for (int op_a = 0; op_a < 2; ++op_a)
    for (int op_b = 0; op_b < 2; ++op_b) {
      Product p;
      p.op_a = cublasOperation_t(op_a), p.op_b = cublasOperation_t(op_b), p.n = 32;
      EXPECT(asks(p) == (op_a && !op_b ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED));
    }
  Product p;
  p.k = 40;
  EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
  p = {}, p.m = 12;
  EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
  p.m = 8, p.n = 3;
  DO(asks(p));
  p.d = kE4;
  EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
  p = {}, p.shift = 8;
  EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
  p = {}, p.mode = CUBLASLT_MATMUL_MATRIX_SCALE_PER_BATCH_SCALAR_32F;  // for groups, which devices of 10.x have
  EXPECT(asks(p) == CUBLAS_STATUS_NOT_SUPPORTED);
  // Scales of a result and its largest number are for results of eight bits; one for each row only for others, and then C has none.
  float* two = one(2);
  p = {}, p.scale_d = two;
  EXPECT(asks(p) == CUBLAS_STATUS_INVALID_VALUE);
  p = {}, p.largest = two;
  EXPECT(asks(p) == CUBLAS_STATUS_INVALID_VALUE);
  p = {}, p.d = kE4, p.mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, p.scale_a = p.scale_b = reinterpret_cast<float*>(c.device);
  EXPECT(asks(p) == CUBLAS_STATUS_INVALID_VALUE);
  p.d = CUDA_R_16BF;
  DO(asks(p));
  p.scale_c = two;
  EXPECT(asks(p) == CUBLAS_STATUS_INVALID_VALUE);
  cudaFree(two);
  DO(cublasLtDestroy(handle));
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
