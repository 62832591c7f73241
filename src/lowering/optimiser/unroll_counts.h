#pragma once
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

namespace warpbeam::lowering {

class ChooseUnrollCounts : public llvm::PassInfoMixin<ChooseUnrollCounts> {
 public:
  explicit ChooseUnrollCounts(bool last = false) : last_(last) {}
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses, llvm::LoopStandardAnalysisResults& known,
                              llvm::LPMUpdater& updater);

 private:
  bool last_;
};

// Barriers that were hidden from LLVM's unrolling are barriers again.
struct ShowBarriers : llvm::PassInfoMixin<ShowBarriers> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Functions that are a few instructions with nvcc do not keep loops as they are.
struct FreeShortFunctions : llvm::PassInfoMixin<FreeShortFunctions> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
