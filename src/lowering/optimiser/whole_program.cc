// Functions of device code that no other file can call, for clang's device pass.
//
// Without -rdc nvcc sees the whole program: whatever is not a kernel is called from this file or not at all. So it inlines a
// function with one call, however large it is, and shared memory behind a `this` is known to be shared memory. clang
// leaves inline functions and instances of templates open to other files, and inlines them only while they are small.
#include "lowering/optimiser/whole_program.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> whole_program("warpbeam-whole-program", llvm::cl::desc("Device code that is not linked with any other"));

using Functions = llvm::SmallPtrSet<const llvm::GlobalValue*, 16>;

void add_kernels(const llvm::Module& module, Functions& called_from_outside) {
  const llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  for (const llvm::MDNode* of_one : annotations->operands())
    if (of_one->getNumOperands() > 1)
      if (const auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(of_one->getOperand(0)))
        called_from_outside.insert(function);
}

}  // namespace

llvm::PreservedAnalyses WholeProgram::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!whole_program) return llvm::PreservedAnalyses::all();
  Functions called_from_outside;
  add_kernels(module, called_from_outside);
  llvm::SmallVector<llvm::GlobalValue*, 16> used;
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/false);
  llvm::collectUsedGlobalVariables(module, used, /*CompilerUsed=*/true);
  called_from_outside.insert(used.begin(), used.end());
  for (llvm::Function& f : module) {
    if (f.isDeclarationForLinker() || f.hasLocalLinkage() || called_from_outside.contains(&f)) continue;
    f.setComdat(nullptr);
    f.setVisibility(llvm::GlobalValue::DefaultVisibility);
    f.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
