#pragma once
#include <string>

#include "vm/warp.h"

namespace warpbeam::vm {

// Formats as the device's printf: `format` and `arguments` are generic addresses in the given lane's view.
std::string format_device_printf(Warp& w, const Insn& i, int lane, uint64_t format, uint64_t arguments, int* count);
// A NUL-terminated string at a generic address.
std::string read_string(Warp& w, const Insn& i, int lane, uint64_t address);

}  // namespace warpbeam::vm
