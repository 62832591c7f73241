// The runtime API as device code sees it: launches, device-side streams and events, and the calls that kernels may make.
#pragma once
#include <string_view>

#include "vm/program.h"

namespace warpbeam::cuda {

// The function behind a name that device code calls: `cudaMalloc`, or what nvcc's device library calls it. Null if none.
vm::Builtin find_device_function(std::string_view name);

// A call of a kernel in device code, after __warpbeam_configure_launch: what <<<…>>> becomes.
extern const vm::Builtin kLaunchEntry;

}  // namespace warpbeam::cuda
