#pragma once
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// Gives what was inlined from the platform's headers the place in the program that asked for it.
struct OwnPlaces : llvm::PassInfoMixin<OwnPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

// Whether it is written in headers that are no part of the program.
bool is_of_platform(const llvm::Function& f);
bool is_of_platform(const llvm::DILocation* place);

}  // namespace warpbeam::lowering
