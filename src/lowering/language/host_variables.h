#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepHostVariables : llvm::PassInfoMixin<KeepHostVariables> {
  static llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
};

}  // namespace warpbeam::lowering
