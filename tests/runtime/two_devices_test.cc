// Two devices: memory of each is its own, pinned memory is everybody's, peers are let in.
#include <gtest/gtest.h>

#include <cstdlib>

#include "kernels.h"

namespace {

// Before the runtime counts its devices.
const int environment = setenv("WARPBEAM_DEVICES", "2", 1);

class TwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    for (int i : {1, 0}) {
      OK(cudaSetDevice(i));
      OK(cudaMalloc(&data[i], 64));
      OK(cudaStreamCreate(&stream[i]));
    }
  }
  void TearDown() override {
    for (int i : {1, 0}) {
      OK(cudaSetDevice(i));
      OK(cudaDeviceReset());
    }
    cudaGetLastError();
  }
  int* data[2];
  cudaStream_t stream[2];
};

TEST_F(TwoDevices, are_counted) {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  char first[20], second[20];
  OK(cudaDeviceGetPCIBusId(first, 20, 0));
  OK(cudaDeviceGetPCIBusId(second, 20, 1));
  EXPECT_STRNE(first, second);
}

TEST_F(TwoDevices, copies_find_their_way) {
  int value = 42, back = 0;
  OK(cudaMemcpy(data[0], &value, 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(data[1], 1, data[0], 0, 4));
  OK(cudaMemcpy(&back, data[1], 4, cudaMemcpyDefault));
  EXPECT_EQ(back, 42);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, data[1]));
  EXPECT_EQ(attributes.device, 1);
  OK(cudaFree(data[1])) << "from any device";
}

TEST_F(TwoDevices, memory_of_the_other_is_out_of_reach) {
  testing::internal::CaptureStderr();
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, data[1], 1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("memory of another device"), std::string::npos);
  OK(cudaSetDevice(1));
  OK(cudaDeviceSynchronize()) << "the other device is whole";
}

TEST_F(TwoDevices, peers_are_let_in) {
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  OK(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 1));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaSetDevice(1));
  int* later;
  OK(cudaMalloc(&later, 4));
  OK(cudaSetDevice(0));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, data[1], 1));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, later, 2));
  OK(cudaDeviceSynchronize());
  OK(cudaDeviceDisablePeerAccess(1));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, data[1], 1));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

TEST_F(TwoDevices, pinned_and_managed_memory_is_everybody_s) {
  int *pinned, *managed;
  OK(cudaMallocHost(&pinned, 4));
  OK(cudaMallocManaged(&managed, 4));
  OK(cudaSetDevice(1));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, pinned, 3));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, managed, 4));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*pinned, 3);
  EXPECT_EQ(*managed, 4);
  OK(cudaFreeHost(pinned));
  OK(cudaFree(managed));
}

TEST_F(TwoDevices, streams_and_events_belong_to_one) {
  EXPECT_EQ(kernels::launch(kernels::nothing, 1, 1, stream[1], 0), cudaErrorInvalidResourceHandle);
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  EXPECT_EQ(cudaEventRecord(event, stream[1]), cudaErrorInvalidResourceHandle);
  OK(cudaEventRecord(event, stream[0]));
  OK(cudaStreamWaitEvent(stream[1], event)) << "waiting works across devices";
  OK(cudaStreamSynchronize(stream[1]));
}

TEST_F(TwoDevices, cooperative_grids_start_together) {
  int values[2] = {7, 8}, back[2] = {};
  void* arguments[2][2] = {{&data[0], &values[0]}, {&data[1], &values[1]}};
  auto params = [&](int i) {
    return cudaLaunchParams{reinterpret_cast<void*>(kernels::store), dim3(1), dim3(1), arguments[i], 0, stream[i]};
  };
  cudaLaunchParams list[2] = {params(0), params(1)};
  OK(cudaLaunchCooperativeKernelMultiDevice(list, 2, 0));
  for (int i : {0, 1}) {
    OK(cudaStreamSynchronize(stream[i]));
    OK(cudaMemcpy(&back[i], data[i], 4, cudaMemcpyDefault));
    EXPECT_EQ(back[i], values[i]);
  }
  int device = -1;
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 0);
  list[1] = params(0);
  EXPECT_EQ(cudaLaunchCooperativeKernelMultiDevice(list, 2, 0), cudaErrorInvalidDevice);
  list[1].stream = nullptr;
  EXPECT_EQ(cudaLaunchCooperativeKernelMultiDevice(list, 2, 0), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchCooperativeKernelMultiDevice(list, 0, 0), cudaErrorInvalidValue);
}

TEST_F(TwoDevices, memory_stays_until_the_other_device_is_done_with_it) {
  constexpr size_t kBytes = 1 << 18;
  char* memory[2] = {};
  for (int i : {0, 1}) {
    OK(cudaSetDevice(i));
    OK(cudaMalloc(reinterpret_cast<void**>(&memory[i]), kBytes));
  }
  for (int n = 0; n < 500; ++n) OK(cudaMemcpyAsync(memory[0], memory[1], kBytes, cudaMemcpyDefault, stream[1]));
  OK(cudaSetDevice(0));
  OK(cudaFree(memory[0]));
  OK(cudaSetDevice(1));
  OK(cudaDeviceSynchronize());
  OK(cudaFree(memory[1]));
  OK(cudaSetDevice(0));
}

TEST_F(TwoDevices, each_has_its_own_variables) {
  int value = 500, back = 0;
  OK(cudaMemcpyToSymbol(kernels::table, &value, 4));
  OK(cudaSetDevice(1));
  OK(cudaMemcpyFromSymbol(&back, kernels::table, 4));
  EXPECT_EQ(back, 0);
}

}  // namespace
