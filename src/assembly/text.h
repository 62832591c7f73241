// Machine code for people and tests.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "assembly/machine_code.h"

namespace warpbeam::assembly {

// "@P0 IMAD.WIDE R2, R3, R4": what is written comes first; R, P and UR are the banks.
std::string text_of(const MachineInstruction& i);
std::string text_of(const MachineCode& code);  // a line per instruction, blocks apart

// How long instructions wait at least for those before them in the same block, when there is one warp.
struct Wait {
  uint32_t cycles = 1;
  std::string_view on;  // the operation it waits for, when that takes no fixed time
};
std::vector<Wait> waits_of(const MachineText& text);

}  // namespace warpbeam::assembly
