#pragma once
#include <llvm/IR/PassInstrumentation.h>

namespace warpbeam::lowering {

// For the whole pipeline.
void keep_stores_apart(llvm::PassInstrumentationCallbacks& passes);

}  // namespace warpbeam::lowering
