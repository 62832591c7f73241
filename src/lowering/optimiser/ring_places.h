#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct KeepRingPlaces : llvm::PassInfoMixin<KeepRingPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
