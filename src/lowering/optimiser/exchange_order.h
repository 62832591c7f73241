#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepExchangeOrder : llvm::PassInfoMixin<KeepExchangeOrder> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
