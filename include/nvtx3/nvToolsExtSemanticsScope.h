// NVTX: of which part of the machine or program a member speaks.
#ifndef WARPBEAM_NVTOOLSEXTSEMANTICSSCOPE_H
#define WARPBEAM_NVTOOLSEXTSEMANTICSSCOPE_H

#include "nvToolsExtPayload.h"

#define NVTX_SEMANTIC_ID_SCOPE_V1 1

typedef struct nvtxSemanticsScope_v1 {
  struct nvtxSemanticsHeader_v1 header;
  uint64_t scopeId;
} nvtxSemanticsScope_t;

#endif
