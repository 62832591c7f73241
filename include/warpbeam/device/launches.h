// What a launch in device code becomes: this, then a call of the kernel (src/compiler/device_launches.h).
#ifndef WARPBEAM_DEVICE_LAUNCHES_H
#define WARPBEAM_DEVICE_LAUNCHES_H
extern "C" __host__ __device__ void __warpbeam_configure_launch(dim3 grid, dim3 block, __SIZE_TYPE__ shared = 0, void* stream = 0);
#endif
