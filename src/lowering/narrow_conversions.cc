// Floating-point numbers to bytes and shorts, for clang's device pass.
//
// C++ leaves open what `(unsigned char)x` gives where x is out of range. nvcc converts to a whole word, which saturates, and
// keeps its low bits: 65536.0f becomes 0. clang converts to 16 bits at once, which saturate to 65535, so that 255 is left.
#include "lowering/narrow_conversions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace warpbeam::lowering {

llvm::PreservedAnalyses WidenConversions::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::CastInst*, 16> narrow;
  for (llvm::Instruction& i : llvm::instructions(f))
    if ((llvm::isa<llvm::FPToSIInst>(i) || llvm::isa<llvm::FPToUIInst>(i)) && i.getType()->getScalarSizeInBits() < 32) narrow.push_back(llvm::cast<llvm::CastInst>(&i));
  for (llvm::CastInst* conversion : narrow) {
    llvm::IRBuilder<> build(conversion);
    llvm::Type* const word = conversion->getType()->getWithNewBitWidth(32);
    llvm::Value* const whole = build.CreateCast(conversion->getOpcode(), conversion->getOperand(0), word);
    conversion->replaceAllUsesWith(build.CreateTrunc(whole, conversion->getType()));
    conversion->eraseFromParent();
  }
  return narrow.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
