#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// For the checker: accesses past the end of a thread's own array, while the array is still one.
struct ShowOutsideArrays : llvm::PassInfoMixin<ShowOutsideArrays> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
