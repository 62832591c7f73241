// What is still known of a function behind a pass that changes instructions, but not where they branch to.
#pragma once
#include <llvm/IR/Analysis.h>
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

inline llvm::PreservedAnalyses kept_by_change(bool changed) {
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace warpbeam::lowering
