#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs behind the passes that make vectors.
struct SplitUnalignedVectors : llvm::PassInfoMixin<SplitUnalignedVectors> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
