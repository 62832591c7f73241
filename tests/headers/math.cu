// Every mathematical function in float and double, the overloads, and that the exact ones are one instruction.
#include <cmath>
#include <algorithm>

#define UNARY(X)                                                                                                  \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(ceil) X(cos) X(cosh) X(cospi) X(cyl_bessel_i0)     \
  X(cyl_bessel_i1) X(erf) X(erfc) X(erfcinv) X(erfcx) X(erfinv) X(exp) X(exp10) X(exp2) X(expm1) X(fabs) X(floor) \
  X(j0) X(j1) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(nearbyint) X(normcdf) X(normcdfinv) X(rcbrt)   \
  X(rint) X(round) X(rsqrt) X(sin) X(sinh) X(sinpi) X(sqrt) X(tan) X(tanh) X(tgamma) X(trunc) X(y0) X(y1)
#define BINARY(X) X(atan2) X(copysign) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)
#define STANDARD(X)                                                                                           \
  X(acos) X(asin) X(atan) X(cbrt) X(ceil) X(cos) X(cosh) X(erf) X(exp) X(exp2) X(expm1) X(fabs) X(floor) X(log) \
  X(log10) X(log2) X(round) X(sin) X(sinh) X(sqrt) X(tan) X(tanh) X(trunc)

template <class A, class B>
struct Same {
  static const bool value = false;
};
template <class A>
struct Same<A, A> {
  static const bool value = true;
};
#define IS(T, expression) static_assert(Same<T, decltype(expression)>::value, #expression)

__device__ float f;
__device__ double d;
__device__ int i;
__device__ long long ll;

__global__ void functions() {
#define CALL(name)          \
  f += name##f(f);          \
  f += name(f);             \
  IS(float, name(1.0f));    \
  d += name(d);
  UNARY(CALL)
#undef CALL
#define CALL(name)             \
  f += name##f(f, 2.0f);       \
  f += name(f, 2.0f);          \
  d += name(d, 2.0);           \
  d += name(d, f);             \
  d += name(f, i);             \
  d += std::name(d, 2.0);      \
  IS(float, name(1.0f, 1.0f)); \
  IS(double, name(1.0f, 1));
  BINARY(CALL)
#undef CALL
#define CALL(name)            \
  f += std::name(f);          \
  d += std::name(d);          \
  d += std::name(i);          \
  d += name(i);               \
  IS(float, std::name(1.0f)); \
  IS(double, name(1));
  STANDARD(CALL)
#undef CALL
}

__global__ void others() {
  float s, c;
  double sd, cd;
  sincosf(f, &s, &c);
  sincos(d, &sd, &cd);
  sincospif(s, &f, &c);
  sincospi(sd, &d, &cd);
  f += frexpf(f, &i) + ldexpf(f, i) + scalbnf(f, i) + modff(f, &s) + remquof(f, s, &i) + scalblnf(f, ll) + fmaf(f, s, c);
  d += frexp(d, &i) + ldexp(d, i) + scalbn(d, i) + modf(d, &sd) + remquo(d, sd, &i) + scalbln(d, ll) + fma(d, sd, cd);
  f += norm3df(f, s, c) + norm4df(f, s, c, f) + rnorm3df(f, s, c) + rnorm4df(f, s, c, f) + rhypotf(f, s) + jnf(2, f) + ynf(2, f);
  d += norm3d(d, sd, cd) + norm4d(d, sd, cd, d) + rnorm3d(d, sd, cd) + rnorm4d(d, sd, cd, d) + rhypot(d, sd) + jn(2, d) + yn(2, d);
  f += normf(1, &s) + rnormf(1, &s) + nanf("") + fdividef(f, s);
  d += norm(1, &sd) + rnorm(1, &sd) + nan("") + fdivide(d, sd);
  i += ilogbf(f) + ilogb(d) + abs(i) + (int)lrintf(f) + (int)lround(d) + std::abs(i);
  ll += llrint(d) + llroundf(f) + llabs(ll) + std::abs(ll) + labs((long)ll);
  f += std::abs(f) + abs(f) + std::fma(f, s, c) + std::pow(f, s);
  d += std::abs(d) + fabs(d) + std::pow(d, 2) + std::pow(f, 2) + pow(2, 3);
  i += isnan(f) + isinf(d) + std::isfinite(f) + std::isnan(d) + signbit(f) + std::signbit(d) + isfinite(d) + isnormal(f);
  i += std::max(i, 3) + std::min(i, 3) + (int)std::max(f, s);
}

__global__ void extrema(unsigned u, long l, unsigned long ul, unsigned long long ull) {
  IS(int, max(1, 2));
  IS(unsigned, max(1, 2u));
  IS(long, max(1l, 2l));
  IS(unsigned long long, min(1ll, 2ull));
  IS(float, min(1.0f, 2.0f));
  IS(double, min(1.0, 2.0f));
  IS(int, max((short)1, (char)2));
  i += min(i, 3) + (int)max(u, 3u) + (int)min(i, u) + (int)max(l, l) + (int)min(ul, ul) + (int)max(ull, ull) + (int)max(ll, ull);
  f += max(f, 1.0f);
  d += max(d, 1.0f) + umax(u, 3) + llmin(ll, 3) + ullmax(ull, 3);
}

__global__ void fast() {
  float s, c;
  __sincosf(f, &s, &c);
  f += __sinf(f) + __cosf(f) + __tanf(f) + __expf(f) + __exp10f(f) + __logf(f) + __log2f(f) + __log10f(f) + __powf(f, s) +
       __fdividef(f, c) + __saturatef(f) + __frsqrt_rn(f);
#if __CUDA_ARCH__ >= 750
  f += __tanhf(f);
#endif
}

// A program's own functions of these names go before ours.
struct Money {
  int cents;
};
__host__ __device__ Money max(Money a, Money b) { return a.cents < b.cents ? b : a; }
int min(int a, int b, int c) { return min(a, min(b, c)); }

double host() {
  double s, c;
  float sf, cf;
  sincospi(0.25, &s, &c);
  sincospif(0.25f, &sf, &cf);
  return rsqrt(4.0) + rsqrtf(4.0f) + rcbrt(8.0) + sinpi(0.5) + cospif(0.5f) + erfinv(0.5) + erfcinvf(0.5f) + erfcx(1.0) +
         normcdf(0.0) + normcdfinvf(0.5f) + norm3d(1, 2, 3) + rhypot(3, 4) + exp10(1.0f) + fdividef(1, 2) + max(1, 2) +
         min(1.0f, 2.0) + max(1u, 2) + umin(1, 2) + max(Money{1}, Money{2}).cents + min(1, 2, 3) + s + c + sf + cf;
}
