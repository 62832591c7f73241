// Whole numbers as words of something longer, and as bytes; of lanes or of one value.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <utility>
#include <vector>

#include "vm/code.h"

namespace warpbeam::jit {

llvm::Value* permute_bytes(llvm::IRBuilder<>& b, llvm::Value* a, llvm::Value* c, llvm::Value* selectors);

// Sums and differences of long numbers, word by word, and the flag behind them; the last operand is the flag.
// Subtraction's flag says "no borrow".
std::pair<llvm::Value*, llvm::Value*> with_carry(llvm::IRBuilder<>& b, const vm::Insn& i, const std::vector<llvm::Value*>& o);

}  // namespace warpbeam::jit
