// Elements that a loop reaches from one place, at constant distances.
#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct WidenIndices : llvm::PassInfoMixin<WidenIndices> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
