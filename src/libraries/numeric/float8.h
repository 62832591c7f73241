// Numbers of eight bits, E4M3 and E5M2, which the header of CUDA's own types converts.
#pragma once
#include <cuda_fp8.h>

namespace warpbeam::numeric {

template <__nv_fp8_interpretation_t kind>
struct Float8 {
  __nv_fp8_storage_t bits = 0;
  Float8() = default;
  Float8(float x) : bits(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind)) {}
  operator float() const { return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, kind))); }
};
using E4m3 = Float8<__NV_E4M3>;
using E5m2 = Float8<__NV_E5M2>;

}  // namespace warpbeam::numeric
