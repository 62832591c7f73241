// Programs that look for the system's vdso by themselves, instead of asking the C library for the time.
#pragma once
#include <span>

#include "observe/clock/imports.h"

namespace warpbeam::observe {

// From here on such a program finds a copy of the vdso, whose functions of these names (__vdso_clock_gettime …) are those. `argv` is the process's own:
// the auxiliary vector, which says where the vdso is, lies behind the environment behind it.
void replace_vdso(std::span<const Replacement> replacements, int argc, char** argv);

}  // namespace warpbeam::observe
