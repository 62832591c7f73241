// What a launch has to know about the device: its size, and which instructions the running code was compiled for.
#pragma once

#include "../config.cuh"

namespace warpbeam {

enum class CodeLevel { portable, bulk_copy, wgmma };

namespace detail {

// The host cannot see for which architecture the device code was compiled, but it can read a kernel's static shared
// memory, which is different for each level.
template <int kUnused>
__global__ void code_level_probe(int* out) {
  __shared__ volatile int words[1 + 2 * WB_BULK_COPY + 4 * WB_WGMMA];
  words[threadIdx.x % (sizeof(words) / sizeof(int))] = threadIdx.x;
  out[threadIdx.x] = words[0];
}

}  // namespace detail

struct DeviceTraits {
  int multiprocessors = 1;
  int shared_per_block = 48 << 10;
  int shared_per_multiprocessor = 48 << 10;
  CodeLevel level = CodeLevel::portable;
};

inline cudaError_t device_traits(DeviceTraits* out) {
  constexpr int kMaxDevices = 64;
  static DeviceTraits known[kMaxDevices];
  static bool ready[kMaxDevices] = {};
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  if (device < kMaxDevices && ready[device]) {
    *out = known[device];
    return cudaSuccess;
  }
  DeviceTraits traits;
  error = cudaDeviceGetAttribute(&traits.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&traits.shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  error = cudaDeviceGetAttribute(&traits.shared_per_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
  if (error != cudaSuccess) return error;
#if !WB_PORTABLE
  cudaFuncAttributes attributes;
  error = cudaFuncGetAttributes(&attributes, detail::code_level_probe<0>);
  if (error != cudaSuccess) return error;
  if (attributes.sharedSizeBytes >= 7 * sizeof(int)) {
    traits.level = CodeLevel::wgmma;
  } else if (attributes.sharedSizeBytes >= 3 * sizeof(int)) {
    traits.level = CodeLevel::bulk_copy;
  }
#endif
  if (device < kMaxDevices) {
    known[device] = traits;
    ready[device] = true;
  }
  *out = traits;
  return cudaSuccess;
}

// Shared memory above 48 KiB, static and dynamic together, has to be asked for; no kernel here has more than 18 KiB of
// static arrays. The runtime remembers the request per kernel.
template <class Kernel>
cudaError_t allow_shared(Kernel kernel, size_t bytes) {
  if (bytes <= (30u << 10)) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

// Launches a kernel; with `overlap` its blocks may start before the previous kernel of the stream has finished, and the
// kernel itself waits with cudaGridDependencySynchronize() before it reads what that one wrote.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                   bool overlap, Arguments... arguments) {
#if !WB_PORTABLE
  if (overlap) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
  }
#endif
  (void)overlap;
  kernel<<<grid, block, shared, stream>>>(static_cast<Parameters>(arguments)...);
  return cudaGetLastError();
}

}  // namespace warpbeam
