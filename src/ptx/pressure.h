// How many registers a thread of a function needs, without assigning any.
#pragma once
#include <cstdint>

#include "ptx/module.h"

namespace warpbeam::ptx {

// The most 32-bit registers that are live at one place. Values that a real assembler reads from the constant bank or
// writes into an instruction (parameters, numbers, addresses of symbols) and predicates count nothing.
uint32_t register_pressure(const Function& f);

// What an assembler would report for a kernel that needs `pressure` registers at once, it or what it calls. An estimate:
// assemblers trade registers for latency. Honours .maxnreg, .maxntid and .minnctapersm as they do, by spilling.
uint32_t estimate_registers(const Function& kernel, uint32_t pressure, bool calls, uint32_t max_per_thread, uint32_t per_block);

}  // namespace warpbeam::ptx
