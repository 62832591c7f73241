#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Reads members of a vector that stand apart in one access.
struct WholeLoads : llvm::PassInfoMixin<WholeLoads> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
