#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepReloads : llvm::PassInfoMixin<KeepReloads> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
