// Memory, copies, fills, streams, events and pools.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>

#include "fixture.h"

extern "C" {
CUresult cuMemAllocHost(void**, size_t);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void*, size_t);
}

namespace {

class Memory : public Driver {};

TEST_F(Memory, is_allocated_and_freed) {
  CUdeviceptr ptr = 0, base = 0;
  size_t size = 0, pitch = 0, free = 0, total = 0, later = 0;
  OK(cuMemGetInfo(&free, &total));
  OK(cuMemGetInfo(nullptr, nullptr));  // as a device takes it
  OK(cuMemAlloc(&ptr, 1000));
  OK(cuMemGetAddressRange(&base, &size, ptr + 500));
  EXPECT_EQ(base, ptr);
  EXPECT_EQ(size, 1000u);
  OK(cuMemFree(ptr));
  EXPECT_EQ(cuMemFree(ptr), CUDA_ERROR_INVALID_VALUE) << "freed twice";
  OK(cuMemFree(0));
  EXPECT_EQ(cuMemGetAddressRange(&base, &size, ptr), CUDA_ERROR_NOT_FOUND);
  OK(cuMemGetInfo(&later, &total));
  EXPECT_EQ(free, later);
  EXPECT_EQ(cuMemAlloc(&ptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc(&ptr, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  OK(cuMemAllocPitch(&ptr, &pitch, 100, 10, 4));
  EXPECT_EQ(pitch % 512, 0u);
  EXPECT_EQ(cuMemAllocPitch(&ptr, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, of_the_host_is_pinned_registered_and_managed) {
  void *pinned = nullptr, *flagged = nullptr, *older = nullptr;
  OK(cuMemAllocHost_v2(&pinned, 0));
  OK(cuMemAllocHost_v2(&pinned, 4096));
  OK(cuMemAllocHost(&older, 4096));
  OK(cuMemHostAlloc(&flagged, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  unsigned flags = 0;
  OK(cuMemHostGetFlags(&flags, flagged));
  EXPECT_TRUE(flags & CU_MEMHOSTALLOC_PORTABLE);
  CUdeviceptr mapped = 0;
  OK(cuMemHostGetDevicePointer(&mapped, flagged, 0));
  OK(put(mapped, 77));
  OK(cuCtxSynchronize());
  EXPECT_EQ(*static_cast<int*>(flagged), 77);
  OK(cuMemFreeHost(pinned));
  EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemFreeHost(flagged));
  OK(cuMemFreeHost(older));

  std::vector<int> own(4096);
  OK(cuMemHostRegister(own.data(), own.size() * 4, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_EQ(cuMemHostRegister(own.data(), own.size() * 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  OK(cuMemHostGetDevicePointer(&mapped, own.data(), 0));
  OK(put(mapped, 78));
  OK(cuCtxSynchronize());
  EXPECT_EQ(own[0], 78);
  OK(cuMemHostUnregister(own.data()));
  EXPECT_EQ(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);

  CUdeviceptr managed = 0;
  OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  OK(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, location));
  int read_mostly = 0;
  OK(cuMemRangeGetAttribute(&read_mostly, sizeof read_mostly, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 4096));
  EXPECT_EQ(read_mostly, 1);
  void* values[] = {&read_mostly};
  size_t sizes[] = {sizeof read_mostly};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
  OK(cuMemRangeGetAttributes(values, sizes, attributes, 1, managed, 4096));
  OK(cuMemPrefetchAsync(managed, 4096, location, 0, nullptr));
  OK(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL));
  OK(put(managed, 79));
  OK(cuCtxSynchronize());
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 79);
  OK(cuMemFree(managed));
}

TEST_F(Memory, the_first_interfaces_of_advice_name_a_device) {
  auto advise = reinterpret_cast<CUresult (*)(CUdeviceptr, size_t, CUmem_advise, CUdevice)>(dlsym(RTLD_DEFAULT, "cuMemAdvise"));
  auto prefetch = reinterpret_cast<CUresult (*)(CUdeviceptr, size_t, CUdevice, CUstream)>(dlsym(RTLD_DEFAULT, "cuMemPrefetchAsync"));
  auto enlist = reinterpret_cast<CUresult (*)(void*, size_t, unsigned)>(dlsym(RTLD_DEFAULT, "cuMemHostRegister"));
  CUdeviceptr managed = 0;
  OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  OK(advise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
  int where = 7;
  OK(cuMemRangeGetAttribute(&where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, 4096));
  EXPECT_EQ(where, CU_DEVICE_CPU);
  OK(prefetch(managed, 4096, 0, nullptr));
  EXPECT_EQ(prefetch(managed, 4096, 9, nullptr), CUDA_ERROR_INVALID_DEVICE);
  std::vector<char> own(4096);
  OK(enlist(own.data(), own.size(), 0));
  OK(cuMemHostUnregister(own.data()));
}

TEST_F(Memory, addresses_have_attributes) {
  CUdeviceptr ptr = allocate(1000), start = 0;
  unsigned type = 0, managed = 9;
  size_t size = 0;
  int ordinal = -1, mapped = 0;
  void* host = nullptr;
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ptr + 8));
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_MAPPED,           CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* values[] = {&start, &size, &ordinal, &managed, &mapped, &host};
  OK(cuPointerGetAttributes(6, names, values, ptr + 8));
  EXPECT_EQ(start, ptr);
  EXPECT_EQ(size, 1000u);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(managed, 0u);
  EXPECT_EQ(mapped, 1);
  EXPECT_EQ(host, nullptr);
  OK(cuPointerGetAttributes(6, names, values, reinterpret_cast<CUdeviceptr>(&start)));
  EXPECT_EQ(start, 0u) << "not the driver's memory";
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, ptr), CUDA_ERROR_INVALID_VALUE);
  unsigned yes = 1;
  OK(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, ptr));
  EXPECT_EQ(cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_CONTEXT, ptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, is_copied_in_every_direction) {
  std::vector<int> from(100), to(100);
  std::iota(from.begin(), from.end(), 1);
  size_t bytes = 400;
  CUdeviceptr a = allocate(bytes), b = allocate(bytes);
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuMemcpyHtoD(a, from.data(), bytes));
  OK(cuMemcpyDtoD(b, a, bytes));
  OK(cuMemcpyDtoH(to.data(), b, bytes));
  EXPECT_EQ(to, from);
  std::ranges::fill(to, 0);
  OK(cuMemsetD8(b, 0, bytes));
  OK(cuMemcpyHtoDAsync(a, from.data(), bytes, stream));
  OK(cuMemcpyDtoDAsync(b, a, bytes, stream));
  OK(cuMemcpyDtoHAsync(to.data(), b, bytes, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(to, from);
  std::ranges::fill(to, 0);
  OK(cuMemcpy(reinterpret_cast<CUdeviceptr>(to.data()), a, bytes));
  EXPECT_EQ(to, from);
  OK(cuMemcpyAsync(b, a, bytes, stream));
  OK(cuMemcpyPeer(b, context, a, context, bytes));
  OK(cuMemcpyPeerAsync(b, context, a, context, bytes, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(cuMemcpyPeer(b, context, a, reinterpret_cast<CUcontext>(0x55), bytes), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuMemcpyHtoD(a, from.data(), bytes + 1), CUDA_ERROR_INVALID_VALUE) << "past the end";
  EXPECT_EQ(cuMemcpyDtoH(to.data(), 0x1000, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoDAsync(a, from.data(), 4, reinterpret_cast<CUstream>(0x99)), CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemcpyHtoD_v2_ptds(a, from.data(), bytes));
  OK(cuMemcpyHtoD(a, nullptr, 0));
}

TEST_F(Memory, rectangles_and_boxes_are_copied) {
  // 6 x 4 x 2 bytes on the host; the inner 3 x 2 x 2 goes to a pitched place on the device and back.
  unsigned char host[2][4][6], back[2][2][3] = {};
  for (int i = 0; i < 48; ++i) host[i / 24][i / 6 % 4][i % 6] = static_cast<unsigned char>(i);
  CUdeviceptr ptr = allocate(2 * 8 * 16);
  CUDA_MEMCPY2D p{};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = host;
  p.srcPitch = 6;
  p.srcXInBytes = 2;
  p.srcY = 1;
  p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.dstDevice = ptr;
  p.dstPitch = 16;
  p.dstXInBytes = 1;
  p.WidthInBytes = 3;
  p.Height = 2;
  OK(cuMemcpy2D(&p));
  unsigned char row[4];
  OK(cuMemcpyDtoH(row, ptr + 16, 4));
  EXPECT_EQ(row[1], host[0][2][2]);
  OK(cuMemcpy2DUnaligned(&p));
  OK(cuMemcpy2DAsync(&p, nullptr));
  p.WidthInBytes = 6;
  EXPECT_EQ(cuMemcpy2D(&p), CUDA_ERROR_INVALID_VALUE) << "wider than the pitch";
  EXPECT_EQ(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);

  CUDA_MEMCPY3D q{};
  q.srcMemoryType = CU_MEMORYTYPE_HOST;
  q.srcHost = host;
  q.srcPitch = 6;
  q.srcHeight = 4;
  q.srcXInBytes = 2;
  q.srcY = 1;
  q.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  q.dstDevice = ptr;
  q.dstPitch = 16;
  q.dstHeight = 8;
  q.WidthInBytes = 3;
  q.Height = 2;
  q.Depth = 2;
  OK(cuMemcpy3D(&q));
  CUDA_MEMCPY3D r{};
  r.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  r.srcDevice = ptr;
  r.srcPitch = 16;
  r.srcHeight = 8;
  r.dstMemoryType = CU_MEMORYTYPE_HOST;
  r.dstHost = back;
  r.dstPitch = 3;
  r.dstHeight = 2;
  r.WidthInBytes = 3;
  r.Height = 2;
  r.Depth = 2;
  OK(cuMemcpy3DAsync(&r, nullptr));
  OK(cuCtxSynchronize());
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x) EXPECT_EQ(back[z][y][x], host[z][y + 1][x + 2]);

  CUDA_MEMCPY3D_PEER s{};
  s.srcMemoryType = s.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  s.srcDevice = ptr;
  s.dstDevice = ptr + 128;
  s.srcPitch = s.dstPitch = 16;
  s.srcHeight = s.dstHeight = 8;
  s.srcContext = s.dstContext = context;
  s.WidthInBytes = 3;
  s.Height = 2;
  s.Depth = 1;
  OK(cuMemcpy3DPeer(&s));
  OK(cuMemcpy3DPeerAsync(&s, nullptr));
  OK(cuMemcpyDtoH(row, ptr + 128, 3));
  EXPECT_EQ(row[0], host[0][1][2]);
}

TEST_F(Memory, is_filled_with_elements_of_each_size) {
  CUdeviceptr ptr = allocate(1024);
  CUstream stream;
  OK(cuStreamCreate(&stream, 0));
  OK(cuMemsetD8(ptr, 0x11, 4));
  EXPECT_EQ(read(ptr), 0x11111111);
  OK(cuMemsetD16(ptr, 0x2233, 2));
  EXPECT_EQ(read(ptr), 0x22332233);
  OK(cuMemsetD32(ptr, 0x44556677, 1));
  EXPECT_EQ(read(ptr), 0x44556677);
  EXPECT_EQ(cuMemsetD32(ptr + 2, 1, 1), CUDA_ERROR_INVALID_VALUE) << "not aligned";
  EXPECT_EQ(cuMemsetD16(ptr + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD8(ptr, 1, 2000), CUDA_ERROR_INVALID_VALUE) << "past the end";
  OK(cuMemsetD2D8(ptr, 64, 0xaa, 4, 3));
  EXPECT_EQ(static_cast<unsigned>(read(ptr + 128)), 0xaaaaaaaau);
  EXPECT_EQ(read(ptr + 132), 0);
  OK(cuMemsetD2D16(ptr, 64, 0xbbcc, 2, 3));
  EXPECT_EQ(static_cast<unsigned>(read(ptr + 64)), 0xbbccbbccu);
  OK(cuMemsetD2D32(ptr, 64, 0x01020304, 2, 3));
  EXPECT_EQ(read(ptr + 132), 0x01020304);
  OK(cuMemsetD8Async(ptr, 1, 4, stream));
  OK(cuMemsetD16Async(ptr + 4, 2, 2, stream));
  OK(cuMemsetD32Async(ptr + 8, 3, 1, stream));
  OK(cuMemsetD2D8Async(ptr + 64, 64, 4, 4, 1, stream));
  OK(cuMemsetD2D16Async(ptr + 68, 64, 5, 2, 1, stream));
  OK(cuMemsetD2D32Async(ptr + 72, 64, 6, 1, 2, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(ptr), 0x01010101);
  EXPECT_EQ(read(ptr + 4), 0x00020002);
  EXPECT_EQ(read(ptr + 8), 3);
  EXPECT_EQ(read(ptr + 64), 0x04040404);
  EXPECT_EQ(read(ptr + 68), 0x00050005);
  EXPECT_EQ(read(ptr + 136), 6);
}

class Streams : public Driver {};

TEST_F(Streams, are_made_asked_and_destroyed) {
  CUstream stream = nullptr, other = nullptr;
  OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
  OK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
  unsigned flags = 9;
  int priority = 9;
  unsigned long long id = 0, other_id = 0;
  CUcontext owner = nullptr;
  CUgreenCtx green;
  CUdevice where = -1;
  OK(cuStreamGetFlags(stream, &flags));
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  OK(cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, -1);
  OK(cuStreamGetId(stream, &id));
  OK(cuStreamGetId(other, &other_id));
  EXPECT_NE(id, other_id);
  OK(cuStreamGetDevice(stream, &where));
  EXPECT_EQ(where, 0);
  OK(cuStreamGetCtx(stream, &owner));
  EXPECT_EQ(owner, context);
  owner = nullptr;
  OK(cuStreamGetCtx_v2(stream, &owner, &green));
  EXPECT_EQ(owner, context);
  CUstreamAttrValue value{}, same{};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  OK(cuStreamCopyAttributes(other, stream));
  OK(cuStreamGetAttribute(other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &same));
  EXPECT_EQ(same.syncPolicy, CU_SYNC_POLICY_YIELD);
  OK(cuStreamQuery(stream));
  OK(cuStreamDestroy(stream));
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamCreate(&stream, 0x70), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, call_back) {
  std::atomic<int> calls{0};
  OK(cuStreamAddCallback(
      nullptr,
      [](CUstream, CUresult status, void* data) {
        if (status == CUDA_SUCCESS) ++*static_cast<std::atomic<int>*>(data);
      },
      &calls, 0));
  OK(cuLaunchHostFunc(
      nullptr,
      [](void* data) {
        auto& calls = *static_cast<std::atomic<int>*>(data);
        if (cuCtxSynchronize() == CUDA_ERROR_NOT_PERMITTED) calls += 10;
      },
      &calls));
  OK(cuCtxSynchronize());
  EXPECT_EQ(calls, 11);
}

TEST_F(Streams, events_order_and_time_them) {
  CUevent start, stop, untimed;
  CUstream first, second;
  CUdeviceptr ptr = allocate(64);
  OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&start, 0));
  OK(cuEventCreate(&stop, CU_EVENT_BLOCKING_SYNC));
  OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  OK(cuEventRecord(start, first));
  OK(put(ptr, 51, first));
  OK(cuEventRecordWithFlags(stop, first, CU_EVENT_RECORD_DEFAULT));
  OK(cuStreamWaitEvent(second, stop, 0));
  int value = 0;
  OK(cuMemcpyDtoHAsync(&value, ptr, 4, second));
  OK(cuStreamSynchronize(second));
  EXPECT_EQ(value, 51);
  OK(cuEventSynchronize(stop));
  OK(cuEventQuery(stop));
  float milliseconds = -1;
  OK(cuEventElapsedTime(&milliseconds, start, stop));
  EXPECT_GE(milliseconds, 0);
  OK(cuEventRecord(untimed, first));
  OK(cuEventSynchronize(untimed));
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
  OK(cuEventDestroy(stop));
  EXPECT_EQ(cuEventDestroy(stop), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(stop, first), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(stop), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventCreate(&stop, 0x100), CUDA_ERROR_INVALID_VALUE);
}

// Python's queues send them from threads that have made no context current.
TEST_F(Streams, pools_are_shared_without_a_current_context) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool, other;
  OK(cuMemPoolCreate(&pool, &properties));
  CUdeviceptr ptr = 0;
  OK(cuMemAllocFromPoolAsync(&ptr, 4096, pool, nullptr));
  OK(cuStreamSynchronize(nullptr));
  CUcontext mine = nullptr, now = nullptr;
  OK(cuCtxPopCurrent(&mine));
  int file = -1;
  CUmemPoolPtrExportData data;
  OK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemPoolExportPointer(&data, ptr));
  OK(cuMemPoolImportFromShareableHandle(&other, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuCtxGetCurrent(&now));
  EXPECT_EQ(now, nullptr);
  OK(cuCtxPushCurrent(mine));
  OK(cuMemPoolDestroy(other));
  OK(cuMemFreeAsync(ptr, nullptr));
  OK(cuMemPoolDestroy(pool));
}

TEST_F(Streams, pools_allocate_in_order) {
  CUmemoryPool standard, pool, now;
  OK(cuDeviceGetDefaultMemPool(&standard, device));
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  OK(cuMemPoolCreate(&pool, &properties));
  cuuint64_t threshold = 1 << 20, back = 0;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &back));
  EXPECT_EQ(back, threshold);
  OK(cuDeviceSetMemPool(device, pool));
  OK(cuDeviceGetMemPool(&now, device));
  EXPECT_EQ(now, pool);
  OK(cuDeviceSetMemPool(device, standard));
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  OK(cuMemPoolSetAccess(pool, &access, 1));
  CUmemAccess_flags flags;
  OK(cuMemPoolGetAccess(&flags, pool, &access.location));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUdeviceptr ptr = 0, second = 0;
  OK(cuMemAllocFromPoolAsync(&second, 256, pool, nullptr));
  OK(cuMemFreeAsync(second, nullptr));
  OK(cuMemPoolTrimTo(pool, 0));
  OK(cuMemPoolDestroy(pool));
  EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAllocAsync(&ptr, 256, nullptr));
  OK(cuMemFreeAsync(ptr, nullptr));
}

TEST_F(Memory, pools_of_devices_need_no_context) {
  CUmemoryPool with = nullptr, without = nullptr;
  OK(cuDeviceGetDefaultMemPool(&with, device));
  OK(cuCtxPopCurrent(nullptr));
  OK(cuDeviceGetDefaultMemPool(&without, device));
  EXPECT_EQ(with, without);
  OK(cuDeviceSetMemPool(device, with));
  OK(cuDeviceGetMemPool(&without, device));
  EXPECT_EQ(with, without);
  EXPECT_EQ(cuDeviceGetDefaultMemPool(&without, 99), CUDA_ERROR_INVALID_DEVICE);
  cuuint64_t keep = 1 << 20;
  OK(cuMemPoolSetAttribute(with, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  OK(cuMemPoolGetAttribute(with, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  EXPECT_EQ(keep, 1u << 20);
  keep = 0;
  OK(cuMemPoolSetAttribute(with, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  // CuPy's first call of all may make one.
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  OK(cuMemPoolCreate(&without, &properties));
  CUmemAccess_flags flags{};
  OK(cuMemPoolGetAccess(&flags, without, &properties.location));
  EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  OK(cuMemPoolDestroy(without));
  CUcontext current = context;
  OK(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, nullptr);
}

// As an H100's driver answers.
TEST_F(Memory, handles_need_no_context) {
  CUevent event = nullptr;
  OK(cuEventCreate(&event, 0));
  OK(cuEventRecord(event, nullptr));
  OK(cuCtxPopCurrent(nullptr));
  OK(cuEventSynchronize(event));
  OK(cuEventQuery(event));
  OK(cuEventDestroy(event));
  EXPECT_EQ(cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  float ms = 0;
  EXPECT_EQ(cuEventElapsedTime(&ms, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  OK(cuMemFree(0));
  OK(cuMemFreeHost(nullptr));
  cuuint64_t used = 0;
  OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  OK(cuDeviceGraphMemTrim(device));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  CUmemoryPool pool = nullptr;
  OK(cuDeviceGetDefaultMemPool(&pool, device));
  OK(cuMemPoolTrimTo(pool, 0));
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
  OK(cuGraphDestroy(graph));
  CUfunction function = nullptr;
  int value = 0;
  EXPECT_EQ(cuModuleGetFunction(&function, nullptr, "add"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM  // there null is a stream that can be captured, in the context that is missing
  EXPECT_EQ(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_INVALID_HANDLE);
#endif
  EXPECT_EQ(cuMemHostUnregister(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemHostUnregister(&value), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CUdeviceptr ptr = 0;
  EXPECT_EQ(cuMemAlloc(&ptr, 64), CUDA_ERROR_INVALID_CONTEXT);
}

// In a process of its own: this one may have begun already. Every function of the table, with nothing but zeros.
TEST(BeforeInit, nothing_is_initialized) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto all_refuse = [] {
    constexpr const char* kAnyTime[] = {"cuInit",
                                        "cuDriverGetVersion",
                                        "cuGetErrorName",
                                        "cuGetErrorString",
                                        "cuGetProcAddress",
                                        "cuGetProcAddress_v2",
                                        "cuGetExportTable",
                                        "cuTensorMapEncodeTiled",
                                        "cuTensorMapEncodeIm2col",
                                        "cuTensorMapReplaceAddress"};
    constexpr const char* kNames[] = {
#define WB_RUNTIME(...)
#define WB_ENTRY(...)
#define WB_DRIVER(name, ...) #name,
#include "cuda/functions.inc"
    };
    int wrong = 0;
    for (const char* name : kNames) {
      if (std::ranges::any_of(kAnyTime, [&](std::string_view n) { return n == name; })) continue;
      auto* function =
          reinterpret_cast<int (*)(long, long, long, long, long, long, long, long, long, long, long, long)>(dlsym(RTLD_DEFAULT, name));
      if (!function) continue;
      const int result = function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      if (result == CUDA_ERROR_NOT_INITIALIZED) continue;
      std::fprintf(stderr, "%s: %d\n", name, result);
      ++wrong;
    }
    std::exit(wrong != 0);
  };
  EXPECT_EXIT(all_refuse(), testing::ExitedWithCode(0), "");
}

}  // namespace
