#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct WholeProgram : llvm::PassInfoMixin<WholeProgram> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
