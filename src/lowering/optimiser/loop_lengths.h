#pragma once
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace warpbeam::lowering {

struct KeepUnknownLengths : llvm::PassInfoMixin<KeepUnknownLengths> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses, llvm::LoopStandardAnalysisResults& known, llvm::LPMUpdater& updater);
};

}  // namespace warpbeam::lowering
