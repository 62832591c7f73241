// make_int2 and its like, and as with NVIDIA's the runtime API, which programs that are no CUDA sources take from here: by way of
// cuda_fp16.h most libraries' headers lead to it.
#pragma once
#ifndef __CUDACC_RTC__
#include "cuda_runtime_api.h"
#endif
#include "warpbeam/device/vector_functions.h"
#define __VECTOR_FUNCTIONS_H__
