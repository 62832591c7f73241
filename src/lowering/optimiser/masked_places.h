#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct MaskPlaces : llvm::PassInfoMixin<MaskPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
