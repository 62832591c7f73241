// cuda::ptx: instructions as functions whose tags choose the form.
#ifndef WARPBEAM_CXX_PTX_H
#define WARPBEAM_CXX_PTX_H

#include "ptx_barriers.h"
#include "ptx_maps.h"
#include "ptx_reduce.h"
#include "ptx_words.h"

#endif
