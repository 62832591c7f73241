#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct CopyWrittenParameters : llvm::PassInfoMixin<CopyWrittenParameters> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
