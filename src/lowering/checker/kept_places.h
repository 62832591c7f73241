#pragma once
#include <llvm/IR/PassManager.h>

namespace llvm {
class PassInstrumentationCallbacks;
}

namespace warpbeam::lowering {

// For the checker: has each access keep its line, whatever the optimiser's passes do with it.
void keep_places(llvm::PassInstrumentationCallbacks& passes);

// When everything else is done: accesses that have no line still get that of what they work with.
struct GuessPlaces : llvm::PassInfoMixin<GuessPlaces> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace warpbeam::lowering
