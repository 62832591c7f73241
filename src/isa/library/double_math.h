// The double-precision functions of the device library, and the rare ones in single precision.
//
// They are computed in long double and rounded once, so errors stay near half an ulp, and the host's FMA variants of
// the double functions (which differ in the last bit from CPU to CPU) are not involved.
#pragma once
#include <cstdint>

namespace warpbeam::isa::library {

double sin_f64(double x);
double cos_f64(double x);
double tan_f64(double x);
double sinpi_f64(double x);
double cospi_f64(double x);
double asin_f64(double x);
double acos_f64(double x);
double atan_f64(double x);
double atan2_f64(double y, double x);
double sinh_f64(double x);
double cosh_f64(double x);
double tanh_f64(double x);
double asinh_f64(double x);
double acosh_f64(double x);
double atanh_f64(double x);
double exp_f64(double x);
double exp2_f64(double x);
double exp10_f64(double x);
double expm1_f64(double x);
double log_f64(double x);
double log2_f64(double x);
double log10_f64(double x);
double log1p_f64(double x);
double pow_f64(double x, double y);
double powi_f64(double x, int32_t n);
double cbrt_f64(double x);
double rcbrt_f64(double x);
double hypot_f64(double x, double y);
double rhypot_f64(double x, double y);
double norm3d_f64(double x, double y, double z);
double rnorm3d_f64(double x, double y, double z);
double norm4d_f64(double x, double y, double z, double w);
double rnorm4d_f64(double x, double y, double z, double w);
double norm_f64(int32_t n, const double* p);
double rnorm_f64(int32_t n, const double* p);
float norm_f32(int32_t n, const float* p);
float rnorm_f32(int32_t n, const float* p);

double erf_f64(double x);
double erfc_f64(double x);
double erfcx_f64(double x);
double erfinv_f64(double x);
double erfcinv_f64(double x);
double normcdf_f64(double x);
double normcdfinv_f64(double x);
double tgamma_f64(double x);
double lgamma_f64(double x);
double j0_f64(double x);
double j1_f64(double x);
double jn_f64(int32_t n, double x);
double y0_f64(double x);
double y1_f64(double x);
double yn_f64(int32_t n, double x);
double cyl_bessel_i0_f64(double x);
double cyl_bessel_i1_f64(double x);

// Exact operations: no rounding, or one.
double fmod_f64(double x, double y);
double remainder_f64(double x, double y);
double remquo_f64(double x, double y, int32_t* quotient);
float fmod_f32(float x, float y);
float remainder_f32(float x, float y);
float remquo_f32(float x, float y, int32_t* quotient);
double ldexp_f64(double x, int32_t n);
double frexp_f64(double x, int32_t* exponent);
float frexp_f32(float x, int32_t* exponent);
double modf_f64(double x, double* whole);
float modf_f32(float x, float* whole);
double logb_f64(double x);
float logb_f32(float x);
int32_t ilogb_f64(double x);
int32_t ilogb_f32(float x);
double nextafter_f64(double x, double y);
float nextafter_f32(float x, float y);
double fdim_f64(double x, double y);
float fdim_f32(float x, float y);

}  // namespace warpbeam::isa::library
