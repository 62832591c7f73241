// Linking relocatable device code (-rdc=true). The PTX of all files is linked by the runtime when the program starts;
// what is left for build time is to make each object's registration call reach the runtime, and to pull those members
// out of static libraries that only device code needs.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

struct DeviceLink {
  std::vector<std::string> registrations;  // functions that clang's host code calls and nobody defines
  std::vector<std::string> required;       // symbols of all whose device code is linked: archives give them to the host's linker
  bool empty() const { return registrations.empty() && required.empty(); }
};

// `files` are objects, archives and shared libraries (which are passed over), in link order.
Result<DeviceLink> plan_device_link(const std::vector<std::string>& files);

// Defines the registrations as assembly.
std::string registration_assembly(const DeviceLink& link);

}  // namespace warpbeam::compiler
