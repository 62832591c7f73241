// Virtual memory management.
#include <unistd.h>

#include "fixture.h"

namespace {

class Virtual : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    OK(cuMemGetAllocationGranularity(&granule, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  CUmemGenericAllocationHandle create(size_t size) {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, size, &properties, 0), CUDA_SUCCESS);
    return handle;
  }
  CUmemAllocationProp properties{};
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  size_t granule = 0;
};

TEST_F(Virtual, memory_grows_behind_one_address) {
  size_t before = 0, after = 0, total = 0;
  OK(cuMemGetInfo(&before, &total));
  CUdeviceptr base = 0;
  OK(cuMemAddressReserve(&base, 4 * granule, 0, 0, 0));
  EXPECT_EQ(base % granule, 0u);
  auto first = create(granule), second = create(2 * granule);
  OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before - after, 3 * granule);
  OK(cuMemMap(base, granule, 0, first, 0));
  EXPECT_EQ(cuMemsetD32(base, 1, 16), CUDA_ERROR_INVALID_VALUE) << "no access yet";
  OK(cuMemSetAccess(base, granule, &access, 1));
  OK(put(base, 71));
  EXPECT_EQ(read(base), 71);
  OK(cuMemMap(base + granule, 2 * granule, 0, second, 0));
  OK(cuMemSetAccess(base + granule, 2 * granule, &access, 1));
  EXPECT_EQ(read(base), 71) << "what was there stays";
  // Fills, kernels and copies across the seam.
  OK(cuMemsetD8(base, 0, 3 * granule));
  EXPECT_EQ(read(base), 0);
  CUdeviceptr to = base + granule - 200;
  int value = 9, count = 100;
  void* arguments[] = {&to, &value, &count};
  OK(cuLaunchKernel(function("add"), 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  std::vector<int> back(100);
  OK(cuMemcpyDtoH(back.data(), to, 400));
  EXPECT_EQ(back, std::vector<int>(100, 9));

  unsigned long long flags = 0;
  OK(cuMemGetAccess(&flags, &access.location, base + granule));
  EXPECT_EQ(flags, unsigned{CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  OK(cuMemUnmap(base + granule, 2 * granule));
  void* gone[] = {&(to = base + granule)};
  OK(cuLaunchKernel(function("bound"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(cuMemcpyDtoH(back.data(), to, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(read(base + granule - 4), 9);
  EXPECT_EQ(cuMemAddressFree(base, 4 * granule), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  OK(cuMemUnmap(base, granule));
  OK(cuMemAddressFree(base, 4 * granule));
  EXPECT_EQ(cuMemAddressFree(base, 4 * granule), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemRelease(first));
  OK(cuMemRelease(second));
  EXPECT_EQ(cuMemRelease(second), CUDA_ERROR_INVALID_VALUE);
  OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
  (void)gone;
}

TEST_F(Virtual, one_memory_shows_at_two_addresses_and_in_files) {
  CUdeviceptr base = 0;
  OK(cuMemAddressReserve(&base, 2 * granule, granule, 0, 0));
  auto memory = create(granule);
  OK(cuMemMap(base, granule, 0, memory, 0));
  int file = -1;
  OK(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle imported = 0;
  OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  OK(cuMemMap(base + granule, granule, 0, imported, 0));
  OK(cuMemSetAccess(base, 2 * granule, &access, 1));
  OK(put(base, 81));
  EXPECT_EQ(read(base + granule), 81);
  CUmemGenericAllocationHandle again = 0;
  OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(base + 100)));
  EXPECT_EQ(again, memory);
  CUmemAllocationProp facts{};
  OK(cuMemGetAllocationPropertiesFromHandle(&facts, memory));
  EXPECT_EQ(facts.location.id, device);
  for (auto handle : {memory, again, imported}) OK(cuMemRelease(handle));
  EXPECT_EQ(read(base), 81) << "mapped memory lives on";
  OK(cuMemUnmap(base, 2 * granule));
  OK(cuMemAddressFree(base, 2 * granule));
}

TEST_F(Virtual, arguments_are_checked) {
  CUdeviceptr base = 0;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemAddressReserve(&base, granule + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, granule + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, size_t{1} << 45, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  properties.location.id = 9;
  EXPECT_EQ(cuMemCreate(&handle, granule, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
  properties.location.id = 0;
  OK(cuMemAddressReserve(&base, granule, 0, 0, 0));
  auto memory = create(granule);
  EXPECT_EQ(cuMemMap(base, 2 * granule, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(base, granule, granule, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(base, granule, 0, 0x1234, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemSetAccess(base, granule, &access, 1), CUDA_ERROR_INVALID_VALUE) << "nothing mapped";
  OK(cuMemMap(base, granule, 0, memory, 0));
  EXPECT_EQ(cuMemMap(base, granule, 0, memory, 0), CUDA_ERROR_INVALID_VALUE) << "mapped already";
  OK(cuMemSetAccess(base, granule, &access, 1));
  EXPECT_EQ(cuMemFree(base), CUDA_ERROR_INVALID_VALUE) << "not of cuMemAlloc";
  OK(cuMemUnmap(base, granule));
  OK(cuMemAddressFree(base, granule));
  OK(cuMemRelease(memory));
}

}  // namespace
