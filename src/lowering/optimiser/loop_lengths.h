#pragma once
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace warpbeam::lowering {

// Marks the sums that must not wrap by the rules of the language, before the optimiser finds out the same of others.
struct MarkUnwrapping : llvm::PassInfoMixin<MarkUnwrapping> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

struct KeepUnknownLengths : llvm::PassInfoMixin<KeepUnknownLengths> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses, llvm::LoopStandardAnalysisResults& known,
                              llvm::LPMUpdater& updater);
};

// A loop that counts where not every way through its body needs the sum counts at its beginning.
struct CountFirst : llvm::PassInfoMixin<CountFirst> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
