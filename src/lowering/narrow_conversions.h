#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct WidenConversions : llvm::PassInfoMixin<WidenConversions> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
