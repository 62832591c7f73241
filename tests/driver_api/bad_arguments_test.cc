// Handles that are none, and null where something is to be written: an error each time, and never a crash.
#include <cudaProfiler.h>

#include <functional>

#include "fixture.h"

namespace {

struct Call {
  const char* text;
  std::function<CUresult()> call;
};

#define CALL(expression) {#expression, [&]() -> CUresult { return expression; }}

class BadArguments : public Driver {
 protected:
  void refused(const std::vector<Call>& calls) {
    for (const Call& call : calls) EXPECT_NE(call.call(), CUDA_SUCCESS) << call.text;
  }
};

TEST_F(BadArguments, handles_that_are_none_are_refused) {
  int rubbish[64] = {1, 2, 3};
  auto stream = reinterpret_cast<CUstream>(rubbish);
  auto event = reinterpret_cast<CUevent>(rubbish);
  auto module_ = reinterpret_cast<CUmodule>(rubbish);
  auto library = reinterpret_cast<CUlibrary>(rubbish);
  auto function_ = reinterpret_cast<CUfunction>(rubbish);
  auto kernel = reinterpret_cast<CUkernel>(rubbish);
  auto context_ = reinterpret_cast<CUcontext>(rubbish);
  auto link = reinterpret_cast<CUlinkState>(rubbish);
  auto pool = reinterpret_cast<CUmemoryPool>(rubbish);
  auto green = reinterpret_cast<CUgreenCtx>(rubbish);
  auto ptr = reinterpret_cast<CUdeviceptr>(rubbish);
  int value = 0;
  unsigned number = 0;
  size_t size = 0;
  float milliseconds = 0;
  unsigned long long id = 0;
  const char* name = nullptr;
  void* image = nullptr;
  CUcontext out = nullptr;
  refused({
      CALL(cuCtxDestroy(context_)),
      CALL(cuCtxPushCurrent(context_)),
      CALL(cuCtxSetCurrent(context_)),
      CALL(cuCtxGetId(context_, &id)),
      CALL(cuCtxGetApiVersion(context_, &number)),
      CALL(cuCtxDetach(context_)),
      CALL(cuCtxEnablePeerAccess(context_, 0)),
      CALL(cuCtxDisablePeerAccess(context_)),
      CALL(cuCtxRecordEvent(context, event)),
      CALL(cuCtxWaitEvent(context, event)),
      CALL(cuStreamDestroy(stream)),
      CALL(cuStreamSynchronize(stream)),
      CALL(cuStreamQuery(stream)),
      CALL(cuStreamGetCtx(stream, &out)),
      CALL(cuStreamGetFlags(stream, &number)),
      CALL(cuStreamGetPriority(stream, &value)),
      CALL(cuStreamGetId(stream, &id)),
      CALL(cuStreamWaitEvent(nullptr, event, 0)),
      CALL(cuStreamCopyAttributes(stream, nullptr)),
      CALL(cuStreamAddCallback(
          stream, [](CUstream, CUresult, void*) {}, nullptr, 0)),
      CALL(cuLaunchHostFunc(
          stream, [](void*) {}, nullptr)),
      CALL(cuStreamAttachMemAsync(stream, ptr, 0, 4)),
      CALL(cuEventDestroy(event)),
      CALL(cuEventRecord(event, nullptr)),
      CALL(cuEventQuery(event)),
      CALL(cuEventSynchronize(event)),
      CALL(cuEventElapsedTime(&milliseconds, event, event)),
      CALL(cuModuleUnload(module_)),
      CALL(cuModuleGetFunctionCount(&number, module_)),
      CALL(cuModuleGetGlobal(&ptr, &size, module_, "x")),
      CALL(cuLibraryUnload(library)),
      CALL(cuLibraryGetKernelCount(&number, library)),
      CALL(cuLibraryGetKernel(&kernel, library, "x")),
      CALL(cuKernelGetName(&name, kernel)),
      CALL(cuKernelGetFunction(&function_, kernel)),
      CALL(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0)),
      CALL(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function_)),
      CALL(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1)),
      CALL(cuFuncGetName(&name, function_)),
      CALL(cuFuncSetBlockShape(function_, 1, 1, 1)),
      CALL(cuLaunch(function_)),
      CALL(cuLaunchCooperativeKernel(function_, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr)),
      CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function_, 32, 0)),
      CALL(cuLinkComplete(link, &image, &size)),
      CALL(cuLinkDestroy(link)),
      CALL(cuMemPoolDestroy(pool)),
      CALL(cuMemPoolTrimTo(pool, 0)),
      CALL(cuMemFreeAsync(ptr, nullptr)),
      CALL(cuMemFree(ptr)),
      CALL(cuMemFreeHost(rubbish)),
      CALL(cuMemHostUnregister(rubbish)),
      CALL(cuMemHostGetFlags(&number, rubbish)),
      CALL(cuMemsetD8(ptr, 0, 4)),
      CALL(cuMemcpyDtoD(ptr, ptr, 4)),
      CALL(cuMemRelease(ptr)),
      CALL(cuMemUnmap(ptr, 1 << 21)),
      CALL(cuGreenCtxDestroy(green)),
      CALL(cuGreenCtxGetId(green, &id)),
      CALL(cuMemAdvise(ptr, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, CUmemLocation{})),
  });
}

TEST_F(BadArguments, null_is_not_written_to) {
  CUfunction put = function("put");
  refused({
      CALL(cuDeviceGet(nullptr, 0)),
      CALL(cuDeviceGetCount(nullptr)),
      CALL(cuDeviceGetName(nullptr, 10, 0)),
      CALL(cuDeviceGetUuid(nullptr, 0)),
      CALL(cuDeviceTotalMem(nullptr, 0)),
      CALL(cuDriverGetVersion(nullptr)),
      CALL(cuDeviceGetAttribute(nullptr, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0)),
      CALL(cuDeviceGetProperties(nullptr, 0)),
      CALL(cuDeviceGetPCIBusId(nullptr, 10, 0)),
      CALL(cuDeviceGetByPCIBusId(nullptr, "0")),
      CALL(cuDeviceCanAccessPeer(nullptr, 0, 0)),
      CALL(cuCtxGetCurrent(nullptr)),
      CALL(cuCtxGetDevice(nullptr)),
      CALL(cuCtxGetFlags(nullptr)),
      CALL(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE)),
      CALL(cuCtxGetCacheConfig(nullptr)),
      CALL(cuCtxAttach(nullptr, 0)),
      CALL(cuDevicePrimaryCtxRetain(nullptr, 0)),
      CALL(cuDevicePrimaryCtxGetState(0, nullptr, nullptr)),
      CALL(cuModuleLoad(nullptr, nullptr)),
      CALL(cuModuleLoadData(nullptr, nullptr)),
      CALL(cuModuleGetFunction(nullptr, module, "put")),
      CALL(cuModuleGetFunction(&put, module, nullptr)),
      CALL(cuModuleGetGlobal(nullptr, nullptr, module, "table")),
      CALL(cuLinkCreate(0, nullptr, nullptr, nullptr)),
      CALL(cuMemAlloc(nullptr, 4)),
      CALL(cuMemAllocPitch(nullptr, nullptr, 4, 4, 4)),
      CALL(cuMemAllocManaged(nullptr, 4, 1)),
      CALL(cuMemAllocHost(nullptr, 4)),
      CALL(cuMemHostAlloc(nullptr, 4, 0)),
      CALL(cuMemHostRegister(nullptr, 4, 0)),
      CALL(cuMemHostGetDevicePointer(nullptr, nullptr, 0)),
      CALL(cuMemcpyHtoD(0, nullptr, 4)),
      CALL(cuMemcpyDtoH(nullptr, 0, 4)),
      CALL(cuMemcpy3D(nullptr)),
      CALL(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_CONTEXT, 0)),
      CALL(cuPointerGetAttributes(1, nullptr, nullptr, 0)),
      CALL(cuStreamCreate(nullptr, 0)),
      CALL(cuEventCreate(nullptr, 0)),
      CALL(cuEventElapsedTime(nullptr, nullptr, nullptr)),
      CALL(cuStreamGetPriority(nullptr, nullptr)),
      CALL(cuLaunchHostFunc(nullptr, nullptr, nullptr)),
      CALL(cuStreamAddCallback(nullptr, nullptr, nullptr, 0)),
      CALL(cuLaunchKernelEx(nullptr, put, nullptr, nullptr)),
      CALL(cuLaunchCooperativeKernelMultiDevice(nullptr, 1, 0)),
      CALL(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, put)),
      CALL(cuFuncGetName(nullptr, put)),
      CALL(cuFuncGetModule(nullptr, put)),
      CALL(cuParamSetv(put, 0, nullptr, 4)),
      CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, put, 32, 0)),
      CALL(cuOccupancyMaxPotentialBlockSize(nullptr, nullptr, put, nullptr, 0, 0)),
      CALL(cuMemAddressReserve(nullptr, 1 << 21, 0, 0, 0)),
      CALL(cuMemCreate(nullptr, 1 << 21, nullptr, 0)),
      CALL(cuMemGetAllocationGranularity(nullptr, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM)),
      CALL(cuMemPoolCreate(nullptr, nullptr)),
      CALL(cuMemAllocAsync(nullptr, 4, nullptr)),
      CALL(cuStreamBatchMemOp(nullptr, 1, nullptr, 0)),
      CALL(cuGetErrorName(CUDA_SUCCESS, nullptr)),
      CALL(cuDevResourceGenerateDesc(nullptr, nullptr, 1)),
      CALL(cuGetProcAddress("cuInit", nullptr, 13000, 0, nullptr)),
      CALL(cuLibraryLoadData(nullptr, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0)),
  });
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS) << "the context is whole";
}

// The errors are those of an H200.
TEST_F(BadArguments, null_instead_of_a_handle_has_the_error_that_a_gpu_gives_it) {
  const char* name = nullptr;
  size_t size = 0;
  CUdeviceptr address = 0;
  CUmodule module_ = nullptr;
  CUlibrary library = nullptr;
  CUipcEventHandle shared{};
  CUevent opened = nullptr;
  EXPECT_EQ(cuLaunchKernel(nullptr, 0, 0, 0, 0, 0, 0, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetModule(&module_, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuFuncGetParamInfo(nullptr, 0, &size, &size), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLibraryGetGlobal(&address, &size, nullptr, "x"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxRecordEvent(nullptr, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxEnablePeerAccess(nullptr, 0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuModuleLoad(&module_, ""), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLibraryLoadFromFile(&library, "", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  for (const char* nothing : {"", "rubbish", ".entry k() { ret; }"})
    EXPECT_EQ(cuModuleLoadData(&module_, nothing), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(cuModuleLoadData(&module_, ".version 7.0\nrubbish"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoad(&module_, "/"), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuIpcGetEventHandle(&shared, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuIpcOpenEventHandle(&opened, shared), CUDA_ERROR_MAP_FAILED);
}

TEST_F(BadArguments, tables_that_only_the_vendor_knows_are_not_found) {
  const void* table = nullptr;
  CUuuid id{};
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
