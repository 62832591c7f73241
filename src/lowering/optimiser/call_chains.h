#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct JoinCallChains : llvm::PassInfoMixin<JoinCallChains> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
