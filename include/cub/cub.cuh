// CUB's own header of this name follows the algorithms that newer versions than Debian's have.
#pragma once
#include "device/device_copy.cuh"
#include "device/device_for.cuh"
#include "device/device_histogram.cuh"
#include "device/device_memcpy.cuh"
#include "device/device_merge.cuh"
#include "device/device_merge_sort.cuh"
#include "device/device_radix_sort.cuh"
#include "device/device_reduce.cuh"
#include "device/device_scan.cuh"
#include "device/device_select.cuh"
#include "device/device_topk.cuh"
#include "device/device_transform.cuh"
#include "thread/thread_reduce.cuh"
#include_next <cub/cub.cuh>
#include <cub/block/block_run_length_decode.cuh>
