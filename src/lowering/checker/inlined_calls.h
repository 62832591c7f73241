#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// For the checker, before anything is inlined: notes the mangled names of functions, which tell overloads and instances apart.
struct NameFunctions : llvm::PassInfoMixin<NameFunctions> {
  llvm::PreservedAnalyses run(llvm::Module&, llvm::ModuleAnalysisManager&);
};

// When everything else is done: writes into the code through which calls what was inlined came where it is.
struct NumberCalls : llvm::PassInfoMixin<NumberCalls> {
  llvm::PreservedAnalyses run(llvm::Module&, llvm::ModuleAnalysisManager&);
};

}  // namespace warpbeam::lowering
