#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs last: what the optimiser knows is converted by then.
struct ConvertWideIntegers : llvm::PassInfoMixin<ConvertWideIntegers> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
