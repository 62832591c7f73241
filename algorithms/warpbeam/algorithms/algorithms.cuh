// The whole library. Each header below can be included alone.
#pragma once

#include "device/bitonic.cuh"
#include "device/by_key.cuh"
#include "device/gemm.cuh"
#include "device/histogram.cuh"
#include "device/merge_sort.cuh"
#include "device/radix_sort.cuh"
#include "device/reduce.cuh"
#include "device/scan.cuh"
#include "device/select.cuh"
#include "device/stencil.cuh"
#include "device/summed_area.cuh"
#include "device/transpose.cuh"
#include "iterators.cuh"
