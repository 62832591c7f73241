#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs before anything is optimised.
struct CallMathLibrary : llvm::PassInfoMixin<CallMathLibrary> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
