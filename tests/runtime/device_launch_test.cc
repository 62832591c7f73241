// Launches from device code as nvcc's device library spells them: a parameter buffer, then the launch.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernels.h"
#include "registration.h"

namespace {

constexpr std::string_view kPtx = R"(
.version 8.5
.target sm_50
.address_size 64

.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer (.param .b64 a, .param .b64 s);
.extern .func (.param .b32 r) cudaLaunchDevice
(.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) cudaDeviceSynchronize ();
.extern .func (.param .b32 r) __cudaCDP2GetLastError ();

.visible .entry child(.param .u8 small, .param .u64 to, .param .u32 value)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  ld.param.u8 %r1, [small];
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r2, [value];
  cvta.to.global.u64 %rd2, %rd1;
  add.s32 %r3, %r1, %r2;
  atom.global.add.u32 %r3, [%rd2], %r3;
  ret;
}

// (to, threads of the child)
.visible .entry parent_v2(.param .u64 to, .param .u32 threads)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<5>;
  .reg .b32 %r<6>;
  .reg .b16 %rs<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [threads];
  mov.u64 %rd2, child;
  {
  .param .b64 p0;
  st.param.b64 [p0], %rd2;
  .param .align 4 .b8 p1[12];
  st.param.b32 [p1], 2;
  st.param.b32 [p1+4], 1;
  st.param.b32 [p1+8], 1;
  .param .align 4 .b8 p2[12];
  st.param.b32 [p2], %r1;
  st.param.b32 [p2+4], 1;
  st.param.b32 [p2+8], 1;
  .param .b32 p3;
  st.param.b32 [p3], 0;
  .param .b64 result;
  call.uni (result), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);
  ld.param.b64 %rd3, [result];
  }
  setp.eq.s64 %p1, %rd3, 0;
  @%p1 bra FAILED;
  mov.u16 %rs1, 1;
  st.u8 [%rd3], %rs1;
  st.u64 [%rd3+8], %rd1;
  mov.u32 %r2, 9;
  st.u32 [%rd3+16], %r2;
  {
  .param .b64 p0;
  st.param.b64 [p0], %rd3;
  .param .b64 p1;
  st.param.b64 [p1], 0;
  .param .b32 result;
  call.uni (result), __cudaCDP2LaunchDeviceV2, (p0, p1);
  ld.param.b32 %r3, [result];
  }
FAILED:
  {
  .param .b32 result;
  call.uni (result), __cudaCDP2GetLastError, ();
  ld.param.b32 %r4, [result];
  }
  cvta.to.global.u64 %rd4, %rd1;
  st.global.u32 [%rd4+4], %r4;
  ret;
}

.visible .entry parent_v1(.param .u64 to, .param .u32 threads)
{
  .reg .b64 %rd<5>;
  .reg .b32 %r<6>;
  .reg .b16 %rs<2>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [threads];
  mov.u64 %rd2, child;
  {
  .param .b64 p0;
  st.param.b64 [p0], 64;
  .param .b64 p1;
  st.param.b64 [p1], 24;
  .param .b64 result;
  call.uni (result), cudaGetParameterBuffer, (p0, p1);
  ld.param.b64 %rd3, [result];
  }
  mov.u16 %rs1, 2;
  st.u8 [%rd3], %rs1;
  st.u64 [%rd3+8], %rd1;
  mov.u32 %r2, 8;
  st.u32 [%rd3+16], %r2;
  {
  .param .b64 p0;
  st.param.b64 [p0], %rd2;
  .param .b64 p1;
  st.param.b64 [p1], %rd3;
  .param .align 4 .b8 p2[12];
  st.param.b32 [p2], 1;
  st.param.b32 [p2+4], 1;
  st.param.b32 [p2+8], 1;
  .param .align 4 .b8 p3[12];
  st.param.b32 [p3], %r1;
  st.param.b32 [p3+4], 1;
  st.param.b32 [p3+8], 1;
  .param .b32 p4;
  st.param.b32 [p4], 0;
  .param .b64 p5;
  st.param.b64 [p5], 0;
  .param .b32 result;
  call.uni (result), cudaLaunchDevice, (p0, p1, p2, p3, p4, p5);
  ld.param.b32 %r3, [result];
  }
  {
  .param .b32 result;
  call.uni (result), cudaDeviceSynchronize, ();
  ld.param.b32 %r4, [result];
  }
  cvta.to.global.u64 %rd4, %rd1;
  ld.global.u32 %r5, [%rd4];
  st.global.u32 [%rd4+4], %r5;
  ret;
}

// Calls a kernel without saying how it is to be launched.
.visible .entry calls_kernel(.param .u64 to)
{
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [to];
  {
  .param .b32 p0;
  st.param.b32 [p0], 0;
  .param .b64 p1;
  st.param.b64 [p1], %rd1;
  .param .b32 p2;
  st.param.b32 [p2], 0;
  call.uni child, (p0, p1, p2);
  }
  ret;
}
)";

// Host shadows. Their bodies differ so that no linker folds them into one address.
volatile int body;
void parent_v2(int*, int) { body = 1; }
void parent_v1(int*, int) { body = 2; }
void calls_kernel(int*) { body = 3; }

const kernels::Registration registration(kPtx, {{reinterpret_cast<const void*>(parent_v2), "parent_v2"},
                                                {reinterpret_cast<const void*>(parent_v1), "parent_v1"},
                                                {reinterpret_cast<const void*>(calls_kernel), "calls_kernel"}});

class DeviceLaunch : public testing::Test {
 protected:
  void SetUp() override { OK(cudaMallocManaged(reinterpret_cast<void**>(&to), 64)); }
  void TearDown() override { cudaDeviceReset(); }
  int* to = nullptr;
};

TEST_F(DeviceLaunch, buffer_and_launch_as_newer_toolkits_write_them) {
  OK(kernels::launch(parent_v2, 1, 1, nullptr, 0, to, 5));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(to[0], 2 * 5 * (1 + 9));
  EXPECT_EQ(to[1], cudaSuccess);
}

TEST_F(DeviceLaunch, many_parents_reuse_the_buffers) {
  for (int round = 0; round < 8; ++round) OK(kernels::launch(parent_v2, 25, 64, nullptr, 0, to, 1));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(to[0], 8 * 25 * 64 * 2 * (1 + 9));
}

TEST_F(DeviceLaunch, no_buffer_for_an_impossible_launch) {
  OK(kernels::launch(parent_v2, 1, 1, nullptr, 0, to, 5000));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(to[0], 0);
  EXPECT_EQ(to[1], cudaErrorInvalidConfiguration);
}

TEST_F(DeviceLaunch, buffer_launch_and_wait_as_older_toolkits_write_them) {
  OK(kernels::launch(parent_v1, 1, 1, nullptr, 0, to, 3));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(to[0], 3 * (2 + 8));
  EXPECT_EQ(to[1], to[0]);
}

TEST_F(DeviceLaunch, a_kernel_called_as_a_function_fails) {
  OK(kernels::launch(calls_kernel, 1, 1, nullptr, 0, to));
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorInvalidPc);
}

}  // namespace
