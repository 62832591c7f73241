// The whole of the runtime: in CUDA sources the device side comes from the prelude (NVRTC has read its own), here the API is added.
#ifndef WARPBEAM_CUDA_RUNTIME_H
#define WARPBEAM_CUDA_RUNTIME_H
#define __CUDA_RUNTIME_H__
#include "warpbeam/hide_macros.h"
#if defined(__CUDA__) && !defined(__CUDACC_RTC__)
#include "warpbeam/prelude.h"
#endif
#include "cuda_runtime_api.h"
#include "cuda_device_runtime_api.h"
#include "driver_functions.h"
#include "vector_functions.h"
#include "warpbeam/restore_macros.h"
#endif
