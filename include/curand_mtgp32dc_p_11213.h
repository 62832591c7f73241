// cuRAND's 200 sets of parameters for MTGP32 are a toolkit's: programs compile without them, and
// curandMakeMTGP32Constants refuses these. A copy of the toolkit's file beside the program, or in a folder given with -I, is
// found before this one.
#ifndef WARPBEAM_CURAND_MTGP32DC_P_11213_H
#define WARPBEAM_CURAND_MTGP32DC_P_11213_H
#pragma GCC system_header

#include "curand_mtgp32.h"

static mtgp32_params_fast_t mtgp32dc_params_fast_11213[CURAND_NUM_MTGP32_PARAMS] = {};

#endif
