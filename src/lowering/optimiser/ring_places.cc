// Places in rings, for clang's device pass.
//
// `tile[k % 3][row][column]` is one place and constant distances from it. Scalar evolution writes `k % 3` as `k - k / 3 * 3`, and strength
// reduction then has the first part count along and takes the second from each distance: a product of matrices with three tiles in turn
// executed 687 instructions a tile instead of 325. So the remainder is one value that nobody looks into, from the end of the optimiser on.
#include "lowering/optimiser/ring_places.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

namespace warpbeam::lowering {

llvm::PreservedAnalyses KeepRingPlaces::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallVector<llvm::BinaryOperator*, 4> remainders;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (auto* r = llvm::dyn_cast<llvm::BinaryOperator>(&i);
        r && (r->getOpcode() == llvm::Instruction::URem || r->getOpcode() == llvm::Instruction::SRem))
      if (llvm::isa<llvm::ConstantInt>(r->getOperand(1)) && loops.getLoopFor(r->getParent())) remainders.push_back(r);
  for (llvm::BinaryOperator* r : remainders) {
    auto* whole = llvm::cast<llvm::Instruction>(llvm::IRBuilder<>(r->getNextNode()).CreateFreeze(r));
    r->replaceUsesWithIf(whole, [&](const llvm::Use& use) { return use.getUser() != whole; });
  }
  return remainders.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
