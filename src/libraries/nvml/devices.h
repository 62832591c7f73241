// The devices as the management library shows them.
#pragma once
#include <string>
#include <vector>

#include "cuda_runtime_api.h"
#include "nvml.h"

// What a handle points to.
struct nvmlDevice_st {
  int ordinal;
  cudaDeviceProp properties;
};

namespace warpbeam::nvml {

// All that this process can use, as long as it lives.
std::vector<nvmlDevice_st>& devices();

// "GPU-" and the usual groups of digits.
std::string uuid_of(const nvmlDevice_st& device);
nvmlPciInfo_t pci_of(const nvmlDevice_st& device);
nvmlBrandType_t brand_of(const nvmlDevice_st& device);
nvmlDeviceArchitecture_t architecture_of(const nvmlDevice_st& device);
// Lanes for 32-bit floating point on the whole device; 0 where that is not known.
unsigned cores_of(const nvmlDevice_st& device);
// In MHz; 0 for a clock that it does not have.
unsigned clock_of(const nvmlDevice_st& device, nvmlClockType_t type);

// Whether this process has a context on the device, and the bytes it has taken there.
struct Use {
  bool context = false;
  unsigned long long bytes = 0;
};
Use use_of(const nvmlDevice_st& device);

}  // namespace warpbeam::nvml
