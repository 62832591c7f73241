#include "libraries/nvml/devices.h"

#include <cuda.h>
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "model/device.h"

// The runtime's cudaGetDeviceProperties, under a name that older runtimes do not have.
extern "C" cudaError_t __warpbeamDeviceProperties(cudaDeviceProp* to, int device);

namespace warpbeam::nvml {

std::vector<nvmlDevice_st>& devices() {
  static auto* list = [] {
    auto* found = new std::vector<nvmlDevice_st>;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      nvmlDevice_st device{ordinal, {}};
      if (__warpbeamDeviceProperties(&device.properties, ordinal) == cudaSuccess) found->push_back(device);
    }
    return found;
  }();
  return *list;
}

std::string uuid_of(const nvmlDevice_st& device) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(device.properties.uuid.bytes[i]));
  }
  return text;
}

nvmlPciInfo_t pci_of(const nvmlDevice_st& device) {
  const cudaDeviceProp& p = device.properties;
  nvmlPciInfo_t pci{};
  pci.domain = p.pciDomainID;
  pci.bus = p.pciBusID;
  pci.device = p.pciDeviceID;
  pci.pciDeviceId = p.gpuPciDeviceID;
  pci.pciSubSystemId = p.gpuPciSubsystemID;
  const auto number = [&](const char* format) { return fmt::format(fmt::runtime(format), pci.domain, pci.bus, pci.device); };
  std::strcpy(pci.busIdLegacy, number("{:04X}:{:02X}:{:02X}.0").c_str());
  std::strcpy(pci.busId, number("{:08X}:{:02X}:{:02X}.0").c_str());
  return pci;
}

nvmlBrandType_t brand_of(const nvmlDevice_st& device) {
  const std::string_view name = device.properties.name;
  constexpr struct {
    std::string_view word;
    nvmlBrandType_t brand;
  } kBrands[] = {{"GeForce", NVML_BRAND_GEFORCE}, {"TITAN", NVML_BRAND_TITAN},    {"Quadro RTX", NVML_BRAND_QUADRO_RTX},
                 {"Quadro", NVML_BRAND_QUADRO},   {"RTX", NVML_BRAND_NVIDIA_RTX}, {"Tesla", NVML_BRAND_TESLA}};
  for (const auto& [word, brand] : kBrands)
    if (name.find(word) != name.npos) return brand;
  return NVML_BRAND_NVIDIA;
}

nvmlDeviceArchitecture_t architecture_of(const nvmlDevice_st& device) {
  const int cc = device.properties.major * 10 + device.properties.minor;
  constexpr struct {
    int first;
    nvmlDeviceArchitecture_t architecture;
  } kArchitectures[] = {{100, NVML_DEVICE_ARCH_BLACKWELL}, {90, NVML_DEVICE_ARCH_HOPPER},  {89, NVML_DEVICE_ARCH_ADA},
                        {80, NVML_DEVICE_ARCH_AMPERE},     {75, NVML_DEVICE_ARCH_TURING},  {70, NVML_DEVICE_ARCH_VOLTA},
                        {60, NVML_DEVICE_ARCH_PASCAL},     {50, NVML_DEVICE_ARCH_MAXWELL}, {30, NVML_DEVICE_ARCH_KEPLER}};
  for (const auto& [first, architecture] : kArchitectures)
    if (cc >= first) return architecture;
  return NVML_DEVICE_ARCH_UNKNOWN;
}

unsigned cores_of(const nvmlDevice_st& device) {
  const cudaDeviceProp& p = device.properties;
  const model::Device* capability = model::find_compute_capability(p.major, p.minor);
  return capability ? capability->fp32_per_sm * p.multiProcessorCount : 0;
}

unsigned clock_of(const nvmlDevice_st& device, nvmlClockType_t type) {
  switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM: return device.properties.clockRate / 1000;
    case NVML_CLOCK_MEM: return device.properties.memoryClockRate / 1000;
    default: return 0;
  }
}

// Asked through the driver API, which leaves the thread's device and its last error alone.
Use use_of(const nvmlDevice_st& device) {
  unsigned flags = 0;
  int active = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxGetState(device.ordinal, &flags, &active) != CUDA_SUCCESS || !active) return {};
  Use use{true, 0};
  CUcontext context = nullptr;
  if (cuDevicePrimaryCtxRetain(&context, device.ordinal) != CUDA_SUCCESS) return use;
  if (cuCtxPushCurrent(context) == CUDA_SUCCESS) {
    size_t free = 0, total = 0;
    if (cuMemGetInfo(&free, &total) == CUDA_SUCCESS) use.bytes = total - free;
    cuCtxPopCurrent(&context);
  }
  cuDevicePrimaryCtxRelease(device.ordinal);
  return use;
}

}  // namespace warpbeam::nvml
