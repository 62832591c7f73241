// The C interface of the management library.
#define NVML_NO_UNVERSIONED_FUNC_DEFS  // every form is defined here by its own name
#include "nvml.h"

#include <cuda.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>

#include "libraries/nvml/devices.h"

#define WB_EXPORT __attribute__((visibility("default")))
#define WB_SAME(target) __attribute__((visibility("default"), alias(#target)))

namespace {

using namespace warpbeam::nvml;

// The first driver that knows toolkit 13.0: programs compare versions.
constexpr char kDriverVersion[] = "580.65.06";

std::atomic<int> users = 0;  // nvmlInit counts up, nvmlShutdown down

constexpr const char* kTexts[] = {
    "Success",
    "Uninitialized",
    "Invalid Argument",
    "Not Supported",
    "Insufficient Permissions",
    "Already Initialized",
    "Not Found",
    "Insufficient Size",
    "Insufficient External Power",
    "Driver Not Loaded",
    "Timeout",
    "Interrupt Request Issue",
    "NVML Shared Library Not Found",
    "Function Not Found",
    "Corrupted infoROM",
    "GPU is lost",
    "GPU requires restart",
    "Blocked by the operating system",
    "Versions of driver and library differ",
    "In use by another client",
    "Insufficient Memory",
    "No data",
    "Not available with ECC",
    "Insufficient Resources",
    "Frequency Not Supported",
    "Version of the argument differs",
    "Deprecated",
    "Not ready",
};

template <class Body>
nvmlReturn_t initialized(Body&& body) noexcept {
  if (users == 0) return NVML_ERROR_UNINITIALIZED;
  try {
    return body();
  } catch (...) {
    return NVML_ERROR_UNKNOWN;
  }
}

// With a handle that stands for one of the devices; `out` is where an answer goes, all of them must be there.
template <class Body, class... Out>
nvmlReturn_t with_device(nvmlDevice_t handle, Body&& body, const Out*... out) noexcept {
  return initialized([&] {
    for (const nvmlDevice_st& device : devices())
      if (&device == handle) return (out && ...) ? body(device) : NVML_ERROR_INVALID_ARGUMENT;
    return NVML_ERROR_INVALID_ARGUMENT;
  });
}

nvmlReturn_t put(const std::string& text, char* to, unsigned length) {
  if (!to) return NVML_ERROR_INVALID_ARGUMENT;
  if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

template <class Value, class Fact>
nvmlReturn_t put(nvmlDevice_t handle, Value* to, Fact&& fact) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        *to = static_cast<Value>(fact(device));
        return NVML_SUCCESS;
      },
      to);
}

// The first device that `fits`.
template <class Fits>
nvmlReturn_t find(nvmlDevice_t* handle, Fits&& fits) {
  for (nvmlDevice_st& device : devices())
    if (fits(device)) {
      *handle = &device;
      return NVML_SUCCESS;
    }
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t clock(nvmlDevice_t handle, nvmlClockType_t type, unsigned* to) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        if (type < 0 || type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
        const unsigned megahertz = clock_of(device, type);
        if (megahertz == 0) return NVML_ERROR_NOT_SUPPORTED;
        *to = megahertz;
        return NVML_SUCCESS;
      },
      to);
}

// The only process whose work is known is this one.
template <class Info>
nvmlReturn_t compute_processes(nvmlDevice_t handle, unsigned* count, Info* infos) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        const Use use = use_of(device);
        const unsigned room = *count;
        *count = use.context;
        if (*count > room) return NVML_ERROR_INSUFFICIENT_SIZE;
        if (*count == 0) return NVML_SUCCESS;
        if (!infos) return NVML_ERROR_INVALID_ARGUMENT;
        infos->pid = getpid();
        infos->usedGpuMemory = use.bytes;
        if constexpr (!std::is_same_v<Info, nvmlProcessInfo_v1_t>) infos->gpuInstanceId = infos->computeInstanceId = 0xffffffff;
        return NVML_SUCCESS;
      },
      count);
}

nvmlReturn_t no_processes(nvmlDevice_t handle, unsigned* count) {
  return put(handle, count, [](const nvmlDevice_st&) { return 0; });
}

// Older forms of the structure are shorter.
nvmlReturn_t pci_info(nvmlDevice_t handle, nvmlPciInfo_t* to, size_t bytes) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        const nvmlPciInfo_t pci = pci_of(device);
        std::memcpy(static_cast<void*>(to), &pci, bytes);
        return NVML_SUCCESS;
      },
      to);
}

}  // namespace

extern "C" {

WB_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned flags) {
  if (flags & ~(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH)) return NVML_ERROR_INVALID_ARGUMENT;
  ++users;
  return NVML_SUCCESS;
}
WB_EXPORT nvmlReturn_t nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit(void) WB_SAME(nvmlInit_v2);

WB_EXPORT nvmlReturn_t nvmlShutdown(void) {
  for (int now = users; now > 0;)
    if (users.compare_exchange_weak(now, now - 1)) return NVML_SUCCESS;
  return NVML_ERROR_UNINITIALIZED;
}

WB_EXPORT const char* nvmlErrorString(nvmlReturn_t result) {
  return result >= 0 && static_cast<size_t>(result) < std::size(kTexts) ? kTexts[result] : "Unknown Error";
}

// Callers that ask before nvmlInit are refused, but for the version of CUDA.
WB_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return initialized([&] { return put(kDriverVersion, version, length); });
}

WB_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return initialized([&] { return put(fmt::format("{}.{}", NVML_API_VERSION, kDriverVersion), version, length); });
}

WB_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int* version) {
  if (!version) return NVML_ERROR_INVALID_ARGUMENT;
  return cuDriverGetVersion(version) == CUDA_SUCCESS ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int*) WB_SAME(nvmlSystemGetCudaDriverVersion_v2);

WB_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned* count) {
  return initialized([&] {
    if (!count) return NVML_ERROR_INVALID_ARGUMENT;
    *count = static_cast<unsigned>(devices().size());
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetCount(unsigned*) WB_SAME(nvmlDeviceGetCount_v2);

WB_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t* handle) {
  return initialized([&] {
    if (!handle || index >= devices().size()) return NVML_ERROR_INVALID_ARGUMENT;
    *handle = &devices()[index];
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned, nvmlDevice_t*) WB_SAME(nvmlDeviceGetHandleByIndex_v2);

WB_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char* uuid, nvmlDevice_t* handle) {
  return initialized([&] {
    if (!uuid || !handle) return NVML_ERROR_INVALID_ARGUMENT;
    return find(handle, [&](const nvmlDevice_st& device) { return uuid_of(device) == uuid; });
  });
}

// The domain may be left out.
WB_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* text, nvmlDevice_t* handle) {
  return initialized([&] {
    unsigned domain = 0, bus = 0, slot = 0;
    if (!text || !handle) return NVML_ERROR_INVALID_ARGUMENT;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) {
      domain = 0;
      if (std::sscanf(text, "%x:%x", &bus, &slot) != 2) return NVML_ERROR_INVALID_ARGUMENT;
    }
    return find(handle, [&](const nvmlDevice_st& device) {
      const nvmlPciInfo_t pci = pci_of(device);
      return pci.domain == domain && pci.bus == bus && pci.device == slot;
    });
  });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char*, nvmlDevice_t*) WB_SAME(nvmlDeviceGetHandleByPciBusId_v2);

WB_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t handle, unsigned* index) {
  return put(handle, index, [](const nvmlDevice_st& device) { return device.ordinal; });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char* name, unsigned length) {
  return with_device(handle, [&](const nvmlDevice_st& device) { return put(device.properties.name, name, length); });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char* uuid, unsigned length) {
  return with_device(handle, [&](const nvmlDevice_st& device) { return put(uuid_of(device), uuid, length); });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t handle, nvmlBrandType_t* brand) { return put(handle, brand, brand_of); }

WB_EXPORT nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t handle, nvmlDeviceArchitecture_t* architecture) {
  return put(handle, architecture, architecture_of);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t handle, int* major, int* minor) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        *major = device.properties.major;
        *minor = device.properties.minor;
        return NVML_SUCCESS;
      },
      major, minor);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t handle, nvmlPciInfo_t* pci) { return pci_info(handle, pci, sizeof *pci); }
WB_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
  return pci_info(handle, pci, offsetof(nvmlPciInfo_t, busId));
}
WB_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t handle, nvmlPciInfo_t* pci) {
  return pci_info(handle, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t handle, nvmlMemory_t* memory) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        const unsigned long long total = device.properties.totalGlobalMem, used = use_of(device).bytes;
        *memory = {total, total - used, used};
        return NVML_SUCCESS;
      },
      memory);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t handle, nvmlMemory_v2_t* memory) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
        const unsigned long long total = device.properties.totalGlobalMem, used = use_of(device).bytes;
        *memory = {memory->version, total, 0, total - used, used};
        return NVML_SUCCESS;
      },
      memory);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t handle, unsigned* bits) {
  return put(handle, bits, [](const nvmlDevice_st& device) { return device.properties.memoryBusWidth; });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t handle, unsigned* cores) { return put(handle, cores, cores_of); }

// A whole device: it is no slice of one.
WB_EXPORT nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t handle, nvmlDeviceAttributes_t* attributes) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        *attributes = {};
        attributes->multiprocessorCount = device.properties.multiProcessorCount;
        attributes->sharedCopyEngineCount = device.properties.asyncEngineCount;
        attributes->memorySizeMB = device.properties.totalGlobalMem >> 20;
        return NVML_SUCCESS;
      },
      attributes);
}

// The model's clocks do not change: the present one is the highest.
WB_EXPORT nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned* megahertz) {
  return clock(handle, type, megahertz);
}
WB_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t handle, nvmlClockType_t type, unsigned* megahertz) {
  return clock(handle, type, megahertz);
}
WB_EXPORT nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t handle, nvmlClockType_t type, nvmlClockId_t id, unsigned* megahertz) {
  if (id == NVML_CLOCK_ID_CURRENT || id == NVML_CLOCK_ID_CUSTOMER_BOOST_MAX) return clock(handle, type, megahertz);
  return with_device(handle, [](const nvmlDevice_st&) { return NVML_ERROR_NOT_SUPPORTED; }, megahertz);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t handle, nvmlComputeMode_t* mode) {
  return put(handle, mode, [](const nvmlDevice_st& device) { return device.properties.computeMode; });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t handle, nvmlEnableState_t* now, nvmlEnableState_t* pending) {
  return with_device(
      handle,
      [&](const nvmlDevice_st& device) {
        *now = *pending = device.properties.ECCEnabled ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
        return NVML_SUCCESS;
      },
      now, pending);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t handle, unsigned* several) {
  return put(handle, several, [](const nvmlDevice_st& device) { return device.properties.isMultiGpuBoard; });
}

WB_EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t handle, unsigned* is) {
  return put(handle, is, [](const nvmlDevice_st&) { return 0; });
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t handle, unsigned* count, nvmlProcessInfo_t* infos) {
  return compute_processes(handle, count, infos);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*)
    WB_SAME(nvmlDeviceGetComputeRunningProcesses_v3);
WB_EXPORT nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t handle, unsigned* count, nvmlProcessInfo_v1_t* infos) {
  return compute_processes(handle, count, infos);
}

WB_EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t handle, unsigned* count, nvmlProcessInfo_t*) {
  return no_processes(handle, count);
}
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*)
    WB_SAME(nvmlDeviceGetGraphicsRunningProcesses_v3);
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t, unsigned*, nvmlProcessInfo_t*)
    WB_SAME(nvmlDeviceGetGraphicsRunningProcesses_v3);
WB_EXPORT nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t handle, unsigned* count, nvmlProcessInfo_v1_t*) {
  return no_processes(handle, count);
}

// Clocks are what they are.
WB_EXPORT nvmlReturn_t nvmlDeviceResetApplicationsClocks(nvmlDevice_t handle) {
  return with_device(handle, [](const nvmlDevice_st&) { return NVML_ERROR_NOT_SUPPORTED; });
}
nvmlReturn_t nvmlDeviceResetGpuLockedClocks(nvmlDevice_t) WB_SAME(nvmlDeviceResetApplicationsClocks);
nvmlReturn_t nvmlDeviceResetMemoryLockedClocks(nvmlDevice_t) WB_SAME(nvmlDeviceResetApplicationsClocks);

#define WB_NVML(name, ...)                                                                     \
  WB_EXPORT nvmlReturn_t name(nvmlDevice_t device, __VA_ARGS__) {                              \
    return with_device(device, [](const nvmlDevice_st&) { return NVML_ERROR_NOT_SUPPORTED; }); \
  }
#include "warpbeam/nvml/not_supported.inc"
#undef WB_NVML

}  // extern "C"
