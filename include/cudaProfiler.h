// Marks the part of a program of the driver API that a profiler should record.
#ifndef WARPBEAM_CUDA_PROFILER_H
#define WARPBEAM_CUDA_PROFILER_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUoutput_mode_enum {
  CU_OUT_KEY_VALUE_PAIR = 0x00, CU_OUT_CSV = 0x01
} CUoutput_mode;

CUresult cuProfilerInitialize(const char* configFile, const char* outputFile, CUoutput_mode outputMode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
