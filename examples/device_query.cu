// device_query: what kind of machine is this, and what are its limits?
// Look at the two ways of asking, one struct with everything or one attribute at a time; they must agree.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

static int failures = 0;

static void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("  does not hold: %s\n", what);
  ++failures;
}

static int attribute(cudaDeviceAttr which, int device) {
  int value = -1;
  if (cudaDeviceGetAttribute(&value, which, device) != cudaSuccess) expect(false, "attribute can be read");
  return value;
}

__global__ void touch(int* flag) { *flag = warpSize; }

int main() {
  int count = 0, driver = 0, runtime = 0;
  expect(cudaGetDeviceCount(&count) == cudaSuccess && count > 0, "there is a device");
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  expect(driver >= runtime && runtime >= 10000, "the driver is at least as new as the runtime");

  for (int device = 0; device < count; ++device) {
    cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, device) != cudaSuccess) return 1;
    std::printf("device %d: %s, compute capability %d.%d\n", device, prop.name, prop.major, prop.minor);
    std::printf("  %.1f GiB of global memory, %zu KiB of constant memory, L2 cache %d KiB\n",
                prop.totalGlobalMem / 1073741824.0, prop.totalConstMem / 1024, prop.l2CacheSize / 1024);
    std::printf("  %d multiprocessors, %d threads each, warps of %d\n", prop.multiProcessorCount,
                prop.maxThreadsPerMultiProcessor, prop.warpSize);
    std::printf("  per block: %d threads, (%d, %d, %d), %zu bytes shared, %d registers\n", prop.maxThreadsPerBlock,
                prop.maxThreadsDim[0], prop.maxThreadsDim[1], prop.maxThreadsDim[2], prop.sharedMemPerBlock,
                prop.regsPerBlock);
    std::printf("  grid up to (%d, %d, %d), %d copy engines, %s host memory, %s addresses\n", prop.maxGridSize[0],
                prop.maxGridSize[1], prop.maxGridSize[2], prop.asyncEngineCount,
                prop.canMapHostMemory ? "maps" : "does not map", prop.unifiedAddressing ? "unified" : "separate");

    expect(prop.warpSize == 32, "a warp has 32 lanes");
    expect(prop.maxThreadsPerBlock >= 512, "blocks of 512 threads fit");
    expect(prop.totalConstMem == 64 * 1024, "constant memory is 64 KiB");
    expect(prop.major == attribute(cudaDevAttrComputeCapabilityMajor, device), "major agrees");
    expect(prop.minor == attribute(cudaDevAttrComputeCapabilityMinor, device), "minor agrees");
    expect(prop.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount, device), "processors agree");
    expect(prop.maxThreadsPerBlock == attribute(cudaDevAttrMaxThreadsPerBlock, device), "block size agrees");
    expect((int)prop.sharedMemPerBlock == attribute(cudaDevAttrMaxSharedMemoryPerBlock, device), "shared agrees");
    expect(prop.maxGridSize[0] == attribute(cudaDevAttrMaxGridDimX, device), "grid size agrees");
    expect(prop.globalL1CacheSupported == attribute(cudaDevAttrGlobalL1CacheSupported, device), "L1 agrees");
    expect(attribute(cudaDevAttrClockRate, device) > 0, "the clock rate is known");

    expect(cudaSetDevice(device) == cudaSuccess, "the device can be chosen");
    size_t free_bytes = 0, total_bytes = 0;
    expect(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess, "memory use can be asked");
    expect(free_bytes <= total_bytes && total_bytes <= prop.totalGlobalMem, "memory adds up");

    int *d_flag, flag = 0;
    expect(cudaMalloc(&d_flag, sizeof flag) == cudaSuccess, "memory can be had");
    touch<<<1, 1>>>(d_flag);
    cudaMemcpy(&flag, d_flag, sizeof flag, cudaMemcpyDeviceToHost);
    cudaFree(d_flag);
    expect(flag == prop.warpSize, "a kernel runs and sees the same warp size");
  }

  int nonsense = 0;
  cudaDeviceProp prop;
  expect(cudaGetDeviceProperties(&prop, count) == cudaErrorInvalidDevice, "a device too many is refused");
  expect(cudaSetDevice(count) == cudaErrorInvalidDevice, "so is choosing it");
  expect(cudaDeviceGetAttribute(&nonsense, cudaDevAttrWarpSize, -1) == cudaErrorInvalidDevice, "and device -1");
  cudaGetLastError();
  std::printf("device_query: %d device(s), %s\n", count, failures ? "FAILED" : "everything is consistent");
  return failures != 0;
}
