// Devices: choice, properties, attributes, limits, settings, reset.
#include <gtest/gtest.h>

#include <cuda_profiler_api.h>

#include <cstring>
#include <thread>

#include "kernels.h"

namespace {

class Device : public testing::Test {
 protected:
  void TearDown() override { cudaGetLastError(); }
};

TEST_F(Device, numbers_outside_the_count_are_refused) {
  int count = 0, device = -1;
  OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 1);
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  OK(cudaSetDevice(0));
  cudaDeviceProp properties;
  for (int wrong : {-1, 1, 99}) {
    EXPECT_EQ(cudaSetDevice(wrong), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetDeviceProperties(&properties, wrong), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, wrong), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaInitDevice(wrong, 0, 0), cudaErrorInvalidDevice);
  }
  EXPECT_EQ(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&count, static_cast<cudaDeviceAttr>(9999), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&count, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue);
}

TEST_F(Device, properties_and_attributes_agree) {
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  auto attribute = [](cudaDeviceAttr which) {
    int value = -77;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
  };
  EXPECT_STREQ(p.name, "NVIDIA H200");
  EXPECT_EQ(p.major, attribute(cudaDevAttrComputeCapabilityMajor));
  EXPECT_EQ(p.minor, attribute(cudaDevAttrComputeCapabilityMinor));
  EXPECT_EQ(p.warpSize, attribute(cudaDevAttrWarpSize));
  EXPECT_EQ(p.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
  EXPECT_EQ(p.maxThreadsPerBlock, attribute(cudaDevAttrMaxThreadsPerBlock));
  EXPECT_EQ(p.maxThreadsDim[2], attribute(cudaDevAttrMaxBlockDimZ));
  EXPECT_EQ(p.maxGridSize[0], attribute(cudaDevAttrMaxGridDimX));
  EXPECT_EQ(static_cast<int>(p.sharedMemPerBlock), attribute(cudaDevAttrMaxSharedMemoryPerBlock));
  EXPECT_EQ(static_cast<int>(p.sharedMemPerBlockOptin), attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  EXPECT_EQ(static_cast<int>(p.sharedMemPerMultiprocessor), attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  EXPECT_EQ(p.regsPerBlock, attribute(cudaDevAttrMaxRegistersPerBlock));
  EXPECT_EQ(p.clockRate, attribute(cudaDevAttrClockRate));
  EXPECT_EQ(p.memoryClockRate, attribute(cudaDevAttrMemoryClockRate));
  EXPECT_EQ(p.memoryBusWidth, attribute(cudaDevAttrGlobalMemoryBusWidth));
  EXPECT_EQ(p.l2CacheSize, attribute(cudaDevAttrL2CacheSize));
  EXPECT_EQ(p.asyncEngineCount, attribute(cudaDevAttrAsyncEngineCount));
  EXPECT_EQ(p.deviceOverlap, attribute(cudaDevAttrGpuOverlap));
  EXPECT_EQ(p.concurrentKernels, attribute(cudaDevAttrConcurrentKernels));
  EXPECT_EQ(p.computeMode, attribute(cudaDevAttrComputeMode));
  EXPECT_EQ(p.managedMemory, attribute(cudaDevAttrManagedMemory));
  EXPECT_EQ(p.maxTexture2D[1], attribute(cudaDevAttrMaxTexture2DHeight));
  EXPECT_EQ(p.maxSurface3D[2], attribute(cudaDevAttrMaxSurface3DDepth));
  EXPECT_EQ(p.pciBusID, attribute(cudaDevAttrPciBusId));
  EXPECT_EQ(p.clusterLaunch, attribute(cudaDevAttrClusterLaunch));
  EXPECT_EQ(p.cooperativeLaunch, attribute(cudaDevAttrCooperativeLaunch));
  // Every number an attribute can have answers, up to the last one; only gaps in the list do not.
  int answered = 0;
  for (int which = 1; which < cudaDevAttrMax; ++which) {
    int value;
    answered += cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), 0) == cudaSuccess;
  }
  EXPECT_GE(answered, 120);
}

TEST_F(Device, bus_ids_name_devices) {
  char id[20];
  int device = -1;
  OK(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaDeviceGetPCIBusId(id, 5, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "zz"), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, "0000:77:00.0"), cudaErrorInvalidDevice);
}

TEST_F(Device, choosing) {
  cudaDeviceProp wish = {};
  int device = -1;
  wish.major = 5;
  OK(cudaChooseDevice(&device, &wish));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaChooseDevice(nullptr, &wish), cudaErrorInvalidValue);
  OK(cudaSetValidDevices(&device, 1));
  EXPECT_EQ(cudaSetValidDevices(&device, 5), cudaErrorInvalidValue);
  int wrong = 7;
  EXPECT_EQ(cudaSetValidDevices(&wrong, 1), cudaErrorInvalidDevice);
  OK(cudaSetValidDevices(nullptr, 0));
}

TEST_F(Device, flags) {
  unsigned flags = 0;
  OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags, unsigned{cudaDeviceMapHost});
  OK(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
  OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags, unsigned{cudaDeviceScheduleSpin | cudaDeviceMapHost});
  EXPECT_EQ(cudaSetDeviceFlags(3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDeviceFlags(0x1000), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceFlags(nullptr), cudaErrorInvalidValue);
  OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  OK(cudaInitDevice(0, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid));
}

TEST_F(Device, limits) {
  size_t value = 0;
  OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 1024u);
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 3000));
  OK(cudaThreadGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 3008u);
  OK(cudaThreadSetLimit(cudaLimitStackSize, 1024));
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitStackSize, size_t{1} << 40), cudaErrorInvalidValue);
  OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  EXPECT_EQ(value, 8u << 20);
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 5'000'001));
  OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  EXPECT_EQ(value, 5'046'272u);  // as an H200 rounds
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1000));
  OK(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
  EXPECT_EQ(value, 4u << 20);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 129), cudaErrorInvalidValue);
  OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1 << 20));
  OK(cudaDeviceGetLimit(&value, cudaLimitPersistingL2CacheSize));
  EXPECT_EQ(value, 3'932'160u);
  OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 100));
  OK(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
  EXPECT_EQ(value, 512u << 10);
  OK(cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
  EXPECT_EQ(value, 2u);
  EXPECT_EQ(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 25), cudaErrorInvalidValue);
  OK(cudaDeviceGetLimit(&value, cudaLimitDevRuntimePendingLaunchCount));
  EXPECT_EQ(value, 2048u);
  EXPECT_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
}

TEST_F(Device, cache_and_bank_settings) {
  cudaFuncCache cache;
  cudaSharedMemConfig banks;
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  OK(cudaDeviceGetCacheConfig(&cache));
  EXPECT_EQ(cache, cudaFuncCachePreferShared);
  OK(cudaThreadSetCacheConfig(cudaFuncCachePreferNone));
  OK(cudaThreadGetCacheConfig(&cache));
  EXPECT_EQ(cache, cudaFuncCachePreferNone);
  OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
  OK(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT_EQ(banks, cudaSharedMemBankSizeFourByte);
}

TEST_F(Device, a_device_is_no_peer_of_itself) {
  int can = 9;
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 9), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
}

TEST_F(Device, versions) {
  int runtime = 0, driver = 0;
  OK(cudaRuntimeGetVersion(&runtime));
  OK(cudaDriverGetVersion(&driver));
  EXPECT_EQ(runtime, CUDART_VERSION);
  EXPECT_GE(driver, runtime);
  EXPECT_EQ(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  OK(cudaProfilerStart());
  OK(cudaProfilerStop());
}

TEST_F(Device, a_reset_empties_it) {
  int* data;
  cudaStream_t stream;
  cudaEvent_t event;
  OK(cudaMalloc(&data, 4));
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&event));
  int value = 77;
  OK(cudaMemcpyToSymbol(kernels::table, &value, 4));
  OK(cudaDeviceReset());
  EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  OK(cudaMemcpyFromSymbol(&value, kernels::table, 4));
  EXPECT_EQ(value, 0) << "code is loaded afresh";
  OK(kernels::launch(kernels::nothing, 1, 1, nullptr, 0));
  OK(cudaThreadExit());
}

TEST_F(Device, memory_pools) {
  cudaMemPool_t standard, own, now;
  OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  OK(cudaDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, standard);
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&own, &properties));
  OK(cudaDeviceSetMemPool(0, own));
  OK(cudaDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, own);
  void *a, *b;
  OK(cudaMallocAsync(&a, 1000, nullptr));
  OK(cudaMallocFromPoolAsync(&b, 500, own, nullptr));
  uint64_t used = 0, threshold = 1 << 20;
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 1500u);
  OK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  threshold = 0;
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
  EXPECT_EQ(threshold, 1u << 20);
  int reuse = 0;
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolReuseAllowOpportunistic, &reuse));
  EXPECT_EQ(reuse, 1);
  OK(cudaFreeAsync(a, nullptr));
  OK(cudaFree(b));
  OK(cudaDeviceSynchronize());
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &used));
  EXPECT_EQ(used, 1500u);
  OK(cudaMemPoolTrimTo(own, 0));
  cudaMemAccessFlags access;
  OK(cudaMemPoolGetAccess(&access, own, &properties.location));
  EXPECT_EQ(access, cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc wish = {properties.location, cudaMemAccessFlagsProtReadWrite};
  OK(cudaMemPoolSetAccess(own, &wish, 1));
  OK(cudaMemPoolDestroy(own));
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
  OK(cudaDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, standard);
  OK(cudaFreeAsync(nullptr, nullptr));
  int local;
  EXPECT_EQ(cudaFreeAsync(&local, nullptr), cudaErrorInvalidValue);
}

}  // namespace
