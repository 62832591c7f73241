// warpSize.
//
// nvcc's optimiser does not know it: loops over a warp's halves are not unrolled, x / warpSize is a division like any other, and so
// a GPU executes it. To run fast here it is 32; what predicts or counts what a GPU does asks for nvcc's code
// (-warpbeam-for-times).
#include "lowering/optimiser/warp_size.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> for_times("warpbeam-for-times", llvm::cl::desc("Code as nvcc makes it where other code would be faster here"));

void read_from_register(llvm::Value& variable) {
  llvm::SmallVector<llvm::User*, 16> users(variable.users());
  for (llvm::User* user : users) {
    if (auto* const other = llvm::dyn_cast<llvm::ConstantExpr>(user)) {
      read_from_register(*other);
    } else if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      llvm::IRBuilder<> before(load);
      load->replaceAllUsesWith(before.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_warpsize, {}, {}));
      load->eraseFromParent();
    }
  }
}

}  // namespace

bool is_for_times() { return for_times; }

llvm::PreservedAnalyses KnowWarpSize::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::GlobalVariable* const variable = module.getGlobalVariable("warpSize");
  if (!variable || !variable->isDeclaration()) return llvm::PreservedAnalyses::all();
  if (for_times) read_from_register(*variable);
  variable->setInitializer(llvm::ConstantInt::get(variable->getValueType(), 32));
  variable->setLinkage(llvm::GlobalValue::InternalLinkage);
  variable->setConstant(true);
  variable->setExternallyInitialized(false);
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
