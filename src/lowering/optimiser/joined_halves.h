#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct JoinHalves : llvm::PassInfoMixin<JoinHalves> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
