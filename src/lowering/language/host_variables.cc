// `static __constant__` and `static __device__` variables, which the host may write by their name.
//
// No other file sees such a variable, so that LLVM takes one which device code never writes for a constant. But the host finds it in
// the module that has been loaded (cuModuleGetGlobal, a name that NVRTC lowered), and writes it; nvcc keeps it. What is const, and
// what belongs to a function, the host cannot mean.
//
// Nor do stores to shared memory that nobody reads vanish where the checker is to see them.
#include "lowering/language/host_variables.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {

llvm::PreservedAnalyses KeepHostVariables::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3, kConstantSpace = 4;
  llvm::SmallVector<llvm::GlobalValue*, 8> kept;
  for (llvm::GlobalVariable& v : module.globals()) {
    const unsigned space = v.getAddressSpace();
    if (space == kSharedSpace && is_for_checker() && v.hasLocalLinkage()) kept.push_back(&v);
    if (!v.hasInternalLinkage() || v.isConstant() || (space != kGlobalSpace && space != kConstantSpace)) continue;
    const llvm::StringRef name = v.getName();
    if (name.starts_with("_ZZ") || name.contains('.')) continue;  // of a function, or of the compiler's
    v.setExternallyInitialized(true);
    kept.push_back(&v);
  }
  if (kept.empty()) return llvm::PreservedAnalyses::all();
  llvm::appendToCompilerUsed(module, kept);
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
