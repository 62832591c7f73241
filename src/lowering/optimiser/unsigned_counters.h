#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepUnsignedCounters : llvm::PassInfoMixin<KeepUnsignedCounters> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
