// Allocation: sizes, addresses, what may be freed by what.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "kernels.h"

namespace {

TEST(Memory, no_bytes_give_a_null_pointer) {
  void* pointer = &pointer;
  OK(cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  pointer = &pointer;
  OK(cudaHostAlloc(&pointer, 0, 0));
  EXPECT_EQ(pointer, nullptr);
  pointer = &pointer;
  OK(cudaMallocManaged(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  OK(cudaFree(nullptr));
  OK(cudaFreeHost(nullptr));
}

TEST(Memory, addresses_are_multiples_of_256) {
  for (size_t size : {1, 3, 255, 257, 100000}) {
    void* pointer;
    OK(cudaMalloc(&pointer, size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pointer) % 256, 0u);
    OK(cudaFree(pointer));
  }
}

TEST(Memory, more_than_the_device_has_is_refused) {
  void* pointer = nullptr;
  size_t free = 0, total = 0;
  OK(cudaMemGetInfo(&free, &total));
  EXPECT_EQ(cudaMalloc(&pointer, total + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&pointer, SIZE_MAX), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocPitch(&pointer, &free, 1 << 20, SIZE_MAX / 2), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST(Memory, free_bytes_follow_allocations) {
  size_t before = 0, during = 0, after = 0, total = 0;
  OK(cudaMemGetInfo(&before, &total));
  void* pointer;
  OK(cudaMalloc(&pointer, 64 << 20));
  OK(cudaMemGetInfo(&during, &total));
  EXPECT_EQ(before - during, 64u << 20);
  OK(cudaFree(pointer));
  OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  OK(cudaMemGetInfo(nullptr, &total));  // as a device takes it
  OK(cudaMemGetInfo(&after, nullptr));
}

TEST(Memory, only_what_cudaMalloc_gave_can_be_freed_and_only_once) {
  int* device;
  void* pinned;
  std::vector<char> plain(100);
  OK(cudaMalloc(&device, 100));
  OK(cudaMallocHost(&pinned, 100));
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(plain.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(plain.data()), cudaErrorInvalidValue);
  OK(cudaFree(device));
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  OK(cudaFreeHost(pinned));
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(Memory, pitched_rows_start_at_multiples_of_512) {
  void* pointer;
  size_t pitch = 0;
  OK(cudaMallocPitch(&pointer, &pitch, 100, 10));
  EXPECT_EQ(pitch, 512u);
  OK(cudaFree(pointer));
  OK(cudaMallocPitch(&pointer, &pitch, 513, 10));
  EXPECT_EQ(pitch, 1024u);
  OK(cudaFree(pointer));
  OK(cudaMallocPitch(&pointer, &pitch, 0, 10));
  EXPECT_EQ(pointer, nullptr);
  cudaPitchedPtr cube;
  OK(cudaMalloc3D(&cube, make_cudaExtent(100, 10, 5)));
  EXPECT_EQ(cube.pitch, 512u);
  EXPECT_EQ(cube.xsize, 100u);
  EXPECT_EQ(cube.ysize, 10u);
  OK(cudaMemset3D(cube, 1, make_cudaExtent(100, 10, 5)));
  OK(cudaFree(cube.ptr));
}

TEST(Memory, managed_memory_is_one_memory) {
  int* both;
  OK(cudaMallocManaged(&both, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) both[i] = i;
  OK(kernels::launch(kernels::add, 1, 64, nullptr, 0, both, 1000, 64));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(both[i], 1000 + i);
  cudaMemLocation here{cudaMemLocationTypeDevice, 0}, nowhere{cudaMemLocationTypeDevice, 77};
  OK(cudaMemPrefetchAsync(both, 64, here, 0, nullptr));
  OK(cudaMemPrefetchAsync(both, 64, cudaCpuDeviceId));
  EXPECT_EQ(cudaMemPrefetchAsync(both, 64, nowhere, 0, nullptr), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaMemPrefetchAsync(both, 1 << 20, here, 0, nullptr), cudaErrorInvalidValue);
  OK(cudaMemAdvise(both, 64, cudaMemAdviseSetReadMostly, here));
  OK(cudaMemAdvise(both, 64, cudaMemAdviseSetPreferredLocation, 0));
  int answer = -77;
  OK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributeReadMostly, both, 64));
  EXPECT_EQ(answer, 1);
  OK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributePreferredLocation, both, 64));
  EXPECT_EQ(answer, 0);
  OK(cudaMemRangeGetAttribute(&answer, 4, cudaMemRangeAttributeLastPrefetchLocation, both, 64));
  EXPECT_EQ(answer, cudaCpuDeviceId);
  int users[2] = {5, 5};
  void* answers[] = {users, &answer};
  size_t sizes[] = {sizeof users, sizeof answer};
  cudaMemRangeAttribute wanted[] = {cudaMemRangeAttributeAccessedBy, cudaMemRangeAttributeReadMostly};
  OK(cudaMemAdvise(both, 64, cudaMemAdviseSetAccessedBy, here));
  OK(cudaMemRangeGetAttributes(answers, sizes, wanted, 2, both, 64));
  EXPECT_EQ(users[0], 0);
  EXPECT_EQ(users[1], cudaInvalidDeviceId);
  EXPECT_EQ(cudaMemRangeGetAttribute(&answer, 3, cudaMemRangeAttributeReadMostly, both, 64), cudaErrorInvalidValue);
  OK(cudaStreamAttachMemAsync(nullptr, both, 0, cudaMemAttachGlobal));
  EXPECT_EQ(cudaStreamAttachMemAsync(cudaStreamLegacy, both, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(both), cudaErrorInvalidValue);
  OK(cudaFree(both));
  EXPECT_EQ(cudaMallocManaged(&both, 64, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMallocManaged(&both, 64, 3), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(Memory, pinned_memory_is_visible_to_kernels_at_its_own_address) {
  int* host;
  OK(cudaHostAlloc(&host, 4, cudaHostAllocMapped | cudaHostAllocPortable));
  *host = 0;
  int* device = nullptr;
  OK(cudaHostGetDevicePointer(&device, host, 0));
  EXPECT_EQ(device, host);
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, device, 7));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(*host, 7);
  unsigned flags = 0;
  OK(cudaHostGetFlags(&flags, host));
  EXPECT_EQ(flags, unsigned{cudaHostAllocMapped | cudaHostAllocPortable});
  EXPECT_EQ(cudaHostGetDevicePointer(&device, host, 1), cudaErrorInvalidValue);
  OK(cudaFreeHost(host));
  EXPECT_EQ(cudaHostAlloc(&host, 4, 0x100), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(Memory, registered_memory_is_visible_until_it_is_unregistered) {
  std::vector<int> host(1000);
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
  OK(cudaHostRegister(host.data(), 4000, cudaHostRegisterMapped));
  EXPECT_EQ(cudaHostRegister(host.data(), 4000, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(host.data() + 10, 40, 0), cudaErrorHostMemoryAlreadyRegistered);
  OK(kernels::launch(kernels::store, 1, 1, nullptr, 0, &host[999], 7));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(host[999], 7);
  EXPECT_EQ(cudaHostUnregister(host.data() + 1), cudaErrorInvalidValue);
  OK(cudaHostUnregister(host.data()));
  EXPECT_EQ(cudaHostUnregister(host.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostRegister(host.data(), 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(nullptr, 10, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(host.data(), 10, 0x80), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(Memory, pointers_tell_what_they_are) {
  std::vector<int> plain(10);
  void *device, *pinned, *managed;
  OK(cudaMalloc(&device, 100));
  OK(cudaMallocHost(&pinned, 100));
  OK(cudaMallocManaged(&managed, 100));
  cudaPointerAttributes attributes;
  auto offset = [](void* pointer) { return static_cast<char*>(pointer) + 10; };

  OK(cudaPointerGetAttributes(&attributes, plain.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, -2);
  EXPECT_EQ(attributes.hostPointer, plain.data());
  EXPECT_EQ(attributes.devicePointer, nullptr);
  OK(cudaPointerGetAttributes(&attributes, offset(device)));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(attributes.devicePointer, offset(device));
  OK(cudaPointerGetAttributes(&attributes, offset(pinned)));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, offset(pinned));
  EXPECT_EQ(attributes.devicePointer, offset(pinned));
  OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(attributes.hostPointer, managed);
  OK(cudaFree(device));
  OK(cudaPointerGetAttributes(&attributes, device));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  OK(cudaFree(managed));
  OK(cudaFreeHost(pinned));
}

TEST(Memory, freeing_waits_for_work_that_uses_the_memory) {
  int *flag, *data;
  OK(cudaMallocHost(&flag, 4));
  *flag = 0;
  OK(cudaMalloc(&data, 4));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(kernels::launch(kernels::wait_for_flag, 1, 1, stream, 0, static_cast<volatile int*>(flag)));
  OK(kernels::launch(kernels::store, 1, 1, stream, 0, data, 1));
  cudaStream_t other;
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaLaunchHostFunc(other, [](void* flag) { *static_cast<volatile int*>(flag) = 1; }, flag));
  OK(cudaFree(data));
  OK(cudaStreamSynchronize(stream));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
  OK(cudaFreeHost(flag));
}

}  // namespace
