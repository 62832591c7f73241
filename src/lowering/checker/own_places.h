#pragma once
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/PassManager.h>

namespace warpbeam::lowering {

// The column of what stood in a header of CUB's or Thrust's. Nobody else reads columns, and no line is as long.
constexpr unsigned kOfAlgorithm = 0xffff;

// Gives what was inlined from the platform's headers the place in the program that asked for it.
struct OwnPlaces : llvm::PassInfoMixin<OwnPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

llvm::SmallString<256> path_of(const llvm::DIFile& source);

// Whether it is written in headers that are no part of the program.
bool is_of_platform(const llvm::Function& f);
bool is_of_platform(const llvm::DILocation* place);

}  // namespace warpbeam::lowering
