// Single-precision math against the host's double precision, within the documented error bounds (in units of the last
// place), over ordinary and awkward arguments.
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
  X(sinf, std::sin, 2, -100, 100)                                                                                      \
  X(cosf, std::cos, 2, -100, 100) X(tanf, std::tan, 4, -20, 20) X(asinf, std::asin, 2, -1, 1)                          \
      X(acosf, std::acos, 2, -1, 1) X(atanf, std::atan, 2, -50, 50) X(sinhf, std::sinh, 3, -10, 10)                    \
          X(coshf, std::cosh, 2, -10, 10) X(tanhf, std::tanh, 2, -5, 5) X(asinhf, std::asinh, 3, -50, 50) X(           \
              acoshf, std::acosh, 4, 1, 100) X(atanhf, std::atanh, 3, -0.99, 0.99) X(expf, std::exp, 2, -80, 80)       \
              X(exp2f, std::exp2, 2, -100, 100) X(expm1f, std::expm1, 1, -10, 10) X(exp10f, host_exp10, 2, -30, 30) X( \
                  logf, std::log, 1, 0.001, 1000) X(log2f, std::log2, 1, 0.001, 1000)                                  \
                  X(log10f, std::log10, 2, 0.001, 1000) X(log1pf, std::log1p, 1, -0.9, 100) X(                         \
                      sqrtf, std::sqrt, 0, 0, 1e6) X(cbrtf, std::cbrt, 1, -1000, 1000)                                 \
                      X(rsqrtf, host_rsqrt, 2, 0.001, 1e5) X(erff, std::erf, 2, -4, 4) X(erfcf, std::erfc, 4, -4, 8)   \
                          X(tgammaf, std::tgamma, 5, 0.1, 20) X(lgammaf, std::lgamma, 6, 2.5, 100)                     \
                              X(fabsf, std::fabs, 0, -9, 9) X(floorf, std::floor, 0, -50, 50)                          \
                                  X(ceilf, std::ceil, 0, -50, 50) X(truncf, std::trunc, 0, -50, 50)                    \
                                      X(roundf, std::round, 0, -50, 50) X(rintf, std::rint, 0, -50, 50)                \
                                          X(nearbyintf, std::nearbyint, 0, -50, 50) X(sinpif, host_sinpi, 1, -10, 10)  \
                                              X(cospif, host_cospi, 1, -10, 10) X(logbf, std::logb, 0, 0.001, 1e9)     \
                                                  X(j0f, ::j0, 9, -7, 7) X(j1f, ::j1, 9, -7, 7)                        \
                                                      X(normcdff, host_normcdf, 5, -4, 4)

#define BINARY(X)                                                                                              \
  X(powf, std::pow, 9, 0.01, 50, -8, 8)                                                                        \
  X(atan2f, std::atan2, 3, -10, 10, -10, 10) X(hypotf, std::hypot, 3, -1e3, 1e3, -1e3, 1e3)                    \
      X(fmodf, std::fmod, 0, -100, 100, 0.5, 9) X(fminf, std::fmin, 0, -5, 5, -5, 5)                           \
          X(fmaxf, std::fmax, 0, -5, 5, -5, 5) X(fdimf, std::fdim, 0, -5, 5, -5, 5)                            \
              X(copysignf, std::copysign, 0, -5, 5, -5, 5) X(remainderf, std::remainder, 0, -100, 100, 0.5, 9) \
                  X(fdividef, host_divide, 2, -100, 100, 0.5, 9)

static double host_exp10(double x) { return std::pow(10.0, x); }
static double host_rsqrt(double x) { return 1 / std::sqrt(x); }
static double host_sinpi(double x) { return std::sin(M_PI * (x - 2 * std::rint(x / 2))); }
static double host_cospi(double x) { return std::cos(M_PI * (x - 2 * std::rint(x / 2))); }
static double host_normcdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
static double host_divide(double x, double y) { return x / y; }

#define KERNEL1(f, h, ulp, lo, hi)                         \
  __global__ void k_##f(const float* x, float* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;         \
    if (i < n) y[i] = f(x[i]);                             \
  }
#define KERNEL2(f, h, ulp, lo, hi, lo2, hi2)                               \
  __global__ void k_##f(const float* x, const float* z, float* y, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                         \
    if (i < n) y[i] = f(x[i], z[i]);                                       \
  }
UNARY(KERNEL1)
BINARY(KERNEL2)

static double ulps(float got, double want) {
  float w = (float)want;
  if (std::isnan(w) || std::isnan(got)) return std::isnan(w) && std::isnan(got) ? 0 : 1e9;
  if (std::isinf(w) || std::isinf(got)) return w == got ? 0 : 1e9;
  double spacing = std::ldexp(1.0, std::max(std::ilogb(w == 0 ? FLT_MIN : w), -126) - 23);
  return std::fabs(got - want) / spacing;
}

__global__ void special(float* o, int* k, float big) {
  float inf = __int_as_float(0x7f800000), nan = nanf("");
  o[0] = sqrtf(-1.0f), o[1] = logf(0.0f), o[2] = expf(200.0f), o[3] = powf(0.0f, 0.0f), o[4] = fmaxf(nan, 3.0f);
  o[5] = atan2f(0.0f, -1.0f), o[6] = fmodf(5.0f, inf), o[7] = roundf(-2.5f), o[8] = rintf(2.5f),
  o[9] = powf(-2.0f, 3.0f);
  o[10] = ldexpf(0.75f, 5), o[11] = scalbnf(3.0f, -2), o[12] = frexpf(20.0f, &k[0]), o[13] = modff(-3.75f, &o[14]);
  sincosf(1.0f, &o[15], &o[16]);
  o[17] = remquof(17.0f, 5.0f, &k[1]), o[18] = nextafterf(1.0f, 2.0f), o[19] = 1.0f / -0.0f, o[20] = norm3df(2, 3, 6);
  o[21] = __saturatef(1.7f), o[22] = rcbrtf(8.0f), o[23] = fmaf(2.0f, 3.0f, 4.0f);
  k[2] = isnan(nan) && isinf(inf) && isfinite(1.0f) && signbit(-0.0f),
  k[3] = (int)lrintf(2.5f) * 100 + (int)lroundf(2.5f);
  k[4] = __float2int_rn(-2.5f) * 100 + __float2int_rz(-2.7f), k[5] = __float2int_ru(2.1f) * 10 + __float2int_rd(2.9f);
  k[6] = ilogbf(1000.0f), k[7] = (int)(unsigned)3e9f == (int)3000000000u,
  k[8] = __float2int_rz(big) == 0x7fffffff && __float2int_rn(nan) == 0 && __float2int_rz(-big) == (int)0x80000000;
}

int main() {
  const int n = 4096;
  std::vector<float> x(n), z(n), y(n);
  float *dx, *dz, *dy;
  int bad = 0, functions = 0;
  CHECK(cudaMalloc(&dx, n * 4));
  CHECK(cudaMalloc(&dz, n * 4));
  CHECK(cudaMalloc(&dy, n * 4));
  unsigned s = 1;
  auto fill = [&](std::vector<float>& v, double lo, double hi, float* d) {
    for (int i = 0; i < n; i++) {
      s = s * 1664525u + 1013904223u;
      v[i] = (float)(i % 2 ? lo + (hi - lo) * i / n : lo + (hi - lo) * ((s >> 8) / 16777216.0));
    }
    CHECK(cudaMemcpy(d, v.data(), n * 4, cudaMemcpyHostToDevice));
  };
  auto judge = [&](const char* name, double bound, auto want) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
    double worst = 0;
    int where = 0;
    for (int i = 0; i < n; i++) {
      double u = ulps(y[i], want(i));
      if (u > worst) worst = u, where = i;
    }
    functions++;
    if (!(worst <= bound + 0.501)) {
      printf("  %s: %.2f ulp at %.9g %.9g: %.9g\n", name, worst, x[where], z[where], y[where]);
      bad++;
    }
  };
#define RUN1(f, h, ulp, lo, hi)       \
  fill(x, lo, hi, dx);                \
  k_##f<<<n / 128, 128>>>(dx, dy, n); \
  judge(#f, ulp, [&](int i) { return (double)h((double)x[i]); });
#define RUN2(f, h, ulp, lo, hi, lo2, hi2) \
  fill(x, lo, hi, dx);                    \
  fill(z, lo2, hi2, dz);                  \
  k_##f<<<n / 128, 128>>>(dx, dz, dy, n); \
  judge(#f, ulp, [&](int i) { return (double)h((double)x[i], (double)z[i]); });
  UNARY(RUN1)
  BINARY(RUN2)

  float o[24], *d_o;
  int k[9], *d_k;
  CHECK(cudaMalloc(&d_o, sizeof o));
  CHECK(cudaMalloc(&d_k, sizeof k));
  special<<<1, 1>>>(d_o, d_k, 1e20f);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(o, d_o, sizeof o, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(k, d_k, sizeof k, cudaMemcpyDeviceToHost));
  auto expect = [&](bool ok, int line) {
    if (!ok) printf("  special case on line %d\n", line), bad++;
  };
  expect(std::isnan(o[0]) && o[1] == -INFINITY && o[2] == INFINITY && o[3] == 1 && o[4] == 3, __LINE__);
  expect(std::fabs(o[5] - (float)M_PI) < 1e-6 && o[6] == 5 && o[7] == -3 && o[8] == 2 && o[9] == -8, __LINE__);
  expect(o[10] == 24 && o[11] == 0.75f && o[12] == 0.625f && k[0] == 5 && o[13] == -0.75f && o[14] == -3, __LINE__);
  expect(std::fabs(o[15] - std::sin(1.0)) < 1e-6 && std::fabs(o[16] - std::cos(1.0)) < 1e-6, __LINE__);
  expect(o[17] == 2 && (k[1] & 7) == 3 && o[18] == std::nextafterf(1, 2) && o[19] == -INFINITY &&
             std::fabs(o[20] - 7) < 1e-6,
         __LINE__);
  expect(o[21] == 1 && std::fabs(o[22] - 0.5f) < 1e-6 && o[23] == 10, __LINE__);
  expect(k[2] == 1 && k[3] == 203 && k[4] == -202 && k[5] == 32 && k[6] == 9 && k[7] == 1 && k[8] == 1, __LINE__);
  printf("math_float: %d functions, %s\n", functions, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
