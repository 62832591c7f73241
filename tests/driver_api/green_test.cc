// Green contexts: parts of a device.
#include "fixture.h"

namespace {

class Green : public Driver {};

TEST_F(Green, split_a_device_and_run_on_a_part) {
  CUdevResource all{}, parts[4]{}, rest{};
  OK(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
  int count = 0;
  OK(cuDeviceGetAttribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT_EQ(all.sm.smCount, static_cast<unsigned>(count));
  unsigned groups = 0;
  OK(cuDevSmResourceSplitByCount(nullptr, &groups, &all, nullptr, 0, 16));
  EXPECT_EQ(groups, static_cast<unsigned>(count) / 16);
  groups = 2;
  OK(cuDevSmResourceSplitByCount(parts, &groups, &all, &rest, 0, 16));
  EXPECT_EQ(groups, 2u);
  EXPECT_EQ(parts[0].sm.smCount, 16u);
  EXPECT_EQ(rest.sm.smCount, all.sm.smCount - 32);
  EXPECT_EQ(cuDevSmResourceSplitByCount(parts, &groups, &all, nullptr, 0, 100000), CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);

  CUdevResourceDesc description;
  CUgreenCtx green;
  OK(cuDevResourceGenerateDesc(&description, parts, 1));
  OK(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  EXPECT_EQ(cuGreenCtxCreate(&green, description, device, 0), CUDA_ERROR_INVALID_VALUE);
  CUdevResource own{};
  OK(cuGreenCtxGetDevResource(green, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(own.sm.smCount, 16u);
  unsigned long long id = 0;
  OK(cuGreenCtxGetId(green, &id));
  EXPECT_NE(id, 0u);
  CUcontext as_context;
  OK(cuCtxFromGreenCtx(&as_context, green));
  OK(cuCtxPushCurrent(as_context));
  OK(cuCtxGetDevResource(as_context, &own, CU_DEV_RESOURCE_TYPE_SM));
  CUmodule here;
  CUfunction function;
  OK(cuModuleLoadData(&here, kKernels));
  OK(cuModuleGetFunction(&function, here, "put"));
  CUstream stream;
  OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
  EXPECT_EQ(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
  CUgreenCtx back = nullptr;
  OK(cuStreamGetGreenCtx(stream, &back));
  EXPECT_EQ(back, green);
  CUdeviceptr ptr = allocate(64);
  int value = 61;
  void* arguments[] = {&ptr, &value};
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  CUevent event;
  OK(cuEventCreate(&event, 0));
  OK(cuGreenCtxRecordEvent(green, event));
  OK(cuGreenCtxWaitEvent(green, event));
  OK(cuEventSynchronize(event));
  EXPECT_EQ(read(ptr), 61);
  OK(cuCtxPopCurrent(nullptr));
  OK(cuGreenCtxDestroy(green));
  EXPECT_EQ(cuGreenCtxDestroy(green), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
