// Registers, which the emitter keeps in variables on the stack, become values.
#pragma once
#include <llvm/IR/Function.h>

namespace warpbeam::jit {

// What LLVM's mem2reg does for variables that are only loaded and stored. For each of them mem2reg goes through all blocks that
// come to lie behind a store; for thousands of registers in thousands of blocks that takes longer than all other passes. Here
// one search finds which blocks want a value from those before them, for all variables at once, bit by bit.
void promote_variables(llvm::Function& function);

}  // namespace warpbeam::jit
