// The chapters of lane rows, each compiled in a file of its own, and the handlers of the kinds that choose per
// instruction.
#pragma once
#include "vm/code.h"

namespace warpbeam::vm {

void add_integer_handlers();
void add_logic_handlers();
void add_float_handlers();
void add_half_handlers();
void add_approx_handlers();
void add_dot_handlers();

Handler select_convert(const ptx::Instruction& instruction, const ptx::Function& function);
Handler select_compare(const ptx::Instruction& instruction, const ptx::Function& function);
Handler select_select(const ptx::Instruction& instruction, const ptx::Function& function);
Handler select_carry(const ptx::Instruction& instruction, const ptx::Function& function);
Handler select_video(const ptx::Instruction& instruction, const ptx::Function& function);

}  // namespace warpbeam::vm
