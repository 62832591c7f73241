// What the tests of the driver API share: a context per test, and kernels as PTX text.
#pragma once
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

// Waits for `expression`, a CUresult, to be CUDA_SUCCESS.
#define OK(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

// add: to[i] += value for i < count. put: *to = value. fault: writes to an address of the caller's choice. table is a
// __device__ variable of four ints, bound's blocks have at most 64 threads, and shared has 1024 bytes of static shared
// memory and some dynamic.
inline constexpr char kKernels[] = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 table[4] = {10, 20, 30, 40};
.extern .shared .align 16 .b8 dynamic[];
.visible .entry add(.param .u64 to, .param .u32 value, .param .u32 count)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %a, %o;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r1, %r1, %r2, %r3;
  ld.param.u32 %r2, [count];
  setp.ge.u32 %p, %r1, %r2;
  @%p ret;
  ld.param.u64 %a, [to];
  mul.wide.u32 %o, %r1, 4;
  add.s64 %a, %a, %o;
  ld.param.u32 %r4, [value];
  ld.global.u32 %r5, [%a];
  add.s32 %r5, %r5, %r4;
  st.global.u32 [%a], %r5;
  ret;
}
.visible .entry put(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r1; .reg .b64 %a;
  ld.param.u64 %a, [to];
  ld.param.u32 %r1, [value];
  st.global.u32 [%a], %r1;
  ret;
}
.visible .entry read_table(.param .u64 to, .param .u32 index)
{
  .reg .b32 %r1; .reg .b64 %a, %t, %o;
  ld.param.u32 %r1, [index];
  mul.wide.u32 %o, %r1, 4;
  mov.u64 %t, table;
  add.s64 %t, %t, %o;
  ld.global.u32 %r1, [%t];
  ld.param.u64 %a, [to];
  st.global.u32 [%a], %r1;
  ret;
}
.visible .entry fault(.param .u64 to)
{
  .reg .b64 %a; .reg .b32 %r1;
  ld.param.u64 %a, [to];
  mov.u32 %r1, 1;
  st.global.u32 [%a], %r1;
  ret;
}
.visible .entry bound() .maxntid 64, 1, 1 { ret; }
.visible .entry shared() {
  .reg .b32 %r1;
  .shared .align 4 .b8 own[1024];
  mov.u32 %r1, own;
  st.shared.u32 [%r1], %r1;
  mov.u32 %r1, dynamic;
  st.shared.u32 [%r1], %r1;
  ret;
}
)";

class Driver : public testing::Test {
 protected:
  void SetUp() override {
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&context, nullptr, 0, device));
    OK(cuModuleLoadData(&module, kKernels));
  }
  void TearDown() override {
    CUcontext left = nullptr;
    while (cuCtxGetCurrent(&left) == CUDA_SUCCESS && left) cuCtxPopCurrent(nullptr);
    if (context) cuCtxDestroy(context);
  }

  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, module, name), CUDA_SUCCESS);
    return found;
  }
  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr ptr = 0;
    EXPECT_EQ(cuMemAlloc(&ptr, bytes), CUDA_SUCCESS);
    EXPECT_EQ(cuMemsetD8(ptr, 0, bytes), CUDA_SUCCESS);
    return ptr;
  }
  int read(CUdeviceptr ptr, size_t index = 0) {
    int value = -1;
    EXPECT_EQ(cuMemcpyDtoH(&value, ptr + index * sizeof value, sizeof value), CUDA_SUCCESS);
    return value;
  }
  // One thread writes *to = value.
  CUresult put(CUdeviceptr to, int value, CUstream stream = nullptr) {
    void* arguments[] = {&to, &value};
    return cuLaunchKernel(function("put"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }

  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
};
