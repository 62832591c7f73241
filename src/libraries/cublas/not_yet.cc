// What toolkit 13's cuBLAS has and this one has not: see docs/libraries.md.
#include "cuda/not_yet.h"

#define ONE(name) WB_NOT_YET_AS(15, "CUBLAS_STATUS_NOT_SUPPORTED", cublas##name)

ONE(RotgEx)
ONE(RotmgEx)
ONE(Uint8gemmBias)
ONE(XtCspmm)
ONE(XtDspmm)
ONE(XtSspmm)
ONE(XtZspmm)
