// nvcc: no
// The compiler's own mathematical functions in device code are the device library's, to the last bit.
#include <cmath>
#include <cstdio>
#include <cstring>

#define ONE(X)                                                                                                                    \
  X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cbrt) X(cos) X(cosh) X(erf) X(erfc) X(exp) X(exp2) X(expm1) X(lgamma) X(log) \
  X(log10) X(log1p) X(log2) X(logb) X(sin) X(sinh) X(tan) X(tanh) X(tgamma) X(sqrt) X(rint) X(round)
#define TWO(X) X(atan2) X(fdim) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)

template <class T>
__device__ void same(int* wrong, int number, T a, T b) {
  if (memcmp(&a, &b, sizeof(T))) atomicExch(wrong, number);
}

__global__ void compare(int* wrong, double d, double e) {
  const float f = d, g = e;
  int number = 0;
#define COMPARE_1(name) same(wrong, ++number, __builtin_##name(d), name(d)), same(wrong, ++number, __builtin_##name##f(f), name##f(f));
#define COMPARE_2(name) same(wrong, ++number, __builtin_##name(d, e), name(d, e)), same(wrong, ++number, __builtin_##name##f(f, g), name##f(f, g));
  ONE(COMPARE_1)
  TWO(COMPARE_2)
  same(wrong, ++number, __builtin_ldexp(d, 3), 8 * d), same(wrong, ++number, __builtin_powi(d, 2), d * d);
  int exponents[4], quotient;
  same(wrong, ++number, __builtin_frexp(d * 100, &exponents[0]), frexp(d * 100, &exponents[1]));
  same(wrong, ++number, __builtin_frexpf(f / 100, &exponents[2]), frexpf(f / 100, &exponents[3]));
  same(wrong, ++number, exponents[0], exponents[1]), same(wrong, ++number, exponents[2], exponents[3]);
  same(wrong, ++number, __builtin_remquo(5 * d, d, &quotient), 0.0), same(wrong, ++number, quotient, 5);
  same(wrong, ++number, __builtin_ilogb(d), ilogb(d)), same(wrong, ++number, __builtin_scalbnf(f, 2), f * 4);
}

int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  for (double d : {0.3125, 0.75, 1.25}) compare<<<1, 1>>>(wrong, d, 0.4);
  const cudaError_t status = cudaDeviceSynchronize();
  const bool right = status == cudaSuccess && *wrong == 0;
  if (!right) std::printf("%s, %d\n", cudaGetErrorString(status), *wrong);
  std::puts(right ? "PASSED" : "FAILED");
  return !right;
}
