#pragma once
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Before the optimiser: divisors are shown to it as values of which nothing is known.
struct HideDivisors : llvm::PassInfoMixin<HideDivisors> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// Whenever more has become known: all are shown again but those that only a loop makes powers of two.
struct ShowDivisors : llvm::PassInfoMixin<ShowDivisors> {
  explicit ShowDivisors(bool all = false) : all(all) {}
  bool all;
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
