// Thrust's own header of this name follows. An algorithm that a kernel calls runs in the thread that called it, with
// relocatable device code too: toolkit 12 took away the nested launches that this would be otherwise.
#pragma once

#if defined(__CUDA_ARCH__) && defined(__CUDACC_RDC__)
#pragma push_macro("__CUDACC_RDC__")
#undef __CUDACC_RDC__
#include_next <thrust/system/cuda/config.h>
#pragma pop_macro("__CUDACC_RDC__")
#else
#include_next <thrust/system/cuda/config.h>
#endif
