// A kernel with the functions that it calls in the places of their calls, for engines that know no calls.
#pragma once
#include <memory>

#include "vm/code.h"

namespace warpbeam::vm {

// Local memory is laid out as if the calls were made, so that addresses and what they overlap are the same. Calls that
// remain, recursion above all, are instructions as before. Null: no call could be replaced.
std::unique_ptr<FunctionCode> flatten(const FunctionCode& kernel, const Program::Image& image);

}  // namespace warpbeam::vm
