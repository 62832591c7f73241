// How long a launch takes with the device to itself.
#pragma once
#include "model/device.h"
#include "observe/profiler/launch_profile.h"
#include "vm/kernel_clock.h"

namespace warpbeam::observe {

struct KernelTime {
  double nanoseconds = 0;
  double memory_share = 0;  // of the memory's speed that it uses
  double read = 0, written = 0;  // bytes of the device's memory
};

// What the model of src/timing predicts, or else a roofline of what the profiler counted.
KernelTime kernel_time(const LaunchProfile& profile);
// That of a kernel whose warps also wait by their clocks.
KernelTime with_waits(const KernelTime& work, const vm::KernelClockUse& clock, const LaunchProfile& profile);
// Of a kernel that does nothing.
KernelTime least_kernel_time(const model::Device& device);
// What a library does in the place of a kernel, by the bytes that it touches.
KernelTime library_time(const model::Device& device, double bytes, double effort);

}  // namespace warpbeam::observe
