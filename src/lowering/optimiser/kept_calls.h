#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepCalls : llvm::PassInfoMixin<KeepCalls> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
