#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepIndexLoads : llvm::PassInfoMixin<KeepIndexLoads> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
