// The libraries under the vendor's names, as the dynamic linker finds them.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstring>
#include <filesystem>

#include "fixture.h"

namespace {

std::string library(const char* name) {
  Dl_info here;
  EXPECT_NE(dladdr(reinterpret_cast<void*>(&cuInit), &here), 0);
  return (std::filesystem::path(here.dli_fname).parent_path() / name).string();
}

TEST(Dropins, bring_the_one_runtime_along) {
  for (const char* name : {"libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}) {
    void* handle = dlopen(library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    EXPECT_EQ(dlsym(handle, "cuMemAlloc_v2"), reinterpret_cast<void*>(&cuMemAlloc_v2)) << name;
    EXPECT_EQ(dlsym(handle, "cudaMalloc"), dlsym(RTLD_DEFAULT, "cudaMalloc")) << name;
  }
}

TEST(Dropins, of_older_toolkits_speak_their_interfaces) {
  cudaDeviceProp now;
  ASSERT_EQ(cudaGetDeviceProperties(&now, 0), cudaSuccess);
  void* eleven = dlopen(library("libcudart.so.11.0").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* twelve = dlopen(library("libcudart.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(eleven && twelve);
  auto properties = [](void* library, const char* name) { return reinterpret_cast<cudaError_t (*)(void*, int)>(dlsym(library, name)); };
  // Where multiProcessorCount and major stand in both older structures.
  constexpr size_t kMajor = 360, kMultiprocessors = 388, kBytes11 = 728, kBytes12 = 1032;
  std::vector<char> bytes(2048, '\x55');
  auto integer = [&](size_t offset) {
    int value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  ASSERT_EQ(properties(eleven, "cudaGetDeviceProperties")(bytes.data(), 0), cudaSuccess);
  EXPECT_STREQ(bytes.data(), now.name);
  EXPECT_EQ(integer(kMajor), now.major);
  EXPECT_EQ(integer(kMultiprocessors), now.multiProcessorCount);
  EXPECT_EQ(bytes[kBytes11], '\x55') << "nothing behind the structure is touched";
  ASSERT_EQ(properties(twelve, "cudaGetDeviceProperties_v2")(bytes.data(), 0), cudaSuccess);
  EXPECT_EQ(integer(kMultiprocessors), now.multiProcessorCount);
  EXPECT_EQ(bytes[kBytes12], '\x55');

  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal), cudaSuccess);
  auto advise = reinterpret_cast<cudaError_t (*)(const void*, size_t, int, int)>(dlsym(twelve, "cudaMemAdvise"));
  auto prefetch = reinterpret_cast<cudaError_t (*)(const void*, size_t, int, cudaStream_t)>(dlsym(twelve, "cudaMemPrefetchAsync"));
  EXPECT_EQ(advise(managed, 4096, cudaMemAdviseSetPreferredLocation, -1), cudaSuccess);
  int where = 7;
  ASSERT_EQ(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, managed, 4096), cudaSuccess);
  EXPECT_EQ(where, cudaCpuDeviceId);
  EXPECT_EQ(prefetch(managed, 4096, 0, nullptr), cudaSuccess);
  EXPECT_EQ(prefetch(managed, 4096, 77, nullptr), cudaErrorInvalidDevice);
}

}  // namespace
