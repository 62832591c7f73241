// Ways through a function: what a thread may execute behind an instruction.
#pragma once
#include "vm/code.h"

namespace warpbeam::observe::check {

// One line of the source may be several instructions: its loop was unrolled.
bool same_line(const vm::Insn& a, const vm::Insn& b);

// Threads that ended were at `last` before, which is the same line of the source as `barrier`, where others come once more.
// Either they left a loop whose every round meets the barrier, or a round may go around it. True for the latter, also where
// the compiler has unrolled the loop.
bool may_go_around(const vm::FunctionCode& function, const vm::Insn& barrier, const vm::Insn& last);

// Do they belong to the rounds of one loop?
bool in_one_loop(const vm::FunctionCode& function, const vm::Insn& a, const vm::Insn& b);

}  // namespace warpbeam::observe::check
