// build: -lcufft
// cuFFT with halves and bfloat16: complex and real transforms, batches, several dimensions, in place, what is refused.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cufftXt.h>

#include <cmath>
#include <complex>
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
#define FFT(call) REQUIRE((call) == CUFFT_SUCCESS)

typedef std::complex<double> Complex;

template <class T>
struct Kind;
template <>
struct Kind<__half> {
  static constexpr cudaDataType real = CUDA_R_16F, complex = CUDA_C_16F;
  static constexpr double within = 2e-3;
};
template <>
struct Kind<__nv_bfloat16> {
  static constexpr cudaDataType real = CUDA_R_16BF, complex = CUDA_C_16BF;
  static constexpr double within = 2e-2;
};

template <class T>
static std::vector<T> numbers(size_t n) {
  static unsigned seed = 1;
  std::vector<T> out(n);
  for (T& x : out) seed = seed * 1664525u + 1013904223u, x = T(float(seed >> 8) / (1 << 24) - 0.5f);
  return out;
}
template <class T>
static T* device(const std::vector<T>& from) {
  T* p;
  CUDA(cudaMalloc(&p, from.size() * sizeof(T)));
  CUDA(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T>
static std::vector<T> host(const T* p, size_t n) {
  std::vector<T> out(n);
  CUDA(cudaMemcpy(out.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

static std::vector<Complex> transform(const std::vector<Complex>& x, int rows, int columns, int sign) {
  std::vector<Complex> out(x.size());
  for (int u = 0; u < rows; ++u)
    for (int v = 0; v < columns; ++v)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
          out[u * columns + v] += x[r * columns + c] * std::polar(1.0, sign * 2 * M_PI * (double(u * r) / rows + double(v * c) / columns));
  return out;
}
template <class T>
static bool near(const T* got, const Complex* want, size_t n) {
  double scale = 0, off = 0;
  for (size_t i = 0; i < n; ++i) {
    scale = std::fmax(scale, std::abs(want[i]));
    off = std::fmax(off, std::abs(Complex(float(got[2 * i]), float(got[2 * i + 1])) - want[i]));
  }
  return off <= Kind<T>::within * scale;
}

template <class T>
static void complex_transforms() {
  const int batch = 3;
  long long n = 32;
  size_t work = 1;
  cufftHandle plan;
  FFT(cufftCreate(&plan));
  FFT(cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 0, Kind<T>::complex, nullptr, 1, 0, Kind<T>::complex, batch, &work, Kind<T>::complex));
  const std::vector<T> x = numbers<T>(2 * n * batch);
  T *in = device(x), *out = device(x);
  for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE})
    for (const bool in_place : {false, true}) {
      CUDA(cudaMemcpy(out, x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice));
      FFT(cufftXtExec(plan, in_place ? out : in, out, direction));
      const std::vector<T> got = host(out, x.size());
      for (int b = 0; b < batch; ++b) {
        std::vector<Complex> one(n);
        for (int i = 0; i < n; ++i) one[i] = {float(x[2 * (b * n + i)]), float(x[2 * (b * n + i) + 1])};
        REQUIRE(near(got.data() + 2 * b * n, transform(one, 1, int(n), direction == CUFFT_FORWARD ? -1 : 1).data(), n));
      }
    }
  REQUIRE(cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out), CUFFT_FORWARD) == CUFFT_INVALID_TYPE);
  FFT(cufftDestroy(plan));
  CUDA(cudaFree(in));
  CUDA(cudaFree(out));
}

template <class T>
static void real_transforms() {
  long long n[2] = {8, 16};
  const int half = 9;
  size_t work = 1;
  cufftHandle forth, back;
  FFT(cufftCreate(&forth));
  FFT(cufftCreate(&back));
  FFT(cufftXtMakePlanMany(forth, 2, n, nullptr, 1, 0, Kind<T>::real, nullptr, 1, 0, Kind<T>::complex, 1, &work, Kind<T>::complex));
  FFT(cufftXtMakePlanMany(back, 2, n, nullptr, 1, 0, Kind<T>::complex, nullptr, 1, 0, Kind<T>::real, 1, &work, Kind<T>::complex));
  const std::vector<T> x = numbers<T>(n[0] * n[1]);
  T *in = device(x), *middle = device(std::vector<T>(2 * n[0] * half)), *out = device(x);
  FFT(cufftXtExec(forth, in, middle, CUFFT_FORWARD));
  FFT(cufftXtExec(back, middle, out, CUFFT_INVERSE));
  std::vector<Complex> all(x.size());
  for (size_t i = 0; i < x.size(); ++i) all[i] = float(x[i]);
  all = transform(all, int(n[0]), int(n[1]), -1);
  const std::vector<T> got = host(middle, 2 * n[0] * half), again = host(out, x.size());
  for (int r = 0; r < n[0]; ++r) REQUIRE(near(got.data() + 2 * r * half, all.data() + r * n[1], half));
  for (size_t i = 0; i < x.size(); ++i) REQUIRE(std::fabs(float(again[i]) / (n[0] * n[1]) - float(x[i])) < 4 * Kind<T>::within);
  FFT(cufftDestroy(forth));
  FFT(cufftDestroy(back));
  CUDA(cudaFree(in));
  CUDA(cudaFree(middle));
  CUDA(cudaFree(out));
}

int main() {
  complex_transforms<__half>();
  complex_transforms<__nv_bfloat16>();
  real_transforms<__half>();
  real_transforms<__nv_bfloat16>();
  cufftHandle plan;
  long long n = 24;  // no power of two
  size_t work = 0;
  FFT(cufftCreate(&plan));
  REQUIRE(cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_C_16F, 1, &work, CUDA_C_16F) == CUFFT_NOT_SUPPORTED);
  REQUIRE(cufftXtMakePlanMany(plan, 1, &n, nullptr, 1, 0, CUDA_C_16F, nullptr, 1, 0, CUDA_C_32F, 1, &work, CUDA_C_32F) == CUFFT_NOT_SUPPORTED);
  FFT(cufftDestroy(plan));
  std::puts("PASSED");
}
