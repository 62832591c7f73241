#pragma once
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace warpbeam::lowering {

// Does the loop count through an array of the thread's own?
bool counts_through_an_array(const llvm::Loop& loop, llvm::ScalarEvolution& evolution);

struct UnrollOverArrays : llvm::PassInfoMixin<UnrollOverArrays> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses, llvm::LoopStandardAnalysisResults& known,
                              llvm::LPMUpdater& updater);
};

}  // namespace warpbeam::lowering
