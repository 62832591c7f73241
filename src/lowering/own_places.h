#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Gives what was inlined from the platform's headers the place in the program that asked for it.
struct OwnPlaces : llvm::PassInfoMixin<OwnPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
