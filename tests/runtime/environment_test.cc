// CUDA's own variables: which devices a process sees, and launches that wait.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels.h"

namespace {

// Before the runtime counts its devices.
const int environment = setenv("WARPBEAM_DEVICES", "4", 1) + setenv("CUDA_VISIBLE_DEVICES", "2, 0,2,1", 1) +
                        setenv("CUDA_LAUNCH_BLOCKING", "1", 1) + setenv("WARPBEAM_HOST_MEMORY", "1G", 1);

TEST(Environment, devices_are_those_of_the_list_in_its_order) {
  ASSERT_EQ(environment, 0);
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  ASSERT_EQ(count, 2) << "what is named twice ends the list";
  cudaDeviceProp first, second;
  OK(cudaGetDeviceProperties(&first, 0));
  OK(cudaGetDeviceProperties(&second, 1));
  EXPECT_EQ(first.pciBusID, 3);
  EXPECT_EQ(second.pciBusID, 1);
  EXPECT_NE(std::string(first.uuid.bytes, 16), std::string(second.uuid.bytes, 16));
  char name[20];
  int device = -1;
  OK(cudaDeviceGetPCIBusId(name, 20, 1));
  OK(cudaDeviceGetByPCIBusId(&device, name));
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
}

// Free is what the host can give; the device's own size is the total.
TEST(Environment, the_host_limits_what_all_devices_have) {
  size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  EXPECT_GT(total, size_t{2} << 30);
  EXPECT_LE(free, size_t{1} << 30);
  void *one = nullptr, *two = nullptr;
  OK(cudaMalloc(&one, size_t{600} << 20));
  size_t less = 0;
  OK(cudaMemGetInfo(&less, &total));
  EXPECT_EQ(less, free - (size_t{600} << 20));
  OK(cudaSetDevice(1));
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMalloc(&two, size_t{600} << 20), cudaErrorMemoryAllocation);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("WARPBEAM_HOST_MEMORY"), std::string::npos);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  OK(cudaSetDevice(0));
  OK(cudaFree(one));
  OK(cudaMemGetInfo(&less, &total));
  EXPECT_EQ(less, free);
}

TEST(Environment, a_launch_that_waits_gives_its_own_error) {
  int* number;
  OK(cudaMallocManaged(&number, sizeof(int)));
  *number = 0;
  OK(kernels::launch(kernels::count_up, 100, 32, nullptr, 0, number));
  EXPECT_EQ(*number, 3200) << "nobody waited";
  cudaStream_t stream;
  cudaGraph_t graph;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  OK(kernels::launch(kernels::count_up, 1, 32, stream, 0, number));
  OK(cudaStreamEndCapture(stream, &graph));
  EXPECT_EQ(*number, 3200);
  testing::internal::CaptureStderr();
  EXPECT_EQ(kernels::launch(kernels::fault, 1, 1, nullptr, 0, static_cast<int*>(nullptr)), cudaErrorIllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
