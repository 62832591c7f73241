// What `nvidia-smi --query-gpu` can be asked about a device.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "nvml.h"

namespace warpbeam::smi {

struct Field {
  std::string_view name, also;  // how it may be spelled
  std::string_view unit;        // " MiB" behind the number, and " [MiB]" in the header; may be empty
  std::string (*value)(nvmlDevice_t);
};
std::span<const Field> fields();
const Field* find_field(std::string_view name);

// What the tool says where a device has no such thing.
inline constexpr std::string_view kNone = "[N/A]";

// --- answers of the library as text
std::string name_of(nvmlDevice_t);
std::string uuid_of(nvmlDevice_t);
std::string bus_of(nvmlDevice_t);
unsigned index_of(nvmlDevice_t);
nvmlMemory_t memory_of(nvmlDevice_t);
std::string driver_version();
std::string cuda_version();
std::string compute_mode(nvmlDevice_t);
std::string capability_of(nvmlDevice_t);
std::string architecture_name(nvmlDevice_t);
// Whether memory is protected; empty where the device has no such thing.
std::string ecc_mode(nvmlDevice_t);
std::string clock_of(nvmlDevice_t, nvmlClockType_t);

}  // namespace warpbeam::smi
