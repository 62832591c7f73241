#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct FreePlainAssembly : llvm::PassInfoMixin<FreePlainAssembly> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
