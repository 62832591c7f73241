// threadIdx, blockIdx, blockDim, gridDim and warpSize. Reading a member reads the special register; the whole converts
// to uint3 and dim3. They can be copied (`auto t = threadIdx;`): a copy reads the same registers.
#ifndef WARPBEAM_DEVICE_BUILTIN_VARIABLES_H
#define WARPBEAM_DEVICE_BUILTIN_VARIABLES_H

#include "vector_types.h"

#define WB_REGISTER_MEMBER(member, read)                                                                \
  __declspec(property(get = wb_get_##member)) unsigned int member;                                      \
  static __inline__ __attribute__((always_inline, nodebug)) __device__ unsigned int wb_get_##member() { return read; }

#define WB_REGISTER_TRIPLE(name, reg)                                  \
  struct wb_builtin_##name {                                           \
    WB_REGISTER_MEMBER(x, __nvvm_read_ptx_sreg_##reg##_x())            \
    WB_REGISTER_MEMBER(y, __nvvm_read_ptx_sreg_##reg##_y())            \
    WB_REGISTER_MEMBER(z, __nvvm_read_ptx_sreg_##reg##_z())            \
    __attribute__((always_inline, nodebug)) __device__ operator dim3() const { return dim3(x, y, z); }   \
    __attribute__((always_inline, nodebug)) __device__ operator uint3() const { return uint3{x, y, z}; } \
  };                                                                   \
  extern const __device__ __attribute__((weak)) wb_builtin_##name name;

WB_REGISTER_TRIPLE(threadIdx, tid)
WB_REGISTER_TRIPLE(blockIdx, ctaid)
WB_REGISTER_TRIPLE(blockDim, ntid)
WB_REGISTER_TRIPLE(gridDim, nctaid)

#undef WB_REGISTER_MEMBER
#undef WB_REGISTER_TRIPLE

// No constant expression, as with nvcc. src/lowering/optimiser/warp_size.cc says what it is.
#if defined(__CUDA_ARCH__) && !defined(WARPBEAM_NO_LOWERING)
extern const __device__ int warpSize;
#else
__device__ const int warpSize = 32;
#endif

#endif
