// The intrinsics that trade accuracy for one or two instructions: __sinf, __expf, __fdividef …
#ifndef WARPBEAM_DEVICE_FAST_MATH_H
#define WARPBEAM_DEVICE_FAST_MATH_H

#include "attributes.h"

// Single-precision instructions come with and without flushing of denormals; -ftz=true decides, and the question is
// answered before optimisation, so that no choice is left in the code.
#define WB_FTZ(plain, flushing) (__nvvm_reflect("__CUDA_FTZ") ? (flushing) : (plain))

WB_DEVICE float __sinf(float x) { return WB_FTZ(__nvvm_sin_approx_f(x), __nvvm_sin_approx_ftz_f(x)); }
WB_DEVICE float __cosf(float x) { return WB_FTZ(__nvvm_cos_approx_f(x), __nvvm_cos_approx_ftz_f(x)); }
WB_DEVICE float wb_exp2_approx(float x) { return WB_FTZ(__nvvm_ex2_approx_f(x), __nvvm_ex2_approx_ftz_f(x)); }
WB_DEVICE float wb_divide_approx(float x, float y) {
  return WB_FTZ(__nvvm_div_approx_f(x, y), __nvvm_div_approx_ftz_f(x, y));
}
WB_DEVICE float wb_rsqrt_approx(float x) { return WB_FTZ(__nvvm_rsqrt_approx_f(x), __nvvm_rsqrt_approx_ftz_f(x)); }
WB_DEVICE float wb_sqrt_approx(float x) { return WB_FTZ(__nvvm_sqrt_approx_f(x), __nvvm_sqrt_approx_ftz_f(x)); }

WB_DEVICE float __log2f(float x) { return WB_FTZ(__nvvm_lg2_approx_f(x), __nvvm_lg2_approx_ftz_f(x)); }
WB_DEVICE float __logf(float x) { return __log2f(x) * 0.693147180559945309f; }
WB_DEVICE float __log10f(float x) { return __log2f(x) * 0.301029995663981195f; }
WB_DEVICE float __expf(float x) { return wb_exp2_approx(x * 1.44269504088896341f); }
WB_DEVICE float __exp10f(float x) { return wb_exp2_approx(x * 3.32192809488736235f); }
WB_DEVICE float __powf(float x, float y) { return wb_exp2_approx(y * __log2f(x)); }
WB_DEVICE float __fdividef(float x, float y) { return wb_divide_approx(x, y); }
WB_DEVICE float __tanf(float x) { return wb_divide_approx(__sinf(x), __cosf(x)); }
WB_DEVICE void __sincosf(float x, float* sine, float* cosine) {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}
#if WB_HAS_ARCH(750)
WB_DEVICE float __tanhf(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
#endif
WB_DEVICE float __saturatef(float x) { return WB_FTZ(__nvvm_saturate_f(x), __nvvm_saturate_ftz_f(x)); }

#endif
