#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Lets the checker see, when a kernel runs, that a variable is used before it has a value.
struct WatchUnsetVariables : llvm::PassInfoMixin<WatchUnsetVariables> {
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&);
};

// Whether the code is for the checker.
bool is_for_checker();

}  // namespace warpbeam::lowering
