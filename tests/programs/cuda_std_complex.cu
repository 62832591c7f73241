// cuda::std::complex in kernels and on the host: its functions against the library's, what is too large or too small, literals.
#include <complex>
#include <cstdio>
#include <cuda/std/complex>
#include <sstream>

namespace cs = cuda::std;
constexpr int kFunctions = 26;

// One text for both libraries: A is the namespace, Z the type.
#define WB_TEST_FUNCTIONS(A, Z, T)                                                                                    \
  int i = 0;                                                                                                          \
  o[i++] = A::exp(z), o[i++] = A::log(z), o[i++] = A::log10(z), o[i++] = A::sqrt(z);                                  \
  o[i++] = A::pow(z, T(2.5)), o[i++] = A::pow(z, z), o[i++] = A::pow(T(2), z);                                        \
  o[i++] = A::sinh(z), o[i++] = A::cosh(z), o[i++] = A::tanh(z), o[i++] = A::asinh(z), o[i++] = A::acosh(z);          \
  o[i++] = A::atanh(z), o[i++] = A::sin(z), o[i++] = A::cos(z), o[i++] = A::tan(z), o[i++] = A::asin(z);              \
  o[i++] = A::acos(z), o[i++] = A::atan(z), o[i++] = A::proj(z), o[i++] = A::polar(A::abs(z), A::arg(z));             \
  o[i++] = z / Z(T(3), T(-2)), o[i++] = T(2) * z + T(1) - z / T(4), o[i++] = A::conj(z), o[i++] = A::norm(z);         \
  /* Plain numbers have their functions still. */                                                                     \
  o[i++] = Z(A::abs(T(-3)), A::exp(T(1)) + A::sqrt(T(2)))

template <class T>
__host__ __device__ void ours(const cs::complex<T>& z, cs::complex<T>* o) {
  WB_TEST_FUNCTIONS(cs, cs::complex<T>, T);
}
template <class T>
void theirs(const std::complex<T>& z, std::complex<T>* o) {
  WB_TEST_FUNCTIONS(std, std::complex<T>, T);
}
template <class T>
__global__ void calculate(const cs::complex<T>* z, cs::complex<T>* o) {
  ours(z[threadIdx.x], o + kFunctions * threadIdx.x);
}

int bad = 0;

template <class T>
void compare(double tolerance) {
  const T parts[] = {T(0.3), T(-0.3), T(2), T(-2), T(0.9), T(-1.5)};
  cs::complex<T>*z, *o;
  cudaMallocManaged(&z, 36 * sizeof *z);
  cudaMallocManaged(&o, 36 * kFunctions * sizeof *o);
  int n = 0;
  for (T x : parts)
    for (T y : parts) z[n++] = {x, y};
  calculate<<<1, 36>>>(z, o);
  if (cudaDeviceSynchronize() != cudaSuccess) ++bad;
  for (int k = 0; k < n; ++k) {
    std::complex<T> want[kFunctions];
    cs::complex<T> host[kFunctions];
    theirs<T>(z[k], want);
    ours(z[k], host);
    for (int i = 0; i < 2 * kFunctions; ++i) {
      const std::complex<T> got = i < kFunctions ? host[i] : o[kFunctions * k + i - kFunctions], should = want[i % kFunctions];
      if (std::abs(got - should) <= tolerance * (std::abs(should) + 1e-3)) continue;
      std::printf("%s, function %d of (%g, %g): (%g, %g), not (%g, %g)\n", i < kFunctions ? "host" : "device", i % kFunctions, double(z[k].real()),
                  double(z[k].imag()), double(got.real()), double(got.imag()), double(should.real()), double(should.imag()));
      ++bad;
    }
  }
}

__global__ void extremes(cs::complex<double>* o) {
  const cs::complex<double> large(1e300, 1e300), small(4e-320, 0), infinite(INFINITY, 0), one(1, 1);
  o[0] = large / large;
  o[1] = small / small;
  o[2] = one / infinite;
  o[3] = cs::complex<double>(1.0 / (infinite * one).real(), 0);
  o[4] = cs::sqrt(large) / 1e150;
}

int main() {
  compare<float>(3e-5);
  compare<double>(2e-13);
  cs::complex<double>* o;
  cudaMallocManaged(&o, 5 * sizeof *o);
  extremes<<<1, 1>>>(o);
  if (cudaDeviceSynchronize() != cudaSuccess) ++bad;
  const std::complex<double> want[] = {1.0, 1.0, 0.0, 0.0, std::sqrt(std::complex<double>(1, 1))};
  for (int i = 0; i < 5; ++i)
    if (!(std::abs(std::complex<double>(o[i]) - want[i]) < 1e-14)) std::printf("extreme %d: (%g, %g)\n", i, o[i].real(), o[i].imag()), ++bad;

  using namespace cs::complex_literals;
  std::ostringstream text;
  text << 2.0 + 1.5i;
  if (text.str() != "(2,1.5)") ++bad;
  static_assert(alignof(cs::complex<float>) == 8, "moved in one access");
  constexpr cs::complex<float> folded = cs::complex<float>(1, 2) * 2.0f;
  static_assert(folded.imag() == 4, "known when it is compiled");
  std::puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}
