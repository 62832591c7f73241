#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// For the checker, when everything else is done: puts margins around a thread's own arrays, and says where they are.
struct LocalMargins : llvm::PassInfoMixin<LocalMargins> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
