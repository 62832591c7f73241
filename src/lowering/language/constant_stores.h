#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Runs before anything is optimised, and last: the optimiser sees what inlined functions store to.
struct TellConstantStores : llvm::PassInfoMixin<TellConstantStores> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
