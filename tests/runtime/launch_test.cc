// Launch configurations, function attributes, occupancy.
#include <gtest/gtest.h>

#include "kernels.h"

namespace {

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
extern "C" cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host);
extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream);

class Launch : public testing::Test {
 protected:
  void TearDown() override {
    OK(cudaDeviceSynchronize());
    cudaGetLastError();
  }
  cudaError_t nothing(dim3 grid, dim3 block, size_t shared = 0) { return kernels::launch(kernels::nothing, grid, block, nullptr, shared); }
};

TEST_F(Launch, configurations_no_device_can_run_are_refused) {
  OK(nothing(1, 1024));
  OK(nothing(dim3(1, 65535), 1));
  for (dim3 block : {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(1025), dim3(1, 1, 65), dim3(32, 33), dim3(2048)})
    EXPECT_EQ(nothing(1, block), cudaErrorInvalidConfiguration);
  for (dim3 grid : {dim3(0), dim3(1, 0), dim3(1, 1, 0), dim3(1, 65536), dim3(1, 1, 65536), dim3(2147483648u)})
    EXPECT_EQ(nothing(grid, 1), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the context is whole";
}

TEST_F(Launch, more_than_48_kib_of_shared_memory_must_be_asked_for) {
  auto kernel = reinterpret_cast<const void*>(kernels::nothing);
  OK(nothing(1, 1, 48 << 10));
  EXPECT_EQ(nothing(1, 1, (48 << 10) + 1), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  OK(nothing(1, 1, 100000));
  EXPECT_EQ(nothing(1, 1, 100001), cudaErrorInvalidValue);
  int most = 0;
  OK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, -1), cudaErrorInvalidValue);
  EXPECT_EQ(nothing(1, 1, 1000000), cudaErrorInvalidValue);
  OK(kernels::launch(kernels::shared_static, 1, 32, nullptr, 47 << 10));
  EXPECT_EQ(kernels::launch(kernels::shared_static, 1, 32, nullptr, (47 << 10) + 1), cudaErrorInvalidValue);
}

TEST_F(Launch, launch_bounds_bind) {
  OK(kernels::launch(kernels::at_most_64, 1, 64, nullptr, 0));
  EXPECT_EQ(kernels::launch(kernels::at_most_64, 1, 65, nullptr, 0), cudaErrorInvalidValue);
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, kernels::at_most_64));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
}

TEST_F(Launch, unknown_functions_are_refused) {
  int local = 0;
  cudaFuncAttributes attributes;
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(&local), 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(static_cast<const void*>(nullptr), 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, static_cast<const void*>(&local)), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(kernels::store), 1, 1, nullptr, 0, nullptr), cudaErrorInvalidValue)
      << "it has parameters";
}

TEST_F(Launch, attributes_describe_a_function) {
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, kernels::shared_static));
  EXPECT_EQ(attributes.sharedSizeBytes, 1024u);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_EQ(attributes.maxDynamicSharedSizeBytes, 47 << 10);
  EXPECT_EQ(attributes.preferredShmemCarveout, -1);
  EXPECT_EQ(attributes.ptxVersion, 50);
  EXPECT_GT(attributes.numRegs, 0);
  auto kernel = reinterpret_cast<const void*>(kernels::shared_static);
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  OK(cudaFuncGetAttributes(&attributes, kernel));
  EXPECT_EQ(attributes.preferredShmemCarveout, 50);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 101), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, -2), cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
  EXPECT_EQ(cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(77), 1), cudaErrorInvalidValue);
  OK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferL1));
  OK(cudaFuncSetCacheConfig(kernel, cudaFuncCachePreferNone));
  EXPECT_EQ(cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(9)), cudaErrorInvalidValue);
  OK(cudaFuncSetSharedMemConfig(kernel, cudaSharedMemBankSizeEightByte));
  EXPECT_EQ(cudaFuncSetSharedMemConfig(kernel, static_cast<cudaSharedMemConfig>(9)), cudaErrorInvalidValue);

  const char* name = nullptr;
  OK(cudaFuncGetName(&name, kernels::add));
  EXPECT_STREQ(name, "add");
  size_t offset = 0, size = 0;
  auto add = reinterpret_cast<const void*>(kernels::add);
  OK(cudaFuncGetParamInfo(add, 2, &offset, &size));
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cudaFuncGetParamInfo(add, 3, &offset, &size), cudaErrorInvalidValue);
}

TEST_F(Launch, handles_stand_for_kernels) {
  int* data;
  OK(cudaMallocManaged(&data, 4));
  int value = 5;
  void* arguments[] = {&data, &value};
  cudaKernel_t kernel;
  OK(cudaGetKernel(&kernel, reinterpret_cast<const void*>(kernels::store)));
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 1, arguments, 0, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*data, 5);
  cudaFunction_t function;
  OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernels::store)));
  value = 6;
  OK(cudaLaunchKernel(reinterpret_cast<const void*>(function), 1, 1, arguments, 0, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*data, 6);
  OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000, 0));
  EXPECT_EQ(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000, 9), cudaErrorInvalidDevice);
  OK(__cudaGetKernel(&kernel, reinterpret_cast<const void*>(kernels::store)));
  value = 7;
  OK(__cudaLaunchKernel(kernel, 1, 1, arguments, 0, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*data, 7);
  OK(cudaFree(data));
}

TEST_F(Launch, call_configurations_nest) {
  EXPECT_EQ(__cudaPushCallConfiguration(1, 2, 3, nullptr), 0u);
  EXPECT_EQ(__cudaPushCallConfiguration(dim3(4, 5, 6), 7, 8, cudaStreamPerThread), 0u);
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.z, 6u);
  EXPECT_EQ(block.x, 7u);
  EXPECT_EQ(shared, 8u);
  EXPECT_EQ(stream, cudaStreamPerThread);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(block.x, 2u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

TEST_F(Launch, attributes_of_a_launch) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 8;
  config.blockDim = 128;
  cudaLaunchAttribute attribute[1];
  config.attrs = attribute;
  config.numAttrs = 1;
  attribute[0].id = cudaLaunchAttributeCooperative;
  attribute[0].val.cooperative = 1;
  OK(cudaLaunchKernelExC(&config, kernels::nothing, nullptr));
  attribute[0].id = static_cast<cudaLaunchAttributeID>(99);
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernels::nothing, nullptr), cudaErrorInvalidValue);
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim = {2, 1, 1};
  OK(cudaLaunchKernelExC(&config, kernels::nothing, nullptr));
  attribute[0].val.clusterDim = {3, 1, 1};  // 8 blocks do not make clusters of 3
  EXPECT_EQ(cudaLaunchKernelExC(&config, kernels::nothing, nullptr), cudaErrorInvalidClusterSize);
  int* data;
  OK(cudaMallocManaged(&data, 4));
  config.numAttrs = 0;
  config.gridDim = config.blockDim = 1;
  OK(cudaLaunchKernelEx(&config, kernels::store, data, 9));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*data, 9);
  OK(cudaFree(data));
}

TEST_F(Launch, a_cooperative_grid_must_fit_the_device) {
  auto kernel = reinterpret_cast<const void*>(kernels::nothing);
  OK(cudaLaunchCooperativeKernel(kernel, 1, 32, nullptr, 0, nullptr));
  EXPECT_EQ(cudaLaunchCooperativeKernel(kernel, 100000, 1024, nullptr, 0, nullptr), cudaErrorCooperativeLaunchTooLarge);
}

// The three-call launch of the first toolkits.
TEST_F(Launch, in_three_calls) {
  int* data;
  OK(cudaMallocManaged(&data, 4));
  int value = 11;
  OK(cudaConfigureCall(1, 1));
  OK(cudaSetupArgument(&data, 8, 0));
  OK(cudaSetupArgument(&value, 4, 8));
  OK(cudaLaunch(reinterpret_cast<const void*>(kernels::store)));
  OK(cudaThreadSynchronize());
  EXPECT_EQ(*data, 11);
  EXPECT_EQ(cudaLaunch(reinterpret_cast<const void*>(kernels::store)), cudaErrorMissingConfiguration);
  EXPECT_EQ(cudaSetupArgument(&value, 4, 0), cudaErrorMissingConfiguration);
  OK(cudaFree(data));
}

TEST_F(Launch, occupancy) {
  auto kernel = reinterpret_cast<const void*>(kernels::at_most_64);
  int blocks = -1;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0));
  EXPECT_EQ(blocks, 32);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 2048, 0));
  EXPECT_EQ(blocks, 0);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 100000));
  EXPECT_EQ(blocks, 0) << "more shared memory than the function may have";
  blocks = -7;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(blocks, -7);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel, 64, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, 64, 0, 7), cudaErrorInvalidValue);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, 64, 0, cudaOccupancyDefault));

  int grid = 0, block = 0, sms = 0;
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernels::at_most_64));
  EXPECT_EQ(block, 64);
  EXPECT_EQ(grid, 32 * sms);
  OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernels::add, 0, 100));
  EXPECT_EQ(block, 64) << "32 blocks of 64 fill a multiprocessor, 16 of 100 do not";
  OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, kernels::add, [](int threads) { return threads * 8; }));
  EXPECT_GT(block, 0);

  size_t shared = 0;
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, kernel, 1, 64));
  EXPECT_EQ(shared, 48u << 10);
  EXPECT_EQ(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, kernel, 33, 64), cudaErrorInvalidValue);
  cudaLaunchConfig_t config = {};
  config.gridDim = 8;
  config.blockDim = 64;
  int size = 0, clusters = 0;
  OK(cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config));
  EXPECT_EQ(size, 8);
  OK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
  EXPECT_GT(clusters, 0);
}

}  // namespace
