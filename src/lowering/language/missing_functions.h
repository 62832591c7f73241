#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs last: what the optimiser left out is not missed.
struct TellMissingFunctions : llvm::PassInfoMixin<TellMissingFunctions> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
