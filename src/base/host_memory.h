// What the host could give to a process that asks for memory.
#pragma once
#include <cstdint>

namespace warpbeam {

// Bytes available now, with swap, within the limits of the control groups that the process is in.
uint64_t available_host_memory();

}  // namespace warpbeam
