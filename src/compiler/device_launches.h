// Launches from device code. clang takes `kernel<<<…>>>(…)` in host code only; a source that launches from its kernels is
// preprocessed first and rewritten: `kernel<<<g, b>>>(x)` becomes `(__warpbeam_configure_launch(g, b), kernel(x))`, and
// __global__ functions become device functions that are kernels too, so that the call, with its overloads, templates,
// conversions and default arguments, is the compiler's as in host code. The machine takes a call of a kernel as a launch.
#pragma once
#include <string>
#include <string_view>

namespace warpbeam::compiler {

enum class DeviceLaunches {
  None,
  Perhaps,  // a macro or a header may hold one: the preprocessed text tells
  Found,
};

// Looks for launches in functions that only device code has. The text may or may not have been preprocessed.
DeviceLaunches find_device_launches(std::string_view text);

// The preprocessed text for the device pass: every launch rewritten. Kernels begin with a statement that the optimiser
// cannot see through, so that it takes no launch for a call without effect.
std::string rewrite_for_device(std::string_view text);

// The preprocessed text for the host pass: launches in device code, which the host does not have, do nothing there.
std::string rewrite_for_host(std::string_view text);

}  // namespace warpbeam::compiler
