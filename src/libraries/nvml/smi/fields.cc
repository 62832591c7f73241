#include "libraries/nvml/smi/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace warpbeam::smi {
namespace {

constexpr unsigned kTextLength = 96;

template <class Get>
std::string text(Get&& get) {
  char buffer[kTextLength] = "";
  return get(buffer, kTextLength) == NVML_SUCCESS ? buffer : std::string(kNone);
}

nvmlPciInfo_t pci_of(nvmlDevice_t device) {
  nvmlPciInfo_t pci{};
  nvmlDeviceGetPciInfo_v3(device, &pci);
  return pci;
}

std::string none(nvmlDevice_t) { return std::string(kNone); }
std::string zero_errors(nvmlDevice_t device) { return ecc_mode(device) == "Enabled" ? "0" : std::string(kNone); }
std::string or_none(std::string text) { return text.empty() ? std::string(kNone) : text; }

std::string now() {
  char buffer[kTextLength];
  const time_t seconds = time(nullptr);
  tm parts{};
  strftime(buffer, sizeof buffer, "%Y/%m/%d %H:%M:%S", localtime_r(&seconds, &parts));
  return fmt::format("{}.000", buffer);
}

template <nvmlClockType_t type>
std::string clock_field(nvmlDevice_t device) {
  return or_none(clock_of(device, type));
}

// What a device in software has no answer to stands here too, because scripts ask for it beside the rest.
constexpr Field kFields[] = {
    {"timestamp", "", "", [](nvmlDevice_t) { return now(); }},
    {"driver_version", "", "", [](nvmlDevice_t) { return driver_version(); }},
    {"count", "", "",
     [](nvmlDevice_t) {
       unsigned count = 0;
       nvmlDeviceGetCount_v2(&count);
       return std::to_string(count);
     }},
    {"name", "gpu_name", "", name_of},
    {"serial", "gpu_serial", "", none},
    {"uuid", "gpu_uuid", "", uuid_of},
    {"index", "", "", [](nvmlDevice_t d) { return std::to_string(index_of(d)); }},
    {"pci.bus_id", "gpu_bus_id", "", bus_of},
    {"pci.domain", "", "", [](nvmlDevice_t d) { return fmt::format("0x{:04X}", pci_of(d).domain); }},
    {"pci.bus", "", "", [](nvmlDevice_t d) { return fmt::format("0x{:02X}", pci_of(d).bus); }},
    {"pci.device", "", "", [](nvmlDevice_t d) { return fmt::format("0x{:02X}", pci_of(d).device); }},
    {"pci.device_id", "", "", [](nvmlDevice_t d) { return fmt::format("0x{:08X}", pci_of(d).pciDeviceId); }},
    {"pci.sub_device_id", "", "", [](nvmlDevice_t d) { return fmt::format("0x{:08X}", pci_of(d).pciSubSystemId); }},
    {"compute_cap", "", "", capability_of},
    {"compute_mode", "", "", compute_mode},
    {"memory.total", "", "MiB", [](nvmlDevice_t d) { return std::to_string(memory_of(d).total >> 20); }},
    {"memory.used", "", "MiB", [](nvmlDevice_t d) { return std::to_string(memory_of(d).used >> 20); }},
    {"memory.free", "", "MiB", [](nvmlDevice_t d) { return std::to_string(memory_of(d).free >> 20); }},
    {"memory.reserved", "", "MiB", [](nvmlDevice_t) { return std::string("0"); }},
    {"ecc.mode.current", "", "", [](nvmlDevice_t d) { return or_none(ecc_mode(d)); }},
    {"ecc.mode.pending", "", "", [](nvmlDevice_t d) { return or_none(ecc_mode(d)); }},
    {"ecc.errors.corrected.volatile.total", "", "", zero_errors},
    {"ecc.errors.corrected.aggregate.total", "", "", zero_errors},
    {"ecc.errors.uncorrected.volatile.total", "", "", zero_errors},
    {"ecc.errors.uncorrected.aggregate.total", "", "", zero_errors},
    {"clocks.current.graphics", "clocks.gr", "MHz", clock_field<NVML_CLOCK_GRAPHICS>},
    {"clocks.current.sm", "clocks.sm", "MHz", clock_field<NVML_CLOCK_SM>},
    {"clocks.current.memory", "clocks.mem", "MHz", clock_field<NVML_CLOCK_MEM>},
    {"clocks.current.video", "clocks.video", "MHz", none},
    {"clocks.max.graphics", "clocks.max.gr", "MHz", clock_field<NVML_CLOCK_GRAPHICS>},
    {"clocks.max.sm", "", "MHz", clock_field<NVML_CLOCK_SM>},
    {"clocks.max.memory", "clocks.max.mem", "MHz", clock_field<NVML_CLOCK_MEM>},
    {"mig.mode.current", "", "", none},
    {"mig.mode.pending", "", "", none},
    {"display_mode", "", "", [](nvmlDevice_t) { return std::string("Disabled"); }},
    {"display_active", "", "", [](nvmlDevice_t) { return std::string("Disabled"); }},
    {"persistence_mode", "", "", [](nvmlDevice_t) { return std::string("Disabled"); }},
    {"pstate", "", "", none},
    {"vbios_version", "", "", none},
    {"fan.speed", "", "%", none},
    {"temperature.gpu", "", "", none},
    {"temperature.memory", "", "", none},
    {"utilization.gpu", "", "%", none},
    {"utilization.memory", "", "%", none},
    {"encoder.stats.sessionCount", "", "", none},
    {"power.draw", "", "W", none},
    {"power.draw.average", "", "W", none},
    {"power.draw.instant", "", "W", none},
    {"power.limit", "", "W", none},
    {"power.default_limit", "", "W", none},
    {"power.min_limit", "", "W", none},
    {"power.max_limit", "", "W", none},
    {"power.management", "", "", none},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", "", none},
    {"pcie.link.gen.max", "", "", none},
    {"pcie.link.width.current", "", "", none},
    {"pcie.link.width.max", "", "", none},
};

}  // namespace

std::span<const Field> fields() { return kFields; }

const Field* find_field(std::string_view name) {
  const auto found = std::ranges::find_if(kFields, [&](const Field& f) { return f.name == name || (!f.also.empty() && f.also == name); });
  return found == std::end(kFields) ? nullptr : &*found;
}

std::string name_of(nvmlDevice_t device) {
  return text([&](char* to, unsigned length) { return nvmlDeviceGetName(device, to, length); });
}
std::string uuid_of(nvmlDevice_t device) {
  return text([&](char* to, unsigned length) { return nvmlDeviceGetUUID(device, to, length); });
}
std::string bus_of(nvmlDevice_t device) { return pci_of(device).busId; }

unsigned index_of(nvmlDevice_t device) {
  unsigned index = 0;
  nvmlDeviceGetIndex(device, &index);
  return index;
}

nvmlMemory_t memory_of(nvmlDevice_t device) {
  nvmlMemory_t memory{};
  nvmlDeviceGetMemoryInfo(device, &memory);
  return memory;
}

std::string driver_version() {
  return text([](char* to, unsigned length) { return nvmlSystemGetDriverVersion(to, length); });
}

std::string cuda_version() {
  int version = 0;
  nvmlSystemGetCudaDriverVersion_v2(&version);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string compute_mode(nvmlDevice_t device) {
  nvmlComputeMode_t mode{};
  if (nvmlDeviceGetComputeMode(device, &mode) != NVML_SUCCESS) return std::string(kNone);
  return mode == NVML_COMPUTEMODE_PROHIBITED ? "Prohibited" : mode == NVML_COMPUTEMODE_EXCLUSIVE_PROCESS ? "Exclusive_Process" : "Default";
}

std::string capability_of(nvmlDevice_t device) {
  int major = 0, minor = 0;
  nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
  return fmt::format("{}.{}", major, minor);
}

std::string architecture_name(nvmlDevice_t device) {
  nvmlDeviceArchitecture_t architecture{};
  nvmlDeviceGetArchitecture(device, &architecture);
  switch (architecture) {
    case NVML_DEVICE_ARCH_KEPLER: return "Kepler";
    case NVML_DEVICE_ARCH_MAXWELL: return "Maxwell";
    case NVML_DEVICE_ARCH_PASCAL: return "Pascal";
    case NVML_DEVICE_ARCH_VOLTA: return "Volta";
    case NVML_DEVICE_ARCH_TURING: return "Turing";
    case NVML_DEVICE_ARCH_AMPERE: return "Ampere";
    case NVML_DEVICE_ARCH_ADA: return "Ada Lovelace";
    case NVML_DEVICE_ARCH_HOPPER: return "Hopper";
    case NVML_DEVICE_ARCH_BLACKWELL: return "Blackwell";
    default: return "Unknown";
  }
}

std::string ecc_mode(nvmlDevice_t device) {
  nvmlEnableState_t now{}, pending{};
  if (nvmlDeviceGetEccMode(device, &now, &pending) != NVML_SUCCESS) return "";
  return now == NVML_FEATURE_ENABLED ? "Enabled" : "Disabled";
}

std::string clock_of(nvmlDevice_t device, nvmlClockType_t type) {
  unsigned megahertz = 0;
  return nvmlDeviceGetClockInfo(device, type, &megahertz) == NVML_SUCCESS ? std::to_string(megahertz) : "";
}

}  // namespace warpbeam::smi
