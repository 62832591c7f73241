// cuRAND's generators for kernels: XORWOW (the default), Philox4x32-10, MRG32k3a, MTGP32 and Sobol sequences, with uniform,
// normal, log-normal, Poisson and tabulated numbers. The streams of numbers are the ones that cuRAND documents, but for
// tabulated ones.
#ifndef WARPBEAM_CURAND_KERNEL_H
#define WARPBEAM_CURAND_KERNEL_H
#define CURAND_KERNEL_H_
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "warpbeam/curand/discrete.h"

#include "warpbeam/restore_macros.h"
#endif
