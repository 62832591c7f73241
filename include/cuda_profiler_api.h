// Marks the part of a program that a profiler should record.
#ifndef WARPBEAM_CUDA_PROFILER_API_H
#define WARPBEAM_CUDA_PROFILER_API_H

#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
