// Products and quotients of std::complex in kernels: ordinary ones, ones that would over- or underflow on the way, and what Annex G
// says of infinities and NaNs.
// build: --fmad=false
// nvcc: no
#include <cfloat>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

template <class T>
struct Results {
  std::complex<T> product, quotient;
};

template <class T>
__global__ void both(const std::complex<T>* numbers, Results<T>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  std::complex<T> product = numbers[i / n];
  product *= numbers[i % n];
  out[i] = {product, numbers[i / n] / numbers[i % n]};
}

__global__ void plain(double _Complex* z) {
  z[2] = z[0] * z[1];
  z[3] = z[0] / z[1];
}

enum Kind { Zero, Finite, Infinite, NotANumber };
template <class T>
Kind kind(std::complex<T> z) {
  if (std::isinf(z.real()) || std::isinf(z.imag())) return Infinite;
  if (std::isnan(z.real()) || std::isnan(z.imag())) return NotANumber;
  return z == std::complex<T>(0) ? Zero : Finite;
}

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
bool near(std::complex<T> a, std::complex<long double> b, T eps) {
  return std::abs(std::complex<long double>(a) - b) <= 4 * eps * std::abs(b);
}

// What Annex G demands, and what numbers demand of finite results that are no denormals.
template <class T>
int mistakes(const std::complex<T>& a, const std::complex<T>& b, const Results<T>& r, T eps, T smallest, T largest) {
  int wrong = 0;
  const Kind x = kind(a), y = kind(b);
  std::complex<T> expected = a;
  expected *= b;
  if (!same(r.product.real(), expected.real()) || !same(r.product.imag(), expected.imag())) ++wrong;
  if (x == Infinite && y == Infinite) return wrong + (kind(r.product) != Infinite);
  if ((x == Infinite && y == Finite) || (x == Finite && y == Infinite)) wrong += kind(r.product) != Infinite;
  if (x == Infinite && (y == Finite || y == Zero)) wrong += kind(r.quotient) != Infinite;
  if (y == Infinite && (x == Finite || x == Zero)) wrong += kind(r.quotient) != Zero;
  if (y == Zero && x == Finite) wrong += kind(r.quotient) != Infinite;
  if (y == Zero && x == Zero) wrong += kind(r.quotient) != NotANumber;
  if (x == Finite && y == Finite) {
    const std::complex<long double> exact = std::complex<long double>(a) / std::complex<long double>(b);
    const long double size = std::abs(exact);
    if (size > smallest && size < largest) wrong += !near(r.quotient, exact, eps);
  }
  return wrong;
}

template <class T>
int check(T tiny, T huge, T eps, T smallest, T largest) {
  const T inf = INFINITY, nan = NAN;
  const T parts[] = {0, T(-0.0), 1, -3, T(0.1), tiny, huge, -huge, inf, -inf, nan};
  std::vector<std::complex<T>> numbers;
  for (T x : parts)
    for (T y : parts) numbers.push_back({x, y});
  const int n = (int)numbers.size();
  std::complex<T>* in;
  Results<T>* out;
  cudaMallocManaged(&in, n * sizeof(*in));
  cudaMallocManaged(&out, n * n * sizeof(*out));
  std::copy(numbers.begin(), numbers.end(), in);
  both<<<(n * n + 127) / 128, 128>>>(in, out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < n * n; ++i) {
    const int more = mistakes(in[i / n], in[i % n], out[i], eps, smallest, largest);
    if (more && wrong < 10) {
      printf("(%g, %g), (%g, %g): product (%g, %g), quotient (%g, %g)\n", (double)in[i / n].real(), (double)in[i / n].imag(),
             (double)in[i % n].real(), (double)in[i % n].imag(), (double)out[i].product.real(), (double)out[i].product.imag(),
             (double)out[i].quotient.real(), (double)out[i].quotient.imag());
    }
    wrong += more;
  }
  return wrong;
}

int main() {
  int wrong = check<double>(DBL_MIN * 8, DBL_MAX / 8, DBL_EPSILON, DBL_MIN * 16, DBL_MAX / 16) +
              check<float>(FLT_MIN * 8, FLT_MAX / 8, FLT_EPSILON, FLT_MIN * 16, FLT_MAX / 16);
  double _Complex* z;
  cudaMallocManaged(&z, 4 * sizeof(*z));
  __real__ z[0] = 11, __imag__ z[0] = 2, __real__ z[1] = 3, __imag__ z[1] = 4;
  plain<<<1, 1>>>(z);
  if (cudaDeviceSynchronize() != cudaSuccess) ++wrong;
  if (__real__ z[2] != 25 || __imag__ z[2] != 50 || fabs(__real__ z[3] - 1.64) > 1e-15 || fabs(__imag__ z[3] + 1.52) > 1e-15) ++wrong;
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
