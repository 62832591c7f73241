#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

struct CopyWrittenParameters : llvm::PassInfoMixin<CopyWrittenParameters> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

// Undoes it where inlining has shown that nothing is changed: a parameter that is only read, at whatever places, is read where it is.
struct ForgetUnwrittenCopies : llvm::PassInfoMixin<ForgetUnwrittenCopies> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
