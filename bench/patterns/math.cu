// Functions of the device's math library against what is nearest to them, or, for double, what the host takes for the same.
#include <cmath>

#include "pattern.h"

constexpr int kElements = 1 << 16;
constexpr int kRounds = 4;  // of each element, so that the function is what takes the time

#define KERNEL(name, type, expression)                                    \
  __global__ void name(const type* in, type* out) {                       \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                  \
    type x = in[i], sum = 0;                                              \
    for (int k = 0; k < kRounds; ++k, x += type(0.001)) sum += (expression); \
    out[i] = sum;                                                         \
  }

__device__ float sincosf_of(float x) { float s, c; sincosf(x, &s, &c); return s + c; }
__device__ float sincospif_of(float x) { float s, c; sincospif(x, &s, &c); return s + c; }
__device__ double sincos_of(double x) { double s, c; sincos(x, &s, &c); return s + c; }
__device__ float modff_of(float x) { float w; const float f = modff(x, &w); return f + w; }
__device__ double modf_of(double x) { double w; const double f = modf(x, &w); return f + w; }
__device__ float frexpf_of(float x) { int e; const float f = frexpf(x, &e); return f + e; }
__device__ float remquof_of(float x) { int q; const float f = remquof(x, 0.7f, &q); return f + q; }

KERNEL(k_sincosf, float, sincosf_of(x))
KERNEL(k_sinf_cosf, float, sinf(x) + cosf(x))
KERNEL(k_sincospif, float, sincospif_of(x))
KERNEL(k_sinpif_cospif, float, sinpif(x) + cospif(x))
KERNEL(k_sincos, double, sincos_of(x))
KERNEL(k_sin_cos, double, sin(x) + cos(x))
KERNEL(k_modff, float, modff_of(x))
KERNEL(k_truncf, float, truncf(x) + (x - truncf(x)))
KERNEL(k_modf, double, modf_of(x))
KERNEL(k_trunc, double, trunc(x) + (x - trunc(x)))
KERNEL(k_frexpf, float, frexpf_of(x))
KERNEL(k_ilogbf, float, scalbnf(x, -ilogbf(x)))
KERNEL(k_remquof, float, remquof_of(x))
KERNEL(k_remainderf, float, remainderf(x, 0.7f))

KERNEL(k_sinf, float, sinf(x))
KERNEL(k_cosf, float, cosf(x))
KERNEL(k_tanf, float, tanf(x))
KERNEL(k_fast_sinf, float, __sinf(x))
KERNEL(k_fast_cosf, float, __cosf(x))
KERNEL(k_fast_tanf, float, __tanf(x))
KERNEL(k_fdividef, float, __fdividef(1.5f, x))
KERNEL(k_divide, float, 1.5f / x)

KERNEL(k_fast_logf, float, __logf(x))
KERNEL(k_logf, float, logf(x))
KERNEL(k_fmodf, float, fmodf(x, 0.7f))
KERNEL(k_fmod, double, fmod(x, 0.7))
KERNEL(k_ldexpf, float, ldexpf(x, k))

KERNEL(k_fadd_rz, float, __fadd_rz(x, 0.3f))
KERNEL(k_fadd, float, __fadd_rn(x, 0.3f))
KERNEL(k_fmaf_ru, float, __fmaf_ru(x, x, 0.3f))
KERNEL(k_fmaf, float, fmaf(x, x, 0.3f))
KERNEL(k_dadd_ru, double, __dadd_ru(x, 0.3))
KERNEL(k_dadd, double, x + 0.3)
KERNEL(k_dmul_rd, double, __dmul_rd(x, 0.3))
KERNEL(k_dmul, double, x * 0.3)
KERNEL(k_vadd4, unsigned, __vadd4(x, 0x01020304u))
KERNEL(k_vabsdiffu4, unsigned, __vabsdiffu4(x, 0x01020304u))
KERNEL(k_vmaxs2, unsigned, __vmaxs2(x, 0x01020304u))
KERNEL(k_add, unsigned, (x ^ 0x01020304u) + 7)

__device__ unsigned halves_of(float x) {
  unsigned d;
  asm("cvt.rn.f16x2.f32 %0, %1, %1;" : "=r"(d) : "f"(x));
  return d;
}
__device__ float tf32_of(float x) {
  float d;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
__device__ int less_of(float x) {  // as halves
  int d;
  asm("{ .reg .b16 h; .reg .pred p; cvt.rn.f16.f32 h, %1; setp.lt.f16 p, h, 0x3c00; selp.s32 %0, 1, 0, p; }" : "=r"(d) : "f"(x));
  return d;
}
KERNEL(k_halves, float, halves_of(x))
KERNEL(k_tf32, float, tf32_of(x))
KERNEL(k_less, float, less_of(x))
KERNEL(k_to_float_rz, double, __double2float_rz(x))
KERNEL(k_to_float, double, __double2float_rn(x))

KERNEL(k_pow, double, pow(x, 1.7))
KERNEL(k_erf, double, erf(x))
KERNEL(k_cbrt, double, cbrt(x))
KERNEL(k_atan2, double, atan2(x, 1.3))
KERNEL(k_tanh, double, tanh(x))
KERNEL(k_lgamma, double, lgamma(x))
KERNEL(k_tgamma, double, tgamma(x))
KERNEL(k_exp, double, exp(x))
KERNEL(k_log, double, log(x))
KERNEL(k_sin, double, sin(x))
KERNEL(k_powf, float, powf(x, 1.7f))
KERNEL(k_j0f, float, j0f(x))
KERNEL(k_tgammaf, float, tgammaf(x))
KERNEL(k_lgammaf, float, lgammaf(x))
KERNEL(k_erfinvf, float, erfinvf(x * 0.2f))

template <class T> pattern::Form on_device(void (*kernel)(const T*, T*), const T* in, T* out) {
  return {double(kElements) * kRounds, [=] { kernel<<<kElements / 256, 256>>>(in, out); }};
}

volatile double sink;

template <class T, class F> pattern::Form on_host(F f) {
  return {4096, [=] {
            T sum = 0, x = T(0.5);
            for (int k = 0; k < 4096; ++k, x += T(0.001)) sum += f(x);
            sink = double(sum);
          }};
}

void rows() {
  const float* f = array<float>(kElements, 0.5f, 0.003f);
  const double* d = array<double>(kElements, 0.5, 0.003);
  const unsigned* u = array<unsigned>(kElements, 0x10203040u, 0x01000193u);
  float* fo = array<float>(kElements);
  double* dv = array<double>(kElements);
  unsigned* uo = array<unsigned>(kElements);
  const auto f32 = [=](auto kernel) { return on_device<float>(kernel, f, fo); };
  const auto f64 = [=](auto kernel) { return on_device<double>(kernel, d, dv); };
  const auto u32 = [=](auto kernel) { return on_device<unsigned>(kernel, u, uo); };
  row("sincosf", "call", f32(k_sincosf), "sinf, cosf", f32(k_sinf_cosf));
  row("sincospif", "call", f32(k_sincospif), "sinpif, cospif", f32(k_sinpif_cospif));
  row("sincos", "call", f64(k_sincos), "sin, cos", f64(k_sin_cos));
  row("modff", "call", f32(k_modff), "truncf", f32(k_truncf));
  row("modf", "call", f64(k_modf), "trunc", f64(k_trunc));
  row("frexpf", "call", f32(k_frexpf), "ilogbf, scalbnf", f32(k_ilogbf));
  row("remquof", "call", f32(k_remquof), "remainderf", f32(k_remainderf));
  row("__sinf", "call", f32(k_fast_sinf), "sinf", f32(k_sinf), 1.5);
  row("__cosf", "call", f32(k_fast_cosf), "cosf", f32(k_cosf), 1.5);
  row("__tanf", "call", f32(k_fast_tanf), "tanf", f32(k_tanf), 1.5);
  row("__logf", "call", f32(k_fast_logf), "logf", f32(k_logf), 1.5);
  row("__fdividef", "call", f32(k_fdividef), "a division", f32(k_divide));
  row("__fadd_rz", "call", f32(k_fadd_rz), "__fadd_rn", f32(k_fadd));
  row("__fmaf_ru", "call", f32(k_fmaf_ru), "fmaf", f32(k_fmaf));
  row("__dadd_ru", "call", f64(k_dadd_ru), "a sum", f64(k_dadd));
  row("__dmul_rd", "call", f64(k_dmul_rd), "a product", f64(k_dmul));
  row("__vadd4", "call", u32(k_vadd4), "xor and sum", u32(k_add));
  row("__vabsdiffu4", "call", u32(k_vabsdiffu4), "xor and sum", u32(k_add));
  row("__vmaxs2", "call", u32(k_vmaxs2), "xor and sum", u32(k_add));
  row("cvt.rn.f16x2.f32", "call", f32(k_halves), "truncf", f32(k_truncf));
  row("cvt.rna.tf32.f32", "call", f32(k_tf32), "truncf", f32(k_truncf));
  row("setp.lt.f16", "call", f32(k_less), "truncf", f32(k_truncf));
  row("__double2float_rz", "call", f64(k_to_float_rz), "__double2float_rn", f64(k_to_float));
  row("double pow", "call", f64(k_pow), "the host's", on_host<double>([](double x) { return std::pow(x, 1.7); }));
  row("double erf", "call", f64(k_erf), "the host's", on_host<double>([](double x) { return std::erf(x); }));
  row("double cbrt", "call", f64(k_cbrt), "the host's", on_host<double>([](double x) { return std::cbrt(x); }));
  row("double atan2", "call", f64(k_atan2), "the host's", on_host<double>([](double x) { return std::atan2(x, 1.3); }));
  row("double tanh", "call", f64(k_tanh), "the host's", on_host<double>([](double x) { return std::tanh(x); }));
  row("double lgamma", "call", f64(k_lgamma), "the host's", on_host<double>([](double x) { return std::lgamma(x); }));
  row("double tgamma", "call", f64(k_tgamma), "the host's", on_host<double>([](double x) { return std::tgamma(x); }));
  row("double exp", "call", f64(k_exp), "the host's", on_host<double>([](double x) { return std::exp(x); }));
  row("double log", "call", f64(k_log), "the host's", on_host<double>([](double x) { return std::log(x); }));
  row("double sin", "call", f64(k_sin), "the host's", on_host<double>([](double x) { return std::sin(x); }));
  row("fmod", "call", f64(k_fmod), "the host's", on_host<double>([](double x) { return std::fmod(x, 0.7); }));
  row("fmodf", "call", f32(k_fmodf), "the host's", on_host<float>([](float x) { return std::fmod(x, 0.7f); }));
  row("ldexpf", "call", f32(k_ldexpf), "the host's", on_host<float>([](float x) { return std::ldexp(x, int(x)); }));
  row("powf", "call", f32(k_powf), "the host's", on_host<float>([](float x) { return std::pow(x, 1.7f); }));
  row("j0f", "call", f32(k_j0f), "the host's", on_host<float>([](float x) { return j0f(x); }));
  row("tgammaf", "call", f32(k_tgammaf), "the host's", on_host<float>([](float x) { return std::tgamma(x); }));
  row("lgammaf", "call", f32(k_lgammaf), "the host's", on_host<float>([](float x) { return std::lgamma(x); }));
  row("erfinvf", "call", f32(k_erfinvf), "the host's erff", on_host<float>([](float x) { return std::erf(x); }));
}
