#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct FoldKnownSpaces : llvm::PassInfoMixin<FoldKnownSpaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
