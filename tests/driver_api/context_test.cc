// Initialisation, devices, errors and contexts.
#include <cudaProfiler.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <thread>

#include "fixture.h"

extern "C" CUresult cuCtxCreate_v2(CUcontext*, unsigned, CUdevice);
extern "C" CUresult cuCtxCreate_v3(CUcontext*, CUexecAffinityParam*, int, unsigned, CUdevice);

namespace {

class Contexts : public Driver {};

TEST_F(Contexts, devices_are_what_the_runtime_says) {
  int count = 0, value = 0, major = 0, minor = 0, driver = 0;
  OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  char name[256], bus[32], runtime_bus[32];
  OK(cuDeviceGetName(name, sizeof name, device));
  EXPECT_STREQ(name, p.name);
  OK(cuDeviceGetName(name, 4, device));
  EXPECT_EQ(std::strlen(name), 3u);
  size_t bytes = 0;
  OK(cuDeviceTotalMem(&bytes, device));
  EXPECT_EQ(bytes, p.totalGlobalMem);
  OK(cuDeviceComputeCapability(&major, &minor, device));
  EXPECT_EQ(major * 10 + minor, p.major * 10 + p.minor);
  CUuuid id;
  OK(cuDeviceGetUuid(&id, device));
  EXPECT_EQ(std::memcmp(&id, &p.uuid, 16), 0);
  CUdevprop properties;
  OK(cuDeviceGetProperties(&properties, device));
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.SIMDWidth, 32);
  OK(cuDeviceGetPCIBusId(bus, sizeof bus, device));
  ASSERT_EQ(cudaDeviceGetPCIBusId(runtime_bus, sizeof runtime_bus, 0), cudaSuccess);
  EXPECT_STREQ(bus, runtime_bus);
  CUdevice found = -1;
  OK(cuDeviceGetByPCIBusId(&found, bus));
  EXPECT_EQ(found, 0);
  OK(cuDeviceCanAccessPeer(&value, 0, 0));
  EXPECT_EQ(value, 0);
  EXPECT_NE(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0), CUDA_SUCCESS);
  OK(cuDriverGetVersion(&driver));
  EXPECT_EQ(driver / 1000, CUDA_VERSION / 1000);
  EXPECT_GT(driver, CUDA_VERSION) << "newer than every runtime of its major number that is known";
  OK(cuDeviceGetExecAffinitySupport(&value, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
  EXPECT_EQ(value, 0);
  CUatomicOperation operations[] = {CU_ATOMIC_OPERATION_INTEGER_ADD, CU_ATOMIC_OPERATION_CAS};
  unsigned capabilities[2] = {9, 9};
  OK(cuDeviceGetHostAtomicCapabilities(capabilities, operations, 2, device));
  EXPECT_EQ(capabilities[0] != 0, p.hostNativeAtomicSupported != 0);
  EXPECT_EQ(cuDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 0), CUDA_ERROR_INVALID_DEVICE);
  char luid[8];
  unsigned mask;
  EXPECT_EQ(cuDeviceGetLuid(luid, &mask, device), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Contexts, every_attribute_has_a_value) {
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) {
    int value = -7;
    EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), device), CUDA_SUCCESS) << i;
    EXPECT_NE(value, -7) << i;
  }
  int value;
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT_EQ(value, 32);
  OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(4711), device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 77), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Contexts, errors_have_names_and_texts) {
  const char* text = nullptr;
  OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(cuGetErrorString(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Contexts, the_last_error_of_the_runtime_is_not_touched) {
  cudaGetLastError();
  EXPECT_NE(cuMemFree(12345), CUDA_SUCCESS);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Contexts, are_stacked) {
  CUcontext second, current = nullptr, popped = nullptr;
  OK(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_SPIN, device));
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, second);
  unsigned flags = 0, version = 0;
  OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_SPIN});
  OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
  OK(cuCtxGetFlags(&flags));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_YIELD});
  OK(cuCtxGetApiVersion(second, &version));
  EXPECT_EQ(version, 3020u);
  unsigned long long first_id = 0, second_id = 0;
  OK(cuCtxGetId(context, &first_id));
  OK(cuCtxGetId(second, &second_id));
  EXPECT_NE(first_id, second_id);
  OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, second);
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  OK(cuCtxPushCurrent(second));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  CUdevice where = -1;
  OK(cuCtxGetDevice(&where));
  EXPECT_EQ(where, 0);
  OK(cuCtxGetDevice_v2(&where, second));
  OK(cuCtxSetCurrent(nullptr));
  OK(cuCtxSetCurrent(nullptr));
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxGetDevice(&where), CUDA_ERROR_INVALID_CONTEXT);
  CUdeviceptr ptr;
  EXPECT_EQ(cuMemAlloc(&ptr, 16), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuCtxDestroy(second));
}

TEST_F(Contexts, older_interfaces_make_contexts_too) {
  CUcontext second = nullptr;
  OK(cuCtxCreate_v2(&second, 0, device));
  OK(cuCtxDestroy(second));
  OK(cuCtxCreate_v3(&second, nullptr, 0, 0, device));
  OK(cuCtxDestroy(second));
  CUexecAffinityParam affinity{};
  EXPECT_EQ(cuCtxCreate_v3(&second, &affinity, 1, 0, device), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 0x3, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 0, 9), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuCtxCreate(nullptr, nullptr, 0, device), CUDA_ERROR_INVALID_VALUE);
  OK(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
  int multiprocessors = 0;
  OK(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  EXPECT_EQ(affinity.param.smCount.val, static_cast<unsigned>(multiprocessors)) << "all of them, as an H200 says";
}

TEST_F(Contexts, a_destroyed_one_is_refused) {
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  CUdeviceptr ptr = allocate(64);
  CUstream stream;
  OK(cuStreamCreate(&stream, 0));
  OK(cuCtxDestroy(second));
  EXPECT_EQ(cuCtxDestroy(second), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxSetCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemFree(ptr), CUDA_ERROR_INVALID_VALUE) << "its memory went with it";
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuCtxDestroy(reinterpret_cast<CUcontext>(0x1234)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Contexts, one_destroyed_by_another_thread_says_so) {
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  std::thread([&] { EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS); }).join();
  CUdeviceptr ptr;
  EXPECT_EQ(cuMemAlloc(&ptr, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&ptr), 16), cudaErrorContextIsDestroyed);
  OK(cuCtxPopCurrent(nullptr));
  OK(cuMemAlloc(&ptr, 16));
}

TEST_F(Contexts, have_their_own_memory_and_their_own_failures) {
  CUdeviceptr here = allocate(64);
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  CUmodule other;
  CUfunction fault, bound;
  OK(cuModuleLoadData(&other, kKernels));
  OK(cuModuleGetFunction(&fault, other, "fault"));
  OK(cuModuleGetFunction(&bound, other, "bound"));
  void* arguments[] = {&here};
  OK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS) << "memory of another context";
  EXPECT_EQ(cuMemAlloc(&here, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuLaunchKernel(bound, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);
  OK(cuCtxDestroy(second));
  EXPECT_EQ(put(here, 3), CUDA_SUCCESS) << "the first context is whole";
  EXPECT_EQ(read(here), 3);
}

TEST_F(Contexts, peers_see_each_others_memory) {
  CUdeviceptr here = allocate(64);
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  OK(cuCtxEnablePeerAccess(context, 0));
  EXPECT_EQ(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_INVALID_DEVICE);
  CUmodule other;
  CUfunction fault;
  OK(cuModuleLoadData(&other, kKernels));
  OK(cuModuleGetFunction(&fault, other, "fault"));
  void* arguments[] = {&here};
  OK(cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  OK(cuCtxSynchronize());
  OK(cuCtxDisablePeerAccess(context));
  EXPECT_EQ(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  OK(cuCtxDestroy(second));
  EXPECT_EQ(read(here), 1);
}

TEST_F(Contexts, attach_counts) {
  CUcontext same = nullptr;
  OK(cuCtxAttach(&same, 0));
  EXPECT_EQ(same, context);
  OK(cuCtxDetach(context));
  OK(cuCtxSynchronize());
  OK(cuCtxDetach(context));
  EXPECT_EQ(cuCtxDetach(context), CUDA_ERROR_INVALID_CONTEXT);
  context = nullptr;
}

TEST_F(Contexts, settings_are_per_context) {
  size_t value = 0;
  OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 4096u);
  EXPECT_EQ(cuCtxSetLimit(static_cast<CUlimit>(99), 1), CUDA_ERROR_INVALID_VALUE);
  CUfunc_cache cache;
  OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  OK(cuCtxGetCacheConfig(&cache));
  EXPECT_EQ(cache, CU_FUNC_CACHE_PREFER_L1);
  CUsharedconfig banks;
  OK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  OK(cuCtxGetSharedMemConfig(&banks));
  EXPECT_EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  int least = 9, greatest = 9;
  OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LE(greatest, 0);
  OK(cuCtxResetPersistingL2Cache());
  OK(cuProfilerStart());
  OK(cuProfilerStop());
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(value, 1024u);
  OK(cuCtxDestroy(second));
}

TEST_F(Contexts, events_of_a_context_wait_for_all_of_it) {
  CUevent event;
  CUdeviceptr ptr = allocate(64);
  OK(cuEventCreate(&event, 0));
  OK(put(ptr, 5));
  OK(cuCtxRecordEvent(context, event));
  OK(cuCtxWaitEvent(context, event));
  OK(cuEventSynchronize(event));
  EXPECT_EQ(read(ptr), 5);
}

TEST_F(Contexts, the_primary_one_is_the_runtimes) {
  CUcontext primary = nullptr, current = nullptr;
  unsigned flags;
  int active = 0;
  OK(cuDevicePrimaryCtxRetain(&primary, device));
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 1);
  OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_SPIN));
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);

  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, primary);
  int* ptr = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&ptr), 64), cudaSuccess);
  CUcontext owner = nullptr;
  OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, reinterpret_cast<CUdeviceptr>(ptr)));
  EXPECT_EQ(owner, primary);
  // A kernel of the driver's writes what the runtime allocated and reads back.
  CUmodule here;
  CUfunction function;
  OK(cuModuleLoadData(&here, kKernels));
  OK(cuModuleGetFunction(&function, here, "put"));
  int value = 11;
  void* arguments[] = {&ptr, &value};
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  OK(cuStreamSynchronize(stream));
  value = 0;
  ASSERT_EQ(cudaMemcpy(&value, ptr, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 11);
  OK(cuDevicePrimaryCtxRelease(device));
  ASSERT_EQ(cudaFree(ptr), cudaSuccess) << "the runtime still holds it";
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuDevicePrimaryCtxReset(device));
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(&ptr), 16), CUDA_ERROR_INVALID_CONTEXT);
  OK(cuDevicePrimaryCtxRetain(&primary, device));
  OK(cuMemAlloc(reinterpret_cast<CUdeviceptr*>(&ptr), 16));
  OK(cuDevicePrimaryCtxRelease(device));
  OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  EXPECT_EQ(active, 0) << "nobody holds it";
}

TEST_F(Contexts, the_runtime_works_in_the_pushed_one) {
  int which = -1;
  ASSERT_EQ(cudaGetDevice(&which), cudaSuccess);
  EXPECT_EQ(which, 0);
  void* ptr = nullptr;
  ASSERT_EQ(cudaMalloc(&ptr, 64), cudaSuccess);
  CUcontext owner = nullptr;
  OK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, reinterpret_cast<CUdeviceptr>(ptr)));
  EXPECT_EQ(owner, context);
}

TEST_F(Contexts, many_come_and_go) {
  for (int i = 0; i < 150; ++i) {
    CUcontext fresh = nullptr;
    OK(cuCtxCreate(&fresh, nullptr, 0, device));
    CUdeviceptr ptr;
    OK(cuMemAlloc(&ptr, 1 << 20));
    OK(cuCtxDestroy(fresh));
  }
}

TEST(Entry, names_and_versions_lead_to_functions) {
  void *function = nullptr, *older = nullptr, *twin = nullptr;
  CUdriverProcAddressQueryResult query;
  OK(cuGetProcAddress("cuMemAlloc", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &query));
  EXPECT_EQ(query, CU_GET_PROC_ADDRESS_SUCCESS);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  OK(cuGetProcAddress("cuCtxCreate", &older, 4000, CU_GET_PROC_ADDRESS_DEFAULT, &query));
  EXPECT_EQ(older, reinterpret_cast<void*>(&cuCtxCreate_v2));
  OK(cuGetProcAddress("cuLaunchKernel", &function, 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &query));
  OK(cuGetProcAddress("cuLaunchKernel", &twin, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &query));
  EXPECT_NE(function, twin);
  ASSERT_NE(twin, nullptr);
  OK(cuGetProcAddress("cuLibraryLoadData", &function, 11000, 0, &query));
  EXPECT_EQ(query, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(function, nullptr);
  OK(cuGetProcAddress("cuNoSuchThing", &function, 13000, 0, &query));
  EXPECT_EQ(query, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &function, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress(nullptr, &function, 13000, 0, &query), CUDA_ERROR_INVALID_VALUE);
#undef cuGetProcAddress
  auto first = reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(0);
  OK(cuGetProcAddress_v2("cuGetProcAddress", reinterpret_cast<void**>(&first), 11030, 0, &query));
  OK(first("cuInit", &function, 11030, 0));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuInit));
}

}  // namespace
