// Machine code for people and tests.
#pragma once
#include <string>

#include "assembly/machine_code.h"

namespace warpbeam::assembly {

// "@P0 IMAD.WIDE R2, R3, R4": what is written comes first; R, P and UR are the banks.
std::string text_of(const MachineInstruction& i);
std::string text_of(const MachineCode& code);  // a line per instruction, blocks apart

}  // namespace warpbeam::assembly
