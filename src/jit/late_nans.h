// Doubles whose NaNs are looked for late.
#pragma once
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace warpbeam::jit {

// Marks an operation on doubles, scalars or vectors, that gives a NaN whenever an operand in `order` is one. What it gives is right but for
// the bits of that NaN, which are those of the first NaN in `order`.
void mark_late_nan(llvm::Instruction& operation, llvm::ArrayRef<unsigned> order);

// What it gives with the right bits.
llvm::Value* with_nan_bits(llvm::IRBuilderBase& b, llvm::Value* result, llvm::ArrayRef<llvm::Value*> operands,
                           llvm::ArrayRef<unsigned> order);

// Idea: a GPU's NaN has the bits of one operand, in an order that no host's instruction knows, so whoever wants them right has to look
// for NaNs after each operation: more instructions than the operation. But a NaN shows only where its bits leave arithmetic, all that is
// computed of it is a NaN as well, and NaNs are rare. So the marked operations of a block of code, and what is made of them, run as the
// host does them, up to the first that cannot be done again (a store, say, or the branch at the end). There one look at those results
// that no further operation has taken in tells whether all of them were numbers.
// Precondition: registers are values (promote.h); `lanes` doubles are a register of the host's.
// Postcondition: no operation is marked, and all bits are a GPU's.
// Fallback: where they were not all numbers, the same is computed once more from the same operands, with the bits of a GPU.
void look_for_nans_late(llvm::Function& function, unsigned lanes);

}  // namespace warpbeam::jit
