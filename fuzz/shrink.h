#pragma once
#include <functional>

#include "fuzz/kernel.h"

namespace warpbeam::fuzz {

// A smaller kernel for which `interesting` still holds: parts are left out, branches and loops replaced by what they
// hold, and the grid made smaller, as long as that goes on.
Kernel shrink(const Kernel& kernel, const std::function<bool(const Kernel&)>& interesting);

}  // namespace warpbeam::fuzz
