// The management library tells of the devices what the runtime tells.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nvml.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#define OK(expression) ASSERT_EQ(expression, NVML_SUCCESS)
#define CUDA(expression) ASSERT_EQ(expression, cudaSuccess)

namespace {

// Before the runtime counts its devices.
const int environment = setenv("WARPBEAM_DEVICES", "2", 1) + setenv("WARPBEAM_DEVICE", "h200", 1);

class Nvml : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(environment, 0);
    OK(nvmlInit());
    for (unsigned i : {0, 1}) OK(nvmlDeviceGetHandleByIndex(i, &device[i]));
  }
  void TearDown() override {
    nvmlShutdown();
    for (int i : {1, 0}) {
      cudaSetDevice(i);
      cudaDeviceReset();
    }
  }
  nvmlDevice_t device[2];
};

TEST_F(Nvml, counts_who_uses_it) {
  unsigned count = 0;
  OK(nvmlInit());
  OK(nvmlShutdown());
  OK(nvmlDeviceGetCount(&count)) << "once more than shut down";
  EXPECT_EQ(count, 2u);
  OK(nvmlShutdown());
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_UNINITIALIZED), "Uninitialized");
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_UNKNOWN), "Unknown Error");
}

TEST_F(Nvml, tells_versions) {
  char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
  int version = 0, runtime = 0;
  OK(nvmlSystemGetDriverVersion(text, sizeof text));
  EXPECT_GT(std::atof(text), 500);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text, 3), NVML_ERROR_INSUFFICIENT_SIZE);
  OK(nvmlSystemGetCudaDriverVersion(&version));
  CUDA(cudaDriverGetVersion(&runtime));
  EXPECT_EQ(version, runtime);
}

TEST_F(Nvml, finds_devices_by_everything) {
  char uuid[NVML_DEVICE_UUID_BUFFER_SIZE], bus[20];
  nvmlPciInfo_t pci;
  nvmlDevice_t found = nullptr;
  for (int i : {0, 1}) {
    unsigned index = 7;
    OK(nvmlDeviceGetIndex(device[i], &index));
    EXPECT_EQ(index, unsigned(i));
    OK(nvmlDeviceGetUUID(device[i], uuid, sizeof uuid));
    EXPECT_EQ(std::strlen(uuid), 40u) << uuid;
    OK(nvmlDeviceGetHandleByUUID(uuid, &found));
    EXPECT_EQ(found, device[i]);
    OK(nvmlDeviceGetPciInfo(device[i], &pci));
    OK(nvmlDeviceGetHandleByPciBusId(pci.busId, &found));
    EXPECT_EQ(found, device[i]);
    CUDA(cudaDeviceGetPCIBusId(bus, sizeof bus, i));
    OK(nvmlDeviceGetHandleByPciBusId(bus, &found));
    EXPECT_EQ(found, device[i]);
    EXPECT_STRCASEEQ(bus, pci.busIdLegacy);
  }
  EXPECT_EQ(nvmlDeviceGetHandleByIndex(2, &found), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetHandleByUUID("GPU-none", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetHandleByPciBusId("0000:ff:1f.0", &found), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlDeviceGetIndex(nullptr, nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Nvml, says_what_the_runtime_says) {
  cudaDeviceProp p;
  CUDA(cudaGetDeviceProperties(&p, 1));
  char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
  OK(nvmlDeviceGetName(device[1], name, sizeof name));
  EXPECT_STREQ(name, p.name);
  int major, minor;
  OK(nvmlDeviceGetCudaComputeCapability(device[1], &major, &minor));
  EXPECT_EQ(major * 10 + minor, 90);
  nvmlDeviceArchitecture_t architecture;
  OK(nvmlDeviceGetArchitecture(device[1], &architecture));
  EXPECT_EQ(architecture, unsigned(NVML_DEVICE_ARCH_HOPPER));
  nvmlPciInfo_t pci;
  OK(nvmlDeviceGetPciInfo(device[1], &pci));
  EXPECT_EQ(pci.pciDeviceId & 0xffff, 0x10deu) << "the vendor";
  nvmlBrandType_t brand;
  OK(nvmlDeviceGetBrand(device[1], &brand));
  EXPECT_EQ(brand, NVML_BRAND_NVIDIA);
  unsigned value;
  OK(nvmlDeviceGetNumGpuCores(device[1], &value));
  EXPECT_EQ(value, 132u * 128);
  OK(nvmlDeviceGetMemoryBusWidth(device[1], &value));
  EXPECT_EQ(value, unsigned(p.memoryBusWidth));
  OK(nvmlDeviceGetMaxClockInfo(device[1], NVML_CLOCK_SM, &value));
  EXPECT_EQ(value, unsigned(p.clockRate / 1000));
  OK(nvmlDeviceGetClock(device[1], NVML_CLOCK_MEM, NVML_CLOCK_ID_CURRENT, &value));
  EXPECT_EQ(value, unsigned(p.memoryClockRate / 1000));
  EXPECT_EQ(nvmlDeviceGetClockInfo(device[1], NVML_CLOCK_VIDEO, &value), NVML_ERROR_NOT_SUPPORTED);
  nvmlDeviceAttributes_t attributes;
  OK(nvmlDeviceGetAttributes(device[1], &attributes));
  EXPECT_EQ(attributes.multiprocessorCount, unsigned(p.multiProcessorCount));
  nvmlEnableState_t ecc, pending;
  OK(nvmlDeviceGetEccMode(device[1], &ecc, &pending));
  EXPECT_EQ(ecc == NVML_FEATURE_ENABLED, p.ECCEnabled != 0);
}

TEST_F(Nvml, knows_this_process_and_its_memory) {
  nvmlMemory_t memory;
  unsigned count = 4;
  nvmlProcessInfo_t processes[4];
  OK(nvmlDeviceGetMemoryInfo(device[0], &memory));
  EXPECT_EQ(memory.used, 0u) << "there is no context, and asking makes none";
  OK(nvmlDeviceGetComputeRunningProcesses(device[0], &count, processes));
  EXPECT_EQ(count, 0u);

  constexpr size_t kBytes = 64 << 20;
  void* data;
  CUDA(cudaSetDevice(1));
  CUDA(cudaMalloc(&data, kBytes));
  OK(nvmlDeviceGetMemoryInfo(device[1], &memory));
  EXPECT_GE(memory.used, kBytes);
  EXPECT_EQ(memory.free + memory.used, memory.total);
  count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device[1], &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(count, 1u);
  OK(nvmlDeviceGetComputeRunningProcesses(device[1], &count, processes));
  EXPECT_EQ(processes[0].pid, unsigned(getpid()));
  EXPECT_EQ(processes[0].usedGpuMemory, memory.used);
  OK(nvmlDeviceGetComputeRunningProcesses(device[0], &count, processes));
  EXPECT_EQ(count, 0u) << "that is the other device";
  nvmlMemory_v2_t second{};
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device[1], &second), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  second.version = nvmlMemory_v2;
  OK(nvmlDeviceGetMemoryInfo_v2(device[1], &second));
  EXPECT_EQ(second.used, memory.used);

  // The context is as it was.
  int current = -1;
  CUDA(cudaGetDevice(&current));
  EXPECT_EQ(current, 1);
  CUDA(cudaMemset(data, 0, kBytes));
  CUDA(cudaFree(data));
  CUDA(cudaGetLastError());
}

TEST_F(Nvml, has_no_sensors) {
  unsigned value;
  nvmlUtilization_t utilization;
  EXPECT_EQ(nvmlDeviceGetTemperature(device[0], NVML_TEMPERATURE_GPU, &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetPowerUsage(device[0], &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device[0], &utilization), NVML_ERROR_NOT_SUPPORTED);
  nvmlPciInfo_t remote;
  EXPECT_EQ(nvmlDeviceGetNvLinkCapability(device[0], 0, NVML_NVLINK_CAP_VALID, &value), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetNvLinkRemotePciInfo(device[0], 0, &remote), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetPowerUsage(nullptr, &value), NVML_ERROR_INVALID_ARGUMENT);
  nvmlEnableState_t restricted;
  EXPECT_EQ(nvmlDeviceGetAPIRestriction(device[0], NVML_RESTRICTED_API_SET_APPLICATION_CLOCKS, &restricted), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceResetApplicationsClocks(device[0]), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceResetGpuLockedClocks(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

// Tools load the library and look the functions up, older forms too.
TEST_F(Nvml, is_loaded_by_name) {
  for (const char* name : {"nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetPciInfo_v2"})
    EXPECT_NE(dlsym(RTLD_DEFAULT, name), nullptr) << name;
}

}  // namespace
