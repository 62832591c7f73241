#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Lets the checker see, when a kernel runs, that a variable is used before it has a value.
struct WatchUnsetVariables : llvm::PassInfoMixin<WatchUnsetVariables> {
  llvm::PreservedAnalyses run(llvm::Module&, llvm::ModuleAnalysisManager&);
};

// When everything else is done: makes of what is left of it loads that the checker sees.
struct ShowUnsetVariables : llvm::PassInfoMixin<ShowUnsetVariables> {
  llvm::PreservedAnalyses run(llvm::Module&, llvm::ModuleAnalysisManager&);
};

// Whether the code is for the checker.
bool is_for_checker();

}  // namespace warpbeam::lowering
