// Functions that stay behind their condition, where a GPU's times are asked for.
//
// Idea: of `d < 0 ? far : -b - sqrtf(d)` LLVM computes the root for all and chooses, as if it were one instruction. To nvcc's optimiser it is a call,
// which it leaves where it is: lanes branch around a dozen instructions. Found with nvcc 13.0 by `if (x < b) t = f(x);` for 27 functions.
// Postcondition: LLVM computes them nowhere but where the program does. Fallback: roots that it makes later may move.
#include "lowering/optimiser/kept_calls.h"

#include <llvm/IR/Module.h>

#include "lowering/optimiser/warp_size.h"

namespace warpbeam::lowering {

llvm::PreservedAnalyses KeepCalls::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!is_for_times()) return llvm::PreservedAnalyses::all();
  for (llvm::Function& function : module) switch (function.getIntrinsicID()) {
      case llvm::Intrinsic::sqrt:
      case llvm::Intrinsic::fabs:
      case llvm::Intrinsic::floor:
      case llvm::Intrinsic::ctlz:
      case llvm::Intrinsic::ctpop: function.removeFnAttr(llvm::Attribute::Speculatable); break;
      default: break;
    }
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
