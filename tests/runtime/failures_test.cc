// Kernels that fail: the error is the context's until it is reset, and the host process lives.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels.h"

namespace {

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaMalloc(&data, 64));
    OK(cudaEventCreate(&event));
    OK(cudaStreamCreate(&stream));
  }
  void TearDown() override {
    OK(cudaDeviceReset());
    cudaGetLastError();
  }
  int* data;
  cudaEvent_t event;
  cudaStream_t stream;
};

// Which calls report the failure and which do not was recorded on an H200.
TEST_F(Failures, an_illegal_address_breaks_the_context) {
  OK(kernels::launch(kernels::fault, 1, 1, nullptr, 0, reinterpret_cast<int*>(16)));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  int value;
  void* memory;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(data), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMallocHost(&memory, 4), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaMemcpy(&value, &value, 4, cudaMemcpyHostToHost), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventRecord(event), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(kernels::launch(kernels::nothing, 1, 1, nullptr, 0), cudaErrorIllegalAddress);
  OK(cudaGetDevice(&value));
  OK(cudaSetDevice(0));
  OK(cudaGetDeviceCount(&value));
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  OK(cudaRuntimeGetVersion(&value));
}

TEST_F(Failures, each_kind_has_its_code) {
  OK(kernels::launch(kernels::fault, 1, 1, nullptr, 0, reinterpret_cast<int*>(reinterpret_cast<char*>(data) + 1)));
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorMisalignedAddress);
  OK(cudaDeviceReset());
  OK(kernels::launch(kernels::stop, 1, 1, nullptr, 0));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

TEST_F(Failures, host_memory_is_out_of_reach) {
  static int plain;
  OK(kernels::launch(kernels::fault, 1, 1, nullptr, 0, &plain));
  int value;
  EXPECT_EQ(cudaMemcpy(&value, data, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
  EXPECT_EQ(plain, 0);
}

TEST_F(Failures, freed_memory_is_out_of_reach) {
  OK(cudaFree(data));
  OK(kernels::launch(kernels::fault, 1, 1, nullptr, 0, data));
  EXPECT_EQ(cudaEventRecord(event) == cudaSuccess ? cudaEventSynchronize(event) : cudaErrorIllegalAddress, cudaErrorIllegalAddress);
}

TEST_F(Failures, work_behind_a_failure_is_not_done) {
  static int host_function_ran = 0;
  static cudaError_t callback_status = cudaSuccess;
  int* flag;
  OK(cudaMallocHost(&flag, 8));
  flag[0] = flag[1] = 0;
  OK(kernels::launch(kernels::wait_for_flag, 1, 1, stream, 0, static_cast<volatile int*>(flag)));
  OK(kernels::launch(kernels::fault, 1, 1, stream, 0, reinterpret_cast<int*>(16)));
  OK(kernels::launch(kernels::store, 1, 1, stream, 0, flag + 1, 5));
  OK(cudaLaunchHostFunc(stream, [](void*) { host_function_ran = 1; }, nullptr));
  OK(cudaStreamAddCallback(stream, [](cudaStream_t, cudaError_t status, void*) { callback_status = status; }, nullptr, 0));
  *static_cast<volatile int*>(flag) = 1;
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(flag[1], 0);
  EXPECT_EQ(host_function_ran, 0);
  EXPECT_EQ(callback_status, cudaErrorIllegalAddress);
}

TEST_F(Failures, a_reset_mends) {
  OK(kernels::launch(kernels::fault, 1, 1, nullptr, 0, reinterpret_cast<int*>(16)));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  OK(cudaDeviceReset());
  cudaGetLastError();
  int* fresh;
  OK(cudaMalloc(&fresh, 4));
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, fresh, 12));
  int value = 0;
  OK(cudaMemcpy(&value, fresh, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 12);
}

TEST(Errors, have_names_and_texts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchOutOfResources), "cudaErrorLaunchOutOfResources");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST(Errors, the_last_one_stays_until_it_is_asked_for) {
  EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  int device;
  OK(cudaGetDevice(&device));
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace
