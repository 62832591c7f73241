// Double-precision math against the host's long double, within the documented error bounds.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define UNARY(X)                                                                                                       \
  X(sin, sinl, 2, -100, 100)                                                                                           \
  X(cos, cosl, 2, -100, 100) X(tan, tanl, 2, -20, 20) X(asin, asinl, 2, -1, 1) X(acos, acosl, 2, -1, 1)                \
      X(atan, atanl, 2, -50, 50) X(sinh, sinhl, 2, -10, 10) X(cosh, coshl, 2, -10, 10) X(tanh, tanhl, 2, -5, 5)        \
          X(asinh, asinhl, 3, -50, 50) X(acosh, acoshl, 3, 1, 100) X(atanh, atanhl, 2, -0.99, 0.99)                    \
              X(exp, expl, 1, -300, 300) X(exp2, exp2l, 1, -300, 300) X(expm1, expm1l, 1, -10, 10)                     \
                  X(log, logl, 1, 0.001, 1000) X(log2, log2l, 1, 0.001, 1000) X(log10, log10l, 1, 0.001, 1000)         \
                      X(log1p, log1pl, 1, -0.9, 100) X(sqrt, sqrtl, 0, 0, 1e9) X(cbrt, cbrtl, 1, -1000, 1000)          \
                          X(rsqrt, host_rsqrt, 1, 0.001, 1e5) X(erf, erfl, 2, -4, 4) X(erfc, erfcl, 5, -4, 8)          \
                              X(tgamma, tgammal, 10, 0.1, 20) X(lgamma, lgammal, 4, 2.5, 100)                          \
                                  X(floor, floorl, 0, -50, 50) X(ceil, ceill, 0, -50, 50) X(trunc, truncl, 0, -50, 50) \
                                      X(fabs, fabsl, 0, -9, 9) X(round, roundl, 0, -50, 50) X(rint, rintl, 0, -50, 50) \
                                          X(normcdf, host_normcdf, 5, -4, 4)

#define BINARY(X)                                                                                                      \
  X(pow, powl, 2, 0.01, 50, -30, 30)                                                                                   \
  X(atan2, atan2l, 2, -10, 10, -10, 10) X(hypot, hypotl, 2, -1e3, 1e3, -1e3, 1e3) X(fmod, fmodl, 0, -1e4, 1e4, 0.5, 9) \
      X(fmin, fminl, 0, -5, 5, -5, 5) X(fmax, fmaxl, 0, -5, 5, -5, 5) X(fdim, fdiml, 0, -5, 5, -5, 5)                  \
          X(copysign, copysignl, 0, -5, 5, -5, 5) X(remainder, remainderl, 0, -100, 100, 0.5, 9)

static long double host_rsqrt(long double x) { return 1 / sqrtl(x); }
static long double host_normcdf(long double x) { return 0.5L * erfcl(-x / sqrtl(2.0L)); }

#define KERNEL1(f, h, ulp, lo, hi)                           \
  __global__ void k_##f(const double* x, double* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;           \
    if (i < n) y[i] = f(x[i]);                               \
  }
#define KERNEL2(f, h, ulp, lo, hi, lo2, hi2)                                  \
  __global__ void k_##f(const double* x, const double* z, double* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                            \
    if (i < n) y[i] = f(x[i], z[i]);                                          \
  }
UNARY(KERNEL1)
BINARY(KERNEL2)

static double ulps(double got, long double want) {
  double w = (double)want;
  if (std::isnan(w) || std::isnan(got)) return std::isnan(w) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(w) || std::isinf(got)) return w == got ? 0 : 1e9;
  long double spacing = ldexpl(1.0L, std::max(std::ilogb(w == 0 ? DBL_MIN : w), -1022) - 52);
  return (double)(fabsl(got - want) / spacing);
}

__global__ void special(double* o, int* k, long long* l, double smallest) {
  double inf = __longlong_as_double(0x7ff0000000000000ll);
  o[0] = sqrt(-1.0), o[1] = log(0.0), o[2] = exp(1000.0), o[3] = pow(-2.0, 3.0), o[4] = pow(-2.0, 0.5),
  o[5] = atan2(-0.0, -1.0);
  o[6] = fma(0.1, 10.0, -1.0), o[7] = ldexp(0.75, 70), o[8] = frexp(20.0, &k[0]), o[9] = modf(-3.75, &o[10]);
  sincos(2.0, &o[11], &o[12]);
  o[13] = exp10(3.0), o[14] = smallest / 2, o[15] = smallest, o[16] = __ddiv_rn(1.0, 3.0), o[17] = __drcp_rn(3.0);
  o[18] = nextafter(1.0, 0.0), o[19] = inf - inf, o[20] = sinpi(0.5), o[21] = erfinv(0.5);
  k[1] = ilogb(1e10), k[2] = isnan(o[0]) && isinf(inf) && !isfinite(inf),
  k[3] = __double2int_rn(2.5) * 10 + __double2int_ru(2.1);
  l[0] = llrint(-2.5e10), l[1] = (long long)1e18, l[2] = __double2ll_rd(-0.5),
  l[3] = (long long)__double_as_longlong(1.0);
  k[4] = __double2hiint(1.0), k[5] = __double2loint(1.0000000001), o[22] = __hiloint2double(0x40000000, 0);
  o[23] = (double)(unsigned long long)1.8e19;
}

int main() {
  const int n = 2048;
  std::vector<double> x(n), z(n), y(n);
  double *dx, *dz, *dy;
  int bad = 0, functions = 0;
  CHECK(cudaMalloc(&dx, n * 8));
  CHECK(cudaMalloc(&dz, n * 8));
  CHECK(cudaMalloc(&dy, n * 8));
  unsigned s = 1;
  auto fill = [&](std::vector<double>& v, double lo, double hi, double* d) {
    for (int i = 0; i < n; i++) {
      s = s * 1664525u + 1013904223u;
      v[i] = i % 2 ? lo + (hi - lo) * i / n : lo + (hi - lo) * (s / 4294967296.0);
    }
    CHECK(cudaMemcpy(d, v.data(), n * 8, cudaMemcpyHostToDevice));
  };
  auto judge = [&](const char* name, double bound, auto want) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), dy, n * 8, cudaMemcpyDeviceToHost));
    double worst = 0;
    int where = 0;
    for (int i = 0; i < n; i++) {
      double u = ulps(y[i], want(i));
      if (u > worst) worst = u, where = i;
    }
    functions++;
    if (!(worst <= bound + 0.501)) {
      printf("  %s: %.2f ulp at %.17g %.17g: %.17g\n", name, worst, x[where], z[where], y[where]);
      bad++;
    }
  };
#define RUN1(f, h, ulp, lo, hi)       \
  fill(x, lo, hi, dx);                \
  k_##f<<<n / 128, 128>>>(dx, dy, n); \
  judge(#f, ulp, [&](int i) { return (long double)h((long double)x[i]); });
#define RUN2(f, h, ulp, lo, hi, lo2, hi2) \
  fill(x, lo, hi, dx);                    \
  fill(z, lo2, hi2, dz);                  \
  k_##f<<<n / 128, 128>>>(dx, dz, dy, n); \
  judge(#f, ulp, [&](int i) { return (long double)h((long double)x[i], (long double)z[i]); });
  UNARY(RUN1)
  BINARY(RUN2)
  double o[24], *d_o;
  int k[6], *d_k;
  long long l[4], *d_l;
  CHECK(cudaMalloc(&d_o, sizeof o));
  CHECK(cudaMalloc(&d_k, sizeof k));
  CHECK(cudaMalloc(&d_l, sizeof l));
  special<<<1, 1>>>(d_o, d_k, d_l, 4.9406564584124654e-324);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(o, d_o, sizeof o, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(k, d_k, sizeof k, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(l, d_l, sizeof l, cudaMemcpyDeviceToHost));
  auto expect = [&](bool ok, int line) {
    if (!ok) printf("  special case on line %d\n", line), bad++;
  };
  expect(std::isnan(o[0]) && o[1] == -INFINITY && o[2] == INFINITY && o[3] == -8 && std::isnan(o[4]), __LINE__);
  expect(std::fabs(o[5] + M_PI) < 1e-15 && o[6] == std::fma(0.1, 10.0, -1.0) && o[7] == std::ldexp(0.75, 70), __LINE__);
  expect(o[8] == 0.625 && k[0] == 5 && o[9] == -0.75 && o[10] == -3, __LINE__);
  expect(std::fabs(o[11] - std::sin(2.0)) < 1e-15 && std::fabs(o[12] - std::cos(2.0)) < 1e-15, __LINE__);
  expect(std::fabs(o[13] - 1000) < 1e-11 && o[14] == 0 && o[15] == 4.9406564584124654e-324 && o[16] == 1.0 / 3 &&
             o[17] == 1.0 / 3,
         __LINE__);
  expect(o[18] == std::nextafter(1.0, 0.0) && std::isnan(o[19]) && o[20] == 1 &&
             std::fabs(o[21] - 0.476936276204469873) < 1e-14,
         __LINE__);
  expect(k[1] == 33 && k[2] == 1 && k[3] == 23 && l[0] == -25000000000ll && l[1] == 1000000000000000000ll && l[2] == -1,
         __LINE__);
  expect(l[3] == 0x3ff0000000000000ll && k[4] == 0x3ff00000 && o[22] == 2.0 && o[23] == 1.8e19, __LINE__);
  printf("math_double: %d functions, %s\n", functions, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
