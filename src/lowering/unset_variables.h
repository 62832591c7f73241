#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Lets the checker see, when a kernel runs, that a variable is used before it has a value.
struct WatchUnsetVariables : llvm::PassInfoMixin<WatchUnsetVariables> {
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&);
};

}  // namespace warpbeam::lowering
