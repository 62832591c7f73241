// How cuBLAS's calls behave: order in streams, pointer modes, captures, wrong arguments, bad addresses; batches and types.

// build: -lcublas
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: FAIL %s\n", line, what);
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

__global__ void slowly_set(float* x, int n, float value) {
  for (int spin = 0; spin < 2000; ++spin)
    if (threadIdx.x < n) x[threadIdx.x] = spin;
  if (threadIdx.x < n) x[threadIdx.x] = value;
}
__global__ void twice(float* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= 2;
}

static void order(cublasHandle_t h) {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  DO(cublasSetStream(h, stream));
  cudaStream_t got;
  DO(cublasGetStream(h, &got));
  EXPECT(got == stream);
  float* x = device(std::vector<float>(64, 0));
  float* y = device(std::vector<float>(64, 1));
  float* scalar = device(std::vector<float>{3, 0});
  CUDA(cudaDeviceSynchronize());
  slowly_set<<<1, 64, 0, stream>>>(x, 64, 5);
  const float two = 2;
  DO(cublasSaxpy(h, 64, &two, x, 1, y, 1));  // 11
  twice<<<1, 64, 0, stream>>>(y, 64);        // 22
  DO(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
  DO(cublasSscal(h, 64, scalar, y, 1));            // 66
  DO(cublasSdot(h, 64, x, 1, y, 1, scalar + 1));   // 64 * 330
  std::vector<float> back(2);
  CUDA(cudaMemcpyAsync(back.data(), scalar, 8, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(back[1] == 64 * 330.0f && host(y, 64)[63] == 66);
  DO(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  slowly_set<<<1, 64, 0, stream>>>(x, 64, 2);
  float norm = 0;
  DO(cublasSnrm2(h, 64, x, 1, &norm));  // waits
  EXPECT(norm == 16);

  // A capture keeps the calls for later, with the scalars they had.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  slowly_set<<<1, 64, 0, stream>>>(x, 64, 1);
  float alpha = 10;
  DO(cublasSaxpy(h, 64, &alpha, x, 1, y, 1));
  alpha = 1e9f;
  twice<<<1, 64, 0, stream>>>(x, 64);
  CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT(host(y, 64)[0] == 66);
  size_t nodes = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 3);
  std::vector<cudaGraphNode_t> all(3);
  CUDA(cudaGraphGetNodes(graph, all.data(), &nodes));
  for (cudaGraphNode_t node : all) {
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(node, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);
  }
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(host(y, 64)[5] == 96 && host(x, 64)[5] == 2);
  CUDA(cudaGraphExecDestroy(exec));
  CUDA(cudaGraphDestroy(graph));
  DO(cublasSetStream(h, nullptr));
  CUDA(cudaStreamDestroy(stream));
  CUDA(cudaFree(x)), CUDA(cudaFree(y)), CUDA(cudaFree(scalar));
}

static void arguments(cublasHandle_t h) {
  float* a = device(std::vector<float>(64, 1));
  float one = 1, zero = 0;
  int which = 7;
  EXPECT(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, -1, 2, 2, &one, a, 2, a, 2, &zero, a, 2) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 2, 2, &one, a, 3, a, 2, &zero, a, 4) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(h, CUBLAS_OP_T, CUBLAS_OP_N, 4, 2, 2, &one, a, 2, a, 2, &zero, a, 3) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, nullptr, a, 2, a, 2, &zero, a, 2) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(h, (cublasOperation_t)9, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, a, 2) == CUBLAS_STATUS_INVALID_VALUE);
  DO(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, a, 1, a, 2, &zero, a, 1));
  EXPECT(cublasSgemv(h, CUBLAS_OP_N, 2, 2, &one, a, 2, a, 0, &zero, a, 1) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, a, 2) == CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT(cublasIsamax(h, 4, a, 1, nullptr) == CUBLAS_STATUS_INVALID_VALUE);
  DO(cublasIsamax(h, 0, a, 1, &which));
  EXPECT(which == 0);
  DO(cublasIsamax(h, 64, a, 1, &which));
  EXPECT(which == 1);
  float result = 7;
  DO(cublasSdot(h, 0, a, 1, a, 1, &result));
  EXPECT(result == 0);
  EXPECT(cublasSetVector(4, 0, a, 1, a, 1) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSetMatrix(4, 4, 4, a, 3, a, 4) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(cublasSetPointerMode(h, (cublasPointerMode_t)5) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(!strcmp(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE"));
  EXPECT(!strcmp(cublasGetStatusString(CUBLAS_STATUS_SUCCESS), "success"));
  int version = 0;
  DO(cublasGetVersion(h, &version));
  EXPECT(version == CUBLAS_VERSION);
  cublasMath_t math;
  DO(cublasSetMathMode(h, CUBLAS_TF32_TENSOR_OP_MATH));
  DO(cublasGetMathMode(h, &math));
  EXPECT(math == CUBLAS_TF32_TENSOR_OP_MATH);
  DO(cublasSetMathMode(h, CUBLAS_DEFAULT_MATH));
  // Rows of a matrix of the host into columns that lie further apart, and back.
  std::vector<double> m(12), back(20, -1);
  for (int i = 0; i < 12; ++i) m[i] = i;
  double* d;
  CUDA(cudaMalloc(&d, 20 * sizeof(double)));
  DO(cublasSetMatrix(3, 4, sizeof(double), m.data(), 3, d, 5));
  DO(cublasGetMatrix(3, 4, sizeof(double), d, 5, back.data(), 5));
  EXPECT(back[0] == 0 && back[7] == 5 && back[3] == -1 && back[17] == 11);
  DO(cublasGetVector(4, sizeof(double), d, 5, back.data(), 2));
  EXPECT(back[0] == 0 && back[2] == 3 && back[6] == 9);
  CUDA(cudaFree(d)), CUDA(cudaFree(a));
}

static void batches(cublasHandle_t h) {
  const int n = 3, count = 4, area = n * n;
  std::vector<double> a(area * count), b(area * count);
  for (size_t i = 0; i < a.size(); ++i) a[i] = (i * 7 % 11) - 5.0 + (i % area % (n + 1) == 0 ? 9 : 0), b[i] = i % 5 - 2.0;
  double *da = device(a), *db = device(b), *dc = device(std::vector<double>(area * count)), one = 1, zero = 0;
  std::vector<double*> pa, pb, pc;
  for (int k = 0; k < count; ++k) pa.push_back(da + k * area), pb.push_back(db + k * area), pc.push_back(dc + k * area);
  double **ppa = device(pa), **ppb = device(pb), **ppc = device(pc);
  auto close = [&](const std::vector<double>& x, const std::vector<double>& y) {
    for (size_t i = 0; i < x.size(); ++i)
      if (!(std::fabs(x[i] - y[i]) < 1e-9)) return false;
    return true;
  };
  std::vector<double> product(area * count);
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int l = 0; l < n; ++l) product[k * area + j * n + i] += a[k * area + l * n + i] * b[k * area + j * n + l];
  DO(cublasDgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, ppa, n, ppb, n, &zero, ppc, n, count));
  EXPECT(close(host(dc, area * count), product));
  CUDA(cudaMemset(dc, 0xff, area * count * sizeof(double)));
  DO(cublasDgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, area, db, n, area, &zero, dc, n, area, count));
  EXPECT(close(host(dc, area * count), product));

  // LU, and what is solved and inverted with it: products with the inverse are the identity.
  int *pivots, *info;
  CUDA(cudaMalloc(&pivots, n * count * sizeof(int)));
  CUDA(cudaMalloc(&info, count * sizeof(int)));
  std::vector<double> identity(area * count);
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i) identity[k * area + i * n + i] = 1;
  for (int* order : {pivots, (int*)nullptr}) {
    CUDA(cudaMemcpy(da, a.data(), a.size() * 8, cudaMemcpyHostToDevice));
    DO(cublasDgetrfBatched(h, n, ppa, n, order, info, count));
    EXPECT(host(info, count) == std::vector<int>(count, 0));
    DO(cublasDgetriBatched(h, n, ppa, n, order, ppc, n, info, count));
    CUDA(cudaMemcpy(db, product.data(), b.size() * 8, cudaMemcpyHostToDevice));
    int wrong = 1;
    DO(cublasDgetrsBatched(h, CUBLAS_OP_N, n, n, ppa, n, order, ppb, n, &wrong, count));
    EXPECT(wrong == 0 && close(host(db, area * count), b));
    CUDA(cudaMemcpy(da, a.data(), a.size() * 8, cudaMemcpyHostToDevice));
    DO(cublasDgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, area, dc, n, area, &zero, db, n, area, count));
    EXPECT(close(host(db, area * count), identity));
  }
  DO(cublasDmatinvBatched(h, n, ppa, n, ppc, n, info, count));
  DO(cublasDgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, dc, n, area, da, n, area, &zero, db, n, area, count));
  EXPECT(close(host(db, area * count), identity));
  CUDA(cudaMemset(da, 0, area * sizeof(double)));
  DO(cublasDgetrfBatched(h, n, ppa, n, pivots, info, count));
  EXPECT(host(info, count)[0] == 1 && host(info, count)[1] == 0);
  // No inverse is infinities and NaNs, not what was there.
  CUDA(cudaMemset(dc, 0, area * sizeof(double)));
  DO(cublasDgetriBatched(h, n, ppa, n, pivots, ppc, n, info, count));
  EXPECT(host(info, count)[0] > 0 && host(info, count)[1] == 0);
  for (double x : host(dc, area)) EXPECT(!std::isfinite(x));
  CUDA(cudaMemset(dc, 0, area * sizeof(double)));
  DO(cublasDmatinvBatched(h, n, ppa, n, ppc, n, info, count));
  EXPECT(host(info, count)[0] > 0);
  for (double x : host(dc, area)) EXPECT(!std::isfinite(x));
  for (void* p : {(void*)da, (void*)db, (void*)dc, (void*)ppa, (void*)ppb, (void*)ppc, (void*)pivots, (void*)info}) CUDA(cudaFree(p));
}

template <class In, class Out, class Scalar>
static void types(cublasHandle_t h, cudaDataType in, cudaDataType out, cublasComputeType_t compute, Scalar s, Scalar b) {
  const int m = 5, n = 4, k = 6;
  std::vector<In> a(m * k), c(k * n);
  std::vector<Out> d(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = In(float(i % 7 - 3));
  for (int i = 0; i < k * n; ++i) c[i] = In(float(i % 5 - 2));
  for (int i = 0; i < m * n; ++i) d[i] = Out(float(i % 3));
  In *da = device(a), *dc = device(c);
  Out* dd = device(d);
  DO(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &s, da, in, m, dc, in, k, &b, dd, out, m, compute, CUBLAS_GEMM_DEFAULT));
  const std::vector<Out> got = host(dd, m * n);
  bool right = true;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += float(a[l * m + i]) * float(c[j * k + l]);
      right &= float(got[j * m + i]) == float(s) * sum + float(b) * float(d[j * m + i]);
    }
  EXPECT(right);
  CUDA(cudaFree(da)), CUDA(cudaFree(dc)), CUDA(cudaFree(dd));
}

static void all_types(cublasHandle_t h) {
  types<__half, __half, __half>(h, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, __half(2.f), __half(1.f));
  types<__half, __half, float>(h, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2, -1);
  types<__half, float, float>(h, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_16F, 0.5f, 2);
  types<__nv_bfloat16, __nv_bfloat16, float>(h, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1, 0);
  types<__nv_bfloat16, float, float>(h, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1, 1);
  types<signed char, int, int>(h, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 3, 2);
  types<float, float, float>(h, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 1, 0);
  types<double, double, double>(h, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, 1, 1);
  const float one = 1;
  EXPECT(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, nullptr, CUDA_R_16F, 1, nullptr, CUDA_R_32F, 1, &one, nullptr,
                      CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  // The older way to name the type to compute in.
  __half* x = device(std::vector<__half>(9, __half(1.f)));
  DO(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_T, 3, 3, 3, &one, x, CUDA_R_16F, 3, x, CUDA_R_16F, 3, &one, x, CUDA_R_16F, 3, CUDA_R_32F,
                  CUBLAS_GEMM_DEFAULT_TENSOR_OP));
  EXPECT(float(host(x, 9)[8]) == 4);
  float norm;
  DO(cublasNrm2Ex(h, 9, x, CUDA_R_16F, 1, &norm, CUDA_R_32F, CUDA_R_32F));
  EXPECT(norm == 12);
  __half dot;
  DO(cublasDotEx(h, 9, x, CUDA_R_16F, 1, x, CUDA_R_16F, 1, &dot, CUDA_R_16F, CUDA_R_32F));
  EXPECT(float(dot) == 144);
  CUDA(cudaFree(x));
}

// Products of doubles may be asked to be made from narrower ones.
static void emulation(cublasHandle_t h) {
  cublasEmulationStrategy_t strategy;
  DO(cublasSetEmulationStrategy(h, CUBLAS_EMULATION_STRATEGY_EAGER));
  DO(cublasGetEmulationStrategy(h, &strategy));
  EXPECT(strategy == CUBLAS_EMULATION_STRATEGY_EAGER);
  EXPECT(cublasSetEmulationStrategy(h, cublasEmulationStrategy_t(9)) == CUBLAS_STATUS_INVALID_VALUE);
  DO(cublasSetEmulationSpecialValuesSupport(h, CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE));
  DO(cublasSetFixedPointEmulationMantissaControl(h, CUDA_EMULATION_MANTISSA_CONTROL_FIXED));
  DO(cublasSetFixedPointEmulationMaxMantissaBitCount(h, 55));
  EXPECT(cublasSetFixedPointEmulationMaxMantissaBitCount(h, -1) == CUBLAS_STATUS_INVALID_VALUE);
  DO(cublasSetFixedPointEmulationMantissaBitOffset(h, -8));
  int most = 0, offset = 0, kept = 0, *bits = device(std::vector<int>(1, 7)), *told = nullptr;
  DO(cublasGetFixedPointEmulationMaxMantissaBitCount(h, &most));
  DO(cublasGetFixedPointEmulationMantissaBitOffset(h, &offset));
  DO(cublasSetFixedPointEmulationMantissaBitCountPointer(h, bits));
  DO(cublasGetFixedPointEmulationMantissaBitCountPointer(h, &told));
  DO(cublasSetMathMode(h, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
  double *a = device(std::vector<double>{1, 2, 3, 4}), *c = device(std::vector<double>(4)), out[4], one = 1, zero = 0;
  DO(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, c, 2));
  CUDA(cudaMemcpy(out, c, sizeof out, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(&kept, bits, sizeof kept, cudaMemcpyDeviceToHost));
  EXPECT(most == 55 && offset == -8 && told == bits && kept == -1 && out[0] == 7 && out[3] == 22);
  DO(cublasSetMathMode(h, CUBLAS_DEFAULT_MATH));
}

// Last: what a kernel could not touch breaks the context, as a kernel's own fault does.
static void bad_address(cublasHandle_t h) {
  std::vector<float> here(64, 1);
  float* x = device(here);
  const float one = 1;
  DO(cublasSaxpy(h, 64, &one, here.data(), 1, x, 1));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cublasSaxpy(h, 64, &one, x, 1, x, 1) == CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT(cudaMemcpy(here.data(), x, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
}

int main() {
  cublasHandle_t h = nullptr;
  DO(cublasCreate(&h));
  order(h);
  arguments(h);
  batches(h);
  all_types(h);
  emulation(h);
  CUDA(cudaDeviceSynchronize());
  bad_address(h);
  cublasDestroy(h);
  EXPECT(cublasDestroy(h) == CUBLAS_STATUS_NOT_INITIALIZED);
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
