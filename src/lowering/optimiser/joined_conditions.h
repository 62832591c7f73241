#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct JoinConditions : llvm::PassInfoMixin<JoinConditions> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
