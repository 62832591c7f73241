// Loops of unknown length, for clang's device pass.
//
// nvcc unrolls by four where the number of rounds is cheap to find, as in `for (i = tid; i < n; i += 256)`, and not where that
// takes a division by something unknown, as with a step of blockDim.x. It shows in what the profiler counts: lanes with four
// rounds and lanes with three go through different code. For clang a division is as cheap as a sum on GPUs.
#include "lowering/optimiser/loop_lengths.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace warpbeam::lowering {

llvm::PreservedAnalyses KeepUnknownLengths::run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater&) {
  if (llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified) return llvm::PreservedAnalyses::all();  // the program's own word counts
  const bool divides = llvm::SCEVExprContains(known.SE.getBackedgeTakenCount(&loop), [](const llvm::SCEV* part) {
    const auto* quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(part);
    return quotient && !llvm::isa<llvm::SCEVConstant>(quotient->getRHS());
  });
  if (divides) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable");
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
