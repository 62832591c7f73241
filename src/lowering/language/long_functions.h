#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

bool is_for_host();  // the module is the host pass's

struct LeaveLongFunctions : llvm::PassInfoMixin<LeaveLongFunctions> {
  llvm::PreservedAnalyses run(llvm::Module& m, llvm::ModuleAnalysisManager&);
  static bool isRequired() { return true; }
};

}  // namespace warpbeam::lowering
