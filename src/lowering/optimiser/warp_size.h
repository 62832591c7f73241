#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// What is compiled is to tell how long a GPU takes.
bool is_for_times();

// Runs before anything is optimised.
struct KnowWarpSize : llvm::PassInfoMixin<KnowWarpSize> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
  static bool isRequired() { return true; }
};

}  // namespace warpbeam::lowering
