// The prelude of CUDA sources, compiled ahead. Small programs are little beside it: clang reads it in about half a second, and
// what it has read (a precompiled header) in a few milliseconds. One is kept for each set of words that compilations share.
#pragma once
#include <vector>

#include "driver/process.h"

namespace warpbeam::driver {

// The commands that read the prelude, reading it precompiled where that can be had. Makes what is missing.
std::vector<Command> with_kept_prelude(std::vector<Command> commands, int at_once);

}  // namespace warpbeam::driver
