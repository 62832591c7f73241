#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct WidenConversions : llvm::PassInfoMixin<WidenConversions> {
  static bool isRequired() { return true; }  // also of code that is not optimised
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
