// The public headers as this library sees them: what they declare is exported.
#pragma once
#pragma GCC visibility push(default)
#include "cuda_profiler_api.h"
#include "cuda_runtime_api.h"
#pragma GCC visibility pop

// Exports without a prototype in the headers: twins for per-thread default streams, entry points of generated code.
#define WB_TWIN __attribute__((visibility("default")))
