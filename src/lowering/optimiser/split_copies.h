#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct SplitCopies : llvm::PassInfoMixin<SplitCopies> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&);
};

// What accesses say of their types was wanted for the copies alone: CUDA programs look at memory as other types.
struct ForgetTypes : llvm::PassInfoMixin<ForgetTypes> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace warpbeam::lowering
