// The prelude of CUDA sources, compiled ahead. Small programs are little beside it: clang reads it in about half a second, and
// what it has read (a precompiled header) in a few milliseconds. One is kept for each set of words that compilations share,
// from the second one on: whoever compiles once does not wait for it. Those that most programs have are made when this
// toolchain is built. Sources that begin with headers of Thrust's or CUB's have those read ahead, too (include/warpbeam/libraries.cu):
// ten seconds of a processor for a program of ten lines, three with it.
#pragma once
#include <vector>

#include "compiler/process.h"

namespace warpbeam::compiler {

// As run_commands, where commands that read the prelude read it precompiled if that can be had. Makes what is wanted again.
std::vector<Outcome> run_with_kept_prelude(const std::vector<Command>& commands, int at_once);

}  // namespace warpbeam::compiler
