// Many operations in one call, and code loaded at run time.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "kernels.h"

namespace {

class Batches : public testing::Test {
 protected:
  void SetUp() override { OK(cudaStreamCreate(&s)); }
  void TearDown() override {
    cudaGetLastError();
    cudaDeviceReset();
  }
  cudaStream_t s{};
};

TEST_F(Batches, copies) {
  std::vector<int> host(100);
  std::iota(host.begin(), host.end(), 0);
  int* device = nullptr;
  OK(cudaMalloc(reinterpret_cast<void**>(&device), 400));
  void* to[] = {device + 50, device, device + 99};
  const void* from[] = {host.data(), host.data() + 50, host.data() + 7};
  size_t sizes[] = {196, 200, 4}, places[] = {0, 2};
  cudaMemcpyAttributes attributes[2]{};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  OK(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, places, 2, s));
  std::vector<int> back(100);
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(back.data(), device, 400, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[0], 50);
  EXPECT_EQ(back[49], 99);
  EXPECT_EQ(back[50], 0);
  EXPECT_EQ(back[98], 48);
  EXPECT_EQ(back[99], 7);
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, places, 2, cudaStreamLegacy), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 0, attributes, places, 2, s), cudaErrorInvalidValue);
  places[0] = 1;
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, places, 2, s), cudaErrorInvalidValue);
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
  places[0] = 0;
  EXPECT_EQ(cudaMemcpyBatchAsync(to, from, sizes, 3, attributes, places, 2, s), cudaErrorInvalidValue);

  // Two rows of three bytes out of rows of five.
  OK(cudaMemset(device, 0, 400));
  const char text[] = "abcdefghij";
  cudaMemcpy3DBatchOp one{};
  one.src.type = one.dst.type = cudaMemcpyOperandTypePointer;
  one.src.op.ptr.ptr = const_cast<char*>(text);
  one.src.op.ptr.rowLength = 5;
  one.dst.op.ptr.ptr = device;
  one.extent = {3, 2, 1};
  one.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpy3DBatchAsync(1, &one, 0, s));
  OK(cudaStreamSynchronize(s));
  char rows[7]{};
  OK(cudaMemcpy(rows, device, 6, cudaMemcpyDeviceToHost));
  EXPECT_STREQ(rows, "abcfgh");
}

TEST_F(Batches, managed_ranges) {
  void *a = nullptr, *b = nullptr;
  OK(cudaMallocManaged(&a, 4096));
  OK(cudaMallocManaged(&b, 4096));
  void* pointers[] = {a, b};
  size_t sizes[] = {4096, 4096}, places[] = {0, 1};
  cudaMemLocation where[] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
  OK(cudaMemPrefetchBatchAsync(pointers, sizes, 2, where, places, 2, 0, s));
  int last = -5;
  OK(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, a, 4096));
  EXPECT_EQ(last, 0);
  OK(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, b, 4096));
  EXPECT_EQ(last, cudaCpuDeviceId);
  OK(cudaMemDiscardBatchAsync(pointers, sizes, 2, 0, s));
  OK(cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, 2, where, places, 1, 0, s));
  OK(cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocation, b, 4096));
  EXPECT_EQ(last, 0);
  EXPECT_EQ(cudaMemDiscardBatchAsync(pointers, sizes, 0, 0, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchBatchAsync(pointers, sizes, 2, where, places, 2, 1, s), cudaErrorInvalidValue);
}

TEST_F(Batches, libraries) {
  const char ptx[] = R"(
.version 8.5
.target sm_50
.address_size 64
.visible .global .align 4 .u32 answer = 42;
.visible .entry set(.param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.u32 %r1, [answer];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";
  cudaLibrary_t library{};
  OK(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 1u);
  cudaKernel_t kernel{}, listed{};
  OK(cudaLibraryGetKernel(&kernel, library, "set"));
  OK(cudaLibraryEnumerateKernels(&listed, 1, library));
  EXPECT_EQ(listed, kernel);
  EXPECT_EQ(cudaLibraryGetKernel(&listed, library, "missing"), cudaErrorSymbolNotFound);
  void* answer = nullptr;
  size_t bytes = 0;
  OK(cudaLibraryGetGlobal(&answer, &bytes, library, "answer"));
  EXPECT_EQ(bytes, 4u);
  int value = 7, *to = nullptr;
  OK(cudaMemcpy(answer, &value, 4, cudaMemcpyHostToDevice));
  OK(cudaMalloc(reinterpret_cast<void**>(&to), 4));
  void* arguments[] = {&to};
  OK(cudaLaunchKernel(kernel, 1, 1, arguments, 0, s));
  value = 0;
  OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(&value, to, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 7);
  OK(cudaLibraryUnload(library));
  EXPECT_NE(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
  EXPECT_NE(cudaLibraryLoadData(&library, "no code", nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
}

TEST_F(Batches, driver_functions_by_name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  OK(cudaGetDriverEntryPoint("cuDeviceGetCount", &function, cudaEnableDefault, &result));
  EXPECT_EQ(result, cudaDriverEntryPointSuccess);
  ASSERT_NE(function, nullptr);
  int devices = 0;
  EXPECT_EQ(reinterpret_cast<int (*)(int*)>(function)(&devices), 0);
  EXPECT_EQ(devices, 1);
  OK(cudaGetDriverEntryPoint("cuNothingOfTheKind", &function, cudaEnableDefault, &result));
  EXPECT_EQ(result, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &result), cudaErrorInvalidValue);
}

TEST_F(Batches, failures_are_logged) {
  cudaLogIterator from = 0;
  OK(cudaLogsCurrent(&from, 0));
  static int heard;
  heard = 0;
  cudaLogsCallbackHandle handle{};
  OK(cudaLogsRegisterCallback(
      [](void* data, cudaLogLevel level, char*, size_t length) { *static_cast<int*>(data) += level == cudaLogLevelError && length > 0; },
      &heard, &handle));
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(heard, 1);
  char text[256];
  size_t size = sizeof text;
  OK(cudaLogsDumpToMemory(&from, text, &size, 0));
  EXPECT_NE(std::string(text).find("cudaErrorInvalidValue"), std::string::npos);
  EXPECT_EQ(size, std::string(text).size());
  size = sizeof text;
  OK(cudaLogsDumpToMemory(&from, text, &size, 0));  // nothing since
  EXPECT_EQ(size, 0u);
  cudaEvent_t from_here{}, to_here{};
  OK(cudaEventCreate(&from_here));
  OK(cudaEventCreate(&to_here));
  OK(cudaEventRecord(from_here));
  float time;
  EXPECT_EQ(cudaEventElapsedTime(&time, from_here, to_here), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(heard, 2);  // once, though there are two events to look at
  OK(cudaEventDestroy(from_here));
  OK(cudaEventDestroy(to_here));
  OK(cudaLogsUnregisterCallback(handle));
  EXPECT_EQ(cudaLogsUnregisterCallback(handle), cudaErrorInvalidValue);
  EXPECT_EQ(heard, 2);  // it had gone by then
}

TEST_F(Batches, what_atomics_reach) {
  const cudaAtomicOperation operations[] = {cudaAtomicOperationIntegerAdd, cudaAtomicOperationFloatAdd};
  unsigned capabilities[2] = {~0u, ~0u};
  OK(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  int native = -1;
  OK(cudaDeviceGetAttribute(&native, cudaDevAttrHostNativeAtomicSupported, 0));
  EXPECT_EQ(capabilities[0] != 0, native != 0);
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(nullptr, operations, 2, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 99), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0), cudaErrorInvalidDevice);
}

TEST_F(Batches, notifications_are_registered_once) {
  cudaAsyncCallbackHandle_t handle{};
  OK(cudaDeviceRegisterAsyncNotification(0, [](cudaAsyncNotificationInfo_t*, void*, cudaAsyncCallbackHandle_t) {}, nullptr, &handle));
  OK(cudaDeviceUnregisterAsyncNotification(0, handle));
  EXPECT_EQ(cudaDeviceUnregisterAsyncNotification(0, handle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceRegisterAsyncNotification(0, nullptr, nullptr, &handle), cudaErrorInvalidValue);
}

}  // namespace
