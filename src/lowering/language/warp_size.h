#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs before anything is optimised.
struct KnowWarpSize : llvm::PassInfoMixin<KnowWarpSize> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace warpbeam::lowering
