// Atomic operations that an assembler gathers: where it sees that all lanes of a warp have one address, it adds their
// values up first and lets one lane do the operation. Addresses say nothing of that: it depends on what the text shows.
#pragma once
#include <vector>

#include "vm/code.h"

namespace warpbeam::observe {

// For each instruction of `code`, whether the vendor's assembler gathers it for a device of compute capability `cc`
// (found by reading what ptxas 13.0 makes of such kernels).
std::vector<char> gathered_atomics(const vm::FunctionCode& code, int cc);

}  // namespace warpbeam::observe
