// build: -lcufft
// Routines of the program's that give a transform its elements and take its results: complex and real, in place and not,
// with values of the caller's and with shared memory.
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAIL %s\n", what);
}

// A signal of bytes becomes complex numbers as it is read.
__device__ cufftComplex from_bytes(void* in, size_t at, void* info, void*) {
  return make_cuComplex(static_cast<const signed char*>(in)[at] * *static_cast<const float*>(info), 0);
}
// A filter's answer is applied, and the scale, as the spectrum is read.
struct Filter {
  const cufftComplex* answer;
  float scale;
};
__device__ cufftComplex filtered(void* in, size_t at, void* info, void*) {
  const Filter* filter = static_cast<const Filter*>(info);
  const cufftComplex x = cuCmulf(static_cast<const cufftComplex*>(in)[at], filter->answer[at]);
  return make_cuComplex(x.x * filter->scale, x.y * filter->scale);
}
__device__ void powers(void* out, size_t at, cufftDoubleComplex x, void*, void*) {
  static_cast<double*>(out)[at] = x.x * x.x + x.y * x.y;
}
__device__ cufftDoubleReal windowed(void* in, size_t at, void* info, void* shared) {
  double* mine = static_cast<double*>(shared) + threadIdx.x;
  *mine = static_cast<const double*>(in)[at];
  return *mine * (at % *static_cast<const int*>(info));
}
__device__ cufftReal halved(void* in, size_t at, void*, void*) { return static_cast<const float*>(in)[at] * 0.5f; }
__device__ void negated(void* out, size_t at, cufftReal x, void*, void*) { static_cast<float*>(out)[at] = -x; }

__device__ cufftCallbackLoadC from_bytes_at = from_bytes, filtered_at = filtered;
__device__ cufftCallbackStoreZ powers_at = powers;
__device__ cufftCallbackLoadD windowed_at = windowed;
__device__ cufftCallbackLoadR halved_at = halved;
__device__ cufftCallbackStoreR negated_at = negated;

template <class Routine>
static void* routine(Routine& symbol) {
  Routine host;
  expect(cudaMemcpyFromSymbol(&host, symbol, sizeof host) == cudaSuccess, "cudaMemcpyFromSymbol");
  return reinterpret_cast<void*>(host);
}

template <class T>
static T* managed(size_t count) {
  T* p;
  cudaMallocManaged(&p, count * sizeof(T));
  return p;
}

// A cyclic product of a signal with a filter: two transforms, the elements of both by routines.
static void convolution() {
  constexpr int n = 48, batch = 3;
  auto* signal = managed<signed char>(n * batch);
  auto *spectrum = managed<cufftComplex>(n * batch), *answer = managed<cufftComplex>(n * batch);
  auto* scale = managed<float>(1);
  auto* filter = managed<Filter>(1);
  const float taps[3] = {1, 2, -1};
  for (int i = 0; i < n * batch; ++i) {
    signal[i] = i * 37 % 100 - 50;
    std::complex<float> sum = 0;
    for (int t = 0; t < 3; ++t) sum += taps[t] * std::polar(1.0f, -6.2831853f * (i % n) * t / n);
    answer[i] = make_cuComplex(sum.real(), sum.imag());
  }
  *scale = 0.25f;
  *filter = {answer, 1.0f / n};
  cufftHandle there, back;
  expect(cufftPlan1d(&there, n, CUFFT_C2C, batch) == CUFFT_SUCCESS && cufftPlan1d(&back, n, CUFFT_C2C, batch) == CUFFT_SUCCESS,
         "plans");
  void *bytes = routine(from_bytes_at), *filters = routine(filtered_at), *power = routine(powers_at);
  expect(cufftXtSetCallback(there, &bytes, CUFFT_CB_LD_COMPLEX, (void**)&scale) == CUFFT_SUCCESS, "cufftXtSetCallback");
  expect(cufftXtSetCallback(back, &filters, CUFFT_CB_LD_COMPLEX, (void**)&filter) == CUFFT_SUCCESS, "cufftXtSetCallback");
  expect(cufftXtSetCallback(back, &power, CUFFT_CB_ST_COMPLEX_DOUBLE, nullptr) == CUFFT_INVALID_TYPE, "another precision");
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cufftSetStream(there, stream);
  cufftSetStream(back, stream);
  expect(cufftExecC2C(there, reinterpret_cast<cufftComplex*>(signal), spectrum, CUFFT_FORWARD) == CUFFT_SUCCESS, "there");
  expect(cufftExecC2C(back, spectrum, spectrum, CUFFT_INVERSE) == CUFFT_SUCCESS, "back, in place");
  expect(cudaStreamSynchronize(stream) == cudaSuccess, "both");
  for (int i = 0; i < n * batch; ++i) {
    float sum = 0;
    for (int t = 0; t < 3; ++t) sum += taps[t] * 0.25f * signal[i / n * n + (i % n + n - t) % n];
    expect(std::fabs(spectrum[i].x - sum) < 1e-3 && std::fabs(spectrum[i].y) < 1e-3, "a filtered signal");
  }
  // Without its routine the plan reads what there is.
  expect(cufftXtClearCallback(back, CUFFT_CB_LD_COMPLEX) == CUFFT_SUCCESS, "cufftXtClearCallback");
  for (int i = 0; i < n * batch; ++i) spectrum[i] = make_cuComplex(i % n == 0, 0);
  expect(cufftExecC2C(back, spectrum, spectrum, CUFFT_INVERSE) == CUFFT_SUCCESS && cudaStreamSynchronize(stream) == cudaSuccess &&
             std::fabs(spectrum[n + 5].x - 1) < 1e-6,
         "a plan whose routine was taken away");
  cufftDestroy(there);
  cufftDestroy(back);
}

static void power_spectrum() {
  constexpr int rows = 5, n = 12, half = n / 2 + 1;
  auto* in = managed<double>(rows * n);
  auto* out = managed<double>(rows * half);
  auto* period = managed<int>(1);
  *period = 7;
  for (int i = 0; i < rows * n; ++i) in[i] = i * i % 11;
  for (int i = 0; i < rows * half; ++i) out[i] = -1;
  cufftHandle plan;
  int size[] = {n};
  expect(cufftPlanMany(&plan, 1, size, nullptr, 1, 0, nullptr, 1, 0, CUFFT_D2Z, rows) == CUFFT_SUCCESS, "cufftPlanMany");
  void *window = routine(windowed_at), *power = routine(powers_at);
  expect(cufftXtSetCallback(plan, &window, CUFFT_CB_LD_REAL_DOUBLE, (void**)&period) == CUFFT_SUCCESS &&
             cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_REAL_DOUBLE, 1024 * sizeof(double)) == CUFFT_SUCCESS &&
             cufftXtSetCallback(plan, &power, CUFFT_CB_ST_COMPLEX_DOUBLE, nullptr) == CUFFT_SUCCESS,
         "two routines");
  expect(cufftExecD2Z(plan, in, reinterpret_cast<cufftDoubleComplex*>(out)) == CUFFT_SUCCESS &&
             cudaDeviceSynchronize() == cudaSuccess,
         "cufftExecD2Z");
  for (int r = 0; r < rows; ++r)
    for (int f = 0; f < half; ++f) {
      std::complex<double> sum = 0;
      for (int i = 0; i < n; ++i) sum += in[r * n + i] * ((r * n + i) % 7) * std::polar(1.0, -6.283185307179586 * i * f / n);
      expect(std::fabs(out[r * half + f] - std::norm(sum)) < 1e-7 * (1 + std::norm(sum)), "a power");
    }
  cufftDestroy(plan);
}

// Real data in place have rows as long as their spectrum's.
static void real_in_place() {
  constexpr int h = 4, w = 6, row = (w / 2 + 1) * 2;
  auto* data = managed<float>(h * row);
  for (int i = 0; i < h * row; ++i) data[i] = i % row < w ? (i * 5 % 13) : 1000;
  const std::vector<float> before(data, data + h * row);
  cufftHandle there, back;
  expect(cufftPlan2d(&there, h, w, CUFFT_R2C) == CUFFT_SUCCESS && cufftPlan2d(&back, h, w, CUFFT_C2R) == CUFFT_SUCCESS, "plans");
  void *half = routine(halved_at), *negative = routine(negated_at);
  expect(cufftXtSetCallback(there, &half, CUFFT_CB_LD_REAL, nullptr) == CUFFT_SUCCESS &&
             cufftXtSetCallback(back, &negative, CUFFT_CB_ST_REAL, nullptr) == CUFFT_SUCCESS,
         "routines for real data");
  auto* spectrum = reinterpret_cast<cufftComplex*>(data);
  expect(cufftExecR2C(there, data, spectrum) == CUFFT_SUCCESS && cufftExecC2R(back, spectrum, data) == CUFFT_SUCCESS &&
             cudaDeviceSynchronize() == cudaSuccess,
         "there and back");
  for (int i = 0; i < h * row; ++i)
    if (i % row < w) expect(std::fabs(data[i] + before[i] * 0.5f * h * w) < 1e-2, "real data in place");
  cufftDestroy(there);
  cufftDestroy(back);
}

int main() {
  convolution();
  power_spectrum();
  real_in_place();
  printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
  return failures != 0;
}
