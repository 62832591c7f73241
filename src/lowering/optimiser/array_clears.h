#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct ClearArrays : llvm::PassInfoMixin<ClearArrays> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
