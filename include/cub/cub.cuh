// CUB's own header of this name follows, and the algorithms that newer versions than Debian's have.
#pragma once
#include_next <cub/cub.cuh>

#include "device/device_copy.cuh"
#include "device/device_for.cuh"
#include "device/device_memcpy.cuh"
#include "device/device_merge.cuh"
#include "device/device_transform.cuh"
