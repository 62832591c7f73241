// What other modules of the process import can be led to functions of ours. Nothing is exported for that, so that programs
// that do not ask for it call what they always called.
#pragma once
#include <span>

namespace warpbeam::observe {

struct Replacement {
  const char* name;  // of the function as modules import it
  void* function;
};

// In all modules that are loaded now, but for the C and C++ libraries, those of OpenMP and MPI, and our own. Modules that
// have been seen before are left alone.
void redirect_imports(std::span<const Replacement> replacements);

}  // namespace warpbeam::observe
