// Functions that device code calls and no PTX text defines: printf, assert, malloc and the mathematical device library.
#pragma once
#include <string_view>

#include "vm/decode.h"

namespace warpbeam::vm {

// Kind Builtin, or Missing.
Resolved find_builtin(std::string_view name);

// What calls of the device library go through.
Builtin library_function_call();

}  // namespace warpbeam::vm
