// Which rows of the instruction table compiled code is written for: by opcode, and by the words of the syntax line, each of which it has
// to understand. Any other row is foreign: the interpreter's handler does it for the lanes that come there (Emitter::emit_foreign), and of
// what it does only the row's effects are known. So a row that is new to the table runs compiled as it is.
#pragma once
#include <string_view>

#include "vm/code.h"

namespace warpbeam::jit {

bool is_written_for(const isa::Row& row);

// WARPBEAM_JIT_WITHOUT names what the engine does without: opcodes whose rows are foreign then (a wrong one is found by halving), `rows`
// (all of them), `shapes` (values of known stride), `uniform` (values that are the same in all lanes), `cache` (host code kept on disk),
// and what else the code asks for.
bool left_out(std::string_view what);

// Null: a step that no row describes, or a foreign row.
const isa::Row* known_row(const vm::Insn& insn);
inline bool is_foreign(const vm::Insn& insn) { return insn.row() && !known_row(insn); }

}  // namespace warpbeam::jit
