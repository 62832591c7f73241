#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct JoinStores : llvm::PassInfoMixin<JoinStores> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
