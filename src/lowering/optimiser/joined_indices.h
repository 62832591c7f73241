#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct JoinIndices : llvm::PassInfoMixin<JoinIndices> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
