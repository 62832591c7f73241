// cuFFT against sums written out: types, ranks, batches, layouts, in place, order in streams, captures, wrong arguments.

// build: -lcufft
#include <cufft.h>
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;
static void expect(bool holds, const char* what, int line) {
  if (holds) return;
  if (++failures < 30) printf("line %d: FAIL %s\n", line, what);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define DO(call) expect((call) == CUFFT_SUCCESS, #call, __LINE__)
#define CUDA(call) expect((call) == cudaSuccess, #call, __LINE__)

typedef std::complex<double> Z;
typedef std::vector<int> Sizes;

static int count(const Sizes& n) {
  int all = 1;
  for (int size : n) all *= size;
  return all;
}

// The transform of contiguous data, one dimension after the other, by its definition.
static std::vector<Z> transformed(std::vector<Z> x, const Sizes& n, int sign) {
  int stride = 1;
  for (int d = (int)n.size() - 1; d >= 0; --d) {
    std::vector<Z> y(x.size());
    for (int i = 0; i < (int)x.size(); ++i) {
      const int at = i / stride % n[d], first = i - at * stride;
      for (int k = 0; k < n[d]; ++k) y[i] += x[first + k * stride] * std::polar(1.0, sign * 2 * M_PI * at * k / n[d]);
    }
    x = y;
    stride *= n[d];
  }
  return x;
}

static std::vector<Z> random_complex(int n) {
  std::vector<Z> x(n);
  for (Z& z : x) z = Z(rand() % 2001 / 1000.0 - 1, rand() % 2001 / 1000.0 - 1);
  return x;
}

// The spectrum of real data: what is conjugate to what has been given already is left out.
static std::vector<Z> half(const std::vector<Z>& x, const Sizes& n) {
  std::vector<Z> out;
  for (int i = 0; i < (int)x.size(); ++i)
    if (i % n.back() <= n.back() / 2) out.push_back(x[i]);
  return out;
}

template <class R>
static bool same(const std::vector<std::complex<R>>& got, const std::vector<Z>& want) {
  const double tolerance = sizeof(R) == 4 ? 2e-4 : 1e-10;
  if (got.size() != want.size()) return false;
  for (size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(Z(got[i]) - want[i]) <= tolerance * (1 + std::abs(want[i])))) return false;
  return true;
}

template <class T>
static T* device(const std::vector<T>& from, size_t room = 0) {
  T* p;
  CUDA(cudaMalloc(&p, std::max(room, from.size()) * sizeof(T)));
  CUDA(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
static std::vector<T> host(const T* p, size_t n) {
  std::vector<T> out(n);
  CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

static cufftResult run(cufftHandle p, float* in, std::complex<float>* out) { return cufftExecR2C(p, in, (cufftComplex*)out); }
static cufftResult run(cufftHandle p, double* in, std::complex<double>* out) { return cufftExecD2Z(p, in, (cufftDoubleComplex*)out); }
static cufftResult run(cufftHandle p, std::complex<float>* in, float* out) { return cufftExecC2R(p, (cufftComplex*)in, out); }
static cufftResult run(cufftHandle p, std::complex<double>* in, double* out) { return cufftExecZ2D(p, (cufftDoubleComplex*)in, out); }
static cufftResult run(cufftHandle p, std::complex<float>* in, std::complex<float>* out, int d) {
  return cufftExecC2C(p, (cufftComplex*)in, (cufftComplex*)out, d);
}
static cufftResult run(cufftHandle p, std::complex<double>* in, std::complex<double>* out, int d) {
  return cufftExecZ2Z(p, (cufftDoubleComplex*)in, (cufftDoubleComplex*)out, d);
}

static cufftResult plan(cufftHandle* p, Sizes n, cufftType type) {
  if (n.size() == 1) return cufftPlan1d(p, n[0], type, 1);
  if (n.size() == 2) return cufftPlan2d(p, n[0], n[1], type);
  return cufftPlan3d(p, n[0], n[1], n[2], type);
}

template <class R>
static void plain(const Sizes& n) {
  typedef std::complex<R> C;
  const bool wide = sizeof(R) == 8;
  const int size = count(n), spectrum = size / n.back() * (n.back() / 2 + 1);
  cufftHandle p;
  const std::vector<Z> x = random_complex(size);
  C *in = device(std::vector<C>(x.begin(), x.end())), *out = device(std::vector<C>(size));
  DO(plan(&p, n, wide ? CUFFT_Z2Z : CUFFT_C2C));
  DO(run(p, in, out, CUFFT_FORWARD));
  EXPECT(same(host(out, size), transformed(x, n, -1)));
  EXPECT(same(host(in, size), x));
  DO(run(p, out, out, CUFFT_INVERSE));  // in place; the inverse is not scaled
  std::vector<Z> scaled = x;
  for (Z& z : scaled) z *= size;
  EXPECT(same(host(out, size), scaled));
  DO(cufftDestroy(p));
  EXPECT(run(p, in, out, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);

  std::vector<R> real(size);
  std::vector<Z> real_z(size);
  for (int i = 0; i < size; ++i) real[i] = R(x[i].real()), real_z[i] = real[i];
  R* r = device(real);
  DO(plan(&p, n, wide ? CUFFT_D2Z : CUFFT_R2C));
  DO(run(p, r, out));
  const std::vector<Z> wanted = half(transformed(real_z, n, -1), n);
  EXPECT(same(host(out, spectrum), wanted));
  // In place: rows of real numbers have room for the complex ones that come.
  std::vector<R> padded;
  for (int i = 0; i < size; ++i) {
    padded.push_back(real[i]);
    if (i % n.back() == n.back() - 1) padded.resize((i / n.back() + 1) * 2 * (n.back() / 2 + 1));
  }
  R* place = device(padded);
  DO(run(p, place, (C*)place));
  EXPECT(same(host((C*)place, spectrum), wanted));
  DO(cufftDestroy(p));
  DO(plan(&p, n, wide ? CUFFT_Z2D : CUFFT_C2R));
  DO(run(p, out, r));
  std::vector<R> back = host(r, size);
  double worst = 0;
  for (int i = 0; i < size; ++i) worst = std::max(worst, (double)std::abs(back[i] - size * real[i]));
  EXPECT(worst < (wide ? 1e-9 : 1e-2));
  DO(run(p, (C*)place, place));
  back = host(place, padded.size());
  worst = 0;
  for (int i = 0; i < size; ++i)
    worst = std::max(worst, (double)std::abs(back[i / n.back() * 2 * (n.back() / 2 + 1) + i % n.back()] - size * real[i]));
  EXPECT(worst < (wide ? 1e-9 : 1e-2));
  DO(cufftDestroy(p));
  for (void* memory : {(void*)in, (void*)out, (void*)r, (void*)place}) CUDA(cudaFree(memory));
}

static void batches_and_layouts() {
  typedef std::complex<float> C;
  // Five transforms of 12 side by side.
  const int n = 12, batch = 5;
  std::vector<Z> x = random_complex(n * batch), want;
  for (int b = 0; b < batch; ++b) {
    const auto one = transformed({x.begin() + b * n, x.begin() + (b + 1) * n}, {n}, -1);
    want.insert(want.end(), one.begin(), one.end());
  }
  cufftHandle p;
  C *in = device(std::vector<C>(x.begin(), x.end())), *out = device(std::vector<C>(1000));
  DO(cufftPlan1d(&p, n, CUFFT_C2C, batch));
  DO(run(p, in, out, CUFFT_FORWARD));
  EXPECT(same(host(out, n * batch), want));
  DO(cufftDestroy(p));
  // The columns of a matrix of 12 rows and 5 columns: stride 5, distance 1. Out: stride 2, rows of 40.
  std::vector<Z> columns(n * batch);
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < n; ++i) columns[i * batch + b] = x[b * n + i];
  CUDA(cudaMemcpy(in, std::vector<C>(columns.begin(), columns.end()).data(), n * batch * sizeof(C), cudaMemcpyHostToDevice));
  int size[] = {n}, embed[] = {n};
  DO(cufftPlanMany(&p, 1, size, embed, batch, 1, embed, 2, 40, CUFFT_C2C, batch));
  DO(run(p, in, out, CUFFT_FORWARD));
  std::vector<C> all = host(out, 40 * batch), got;
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < n; ++i) got.push_back(all[b * 40 + 2 * i]);
  EXPECT(same(got, want));
  DO(cufftDestroy(p));
  // A part of 4 by 6 of a larger array of 7 by 9, real to complex, 3 of them.
  std::vector<float> big(3 * 63);
  for (float& f : big) f = rand() % 100 / 50.0f - 1;
  float* real = device(big);
  DO(cufftCreate(&p));
  size_t work = 1;
  long long part64[] = {4, 6}, in64[] = {7, 9}, out64[] = {4, 5};
  DO(cufftMakePlanMany64(p, 2, part64, in64, 1, 63, out64, 1, 20, CUFFT_R2C, 3, &work));
  DO(cufftGetSize(p, &work));
  DO(run(p, real, out));
  all = host(out, 60);
  for (int b = 0; b < 3; ++b) {
    std::vector<Z> piece;
    for (int i = 0; i < 24; ++i) piece.push_back(big[b * 63 + i / 6 * 9 + i % 6]);
    got.clear();
    for (int i = 0; i < 16; ++i) got.push_back(all[b * 20 + i / 4 * 5 + i % 4]);
    EXPECT(same(got, half(transformed(piece, {4, 6}, -1), {4, 6})));
  }
  DO(cufftDestroy(p));
  DO(cufftCreate(&p));
  DO(cufftXtMakePlanMany(p, 1, part64, nullptr, 1, 4, CUDA_C_32F, nullptr, 1, 4, CUDA_C_32F, 2, &work, CUDA_C_32F));
  DO(cufftXtExec(p, in, out, CUFFT_FORWARD));
  EXPECT(same(host(out, 4), transformed({columns.begin(), columns.begin() + 4}, {4}, -1)));
  DO(cufftDestroy(p));
  CUDA(cudaFree(in)), CUDA(cudaFree(out)), CUDA(cudaFree(real));
}

__global__ void set(float2* x, int n, float value) {
  for (int spin = 0; spin < 1000; ++spin)
    if (threadIdx.x < n) x[threadIdx.x] = make_float2(spin, spin);
  if (threadIdx.x < n) x[threadIdx.x] = make_float2(value, 0);
}
__global__ void scale(float2* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x].x /= n;
}

static void order() {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float2* x;
  CUDA(cudaMalloc(&x, 64 * sizeof *x));
  cufftHandle p;
  DO(cufftPlan1d(&p, 64, CUFFT_C2C, 1));
  DO(cufftSetStream(p, stream));
  set<<<1, 64, 0, stream>>>(x, 64, 3);
  DO(cufftExecC2C(p, x, x, CUFFT_FORWARD));
  scale<<<1, 64, 0, stream>>>(x, 64);
  float2 first;
  CUDA(cudaMemcpyAsync(&first, x, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(first.x == 3 && first.y == 0);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  set<<<1, 64, 0, stream>>>(x, 64, 7);
  DO(cufftExecC2C(p, x, x, CUFFT_FORWARD));
  scale<<<1, 64, 0, stream>>>(x, 64);
  CUDA(cudaStreamEndCapture(stream, &graph));
  CUDA(cudaGraphInstantiate(&exec, graph, 0));
  CUDA(cudaGraphLaunch(exec, stream));
  DO(cufftDestroy(p));  // the graph keeps what it needs
  CUDA(cudaStreamSynchronize(stream));
  CUDA(cudaGraphLaunch(exec, stream));
  CUDA(cudaMemcpyAsync(&first, x, sizeof first, cudaMemcpyDeviceToHost, stream));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(first.x == 7);
  CUDA(cudaGraphExecDestroy(exec)), CUDA(cudaGraphDestroy(graph)), CUDA(cudaFree(x)), CUDA(cudaStreamDestroy(stream));
}

static void arguments() {
  cufftHandle p;
  size_t work;
  EXPECT(cufftPlan1d(&p, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  EXPECT(cufftPlan1d(&p, 8, (cufftType)5, 1) == CUFFT_INVALID_TYPE);
  EXPECT(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE);
  EXPECT(cufftDestroy(12345) == CUFFT_INVALID_PLAN);
  DO(cufftEstimate2d(8, 8, CUFFT_C2C, &work));
  DO(cufftPlan1d(&p, 8, CUFFT_C2C, 1));
  EXPECT(cufftExecC2C(p, nullptr, nullptr, CUFFT_FORWARD) == CUFFT_INVALID_VALUE);
  EXPECT(cufftExecC2C(p, (cufftComplex*)256, (cufftComplex*)256, 0) == CUFFT_INVALID_VALUE);
  EXPECT(cufftMakePlan1d(p, 8, CUFFT_C2C, 1, &work) == CUFFT_INVALID_PLAN);
  int version = 0;
  DO(cufftGetVersion(&version));
  EXPECT(version == CUFFT_VERSION);
  // Last: the input is too short. As with a kernel, the context is broken then.
  cufftComplex* x;
  cufftHandle large;
  CUDA(cudaMalloc(&x, 512));
  DO(cufftPlan1d(&large, 65, CUFFT_C2C, 1));
  DO(cufftExecC2C(large, x, x, CUFFT_FORWARD));
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  EXPECT(cufftExecC2C(p, x, x, CUFFT_FORWARD) == CUFFT_EXEC_FAILED);
}

int main() {
  for (const Sizes& n : {Sizes{16}, Sizes{15}, Sizes{1}, Sizes{97}, Sizes{6, 8}, Sizes{5, 7}, Sizes{3, 4, 6}, Sizes{2, 3, 5}}) {
    plain<float>(n);
    plain<double>(n);
  }
  batches_and_layouts();
  order();
  arguments();
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}
