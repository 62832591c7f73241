// From a parsed function to code the interpreter walks.
#pragma once
#include <functional>

#include "ptx/module.h"
#include "vm/code.h"

namespace warpbeam::vm {

// What a name outside the function stands for; answers come from the linker (program.cc).
struct Resolved {
  enum Kind : uint8_t { Missing, Address, Shared, Function, Builtin } kind = Missing;
  uint64_t address = 0;         // Address: of a variable; Function: its code address
  uint32_t shared = 0;          // index into Image::shared_variables
  const FunctionCode* function = nullptr;
  bool runtime = false;           // Builtin: of the device runtime
  vm::Builtin builtin = nullptr;  // Function: what a call of a kernel does
  const void* builtin_data = nullptr;
};
using Resolve = std::function<Resolved(const std::string& name)>;

// Does the instruction see what other threads do, so that a loop with it may wait for them? Calls of named functions are
// as their bodies: FunctionCode::may_wait.
bool may_wait(const ptx::Instruction& instruction);

// Fills `code` (name and source are set). Appends what is wrong to `errors`.
void decode(FunctionCode& code, const Resolve& resolve, std::vector<ptx::Diagnostic>& errors);

// The order in which a function's basic blocks are laid out: see warp.h. `successors[b]` lists block b's successors,
// the entry is block 0; unreachable blocks are left out.
std::vector<uint32_t> order_blocks(const std::vector<std::vector<uint32_t>>& successors);

}  // namespace warpbeam::vm
