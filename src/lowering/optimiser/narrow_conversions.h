#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Before the optimiser, and behind it. Both also for code that is not optimised.
struct WidenConversions : llvm::PassInfoMixin<WidenConversions> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};
struct PlainConversions : llvm::PassInfoMixin<PlainConversions> {
  static bool isRequired() { return true; }
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
