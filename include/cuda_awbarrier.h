// Barriers that split arriving from waiting: see cuda/barrier for the class.
#include "warpbeam/hide_macros.h"
#include "cuda_awbarrier_primitives.h"
#include "warpbeam/restore_macros.h"
