// Inline assembly that lanes execute each for itself, as the arithmetic of halves in cuda_fp16.h.
//
// Idea: clang takes every `asm` of device code for one that lanes meet at and that may never end, so that loops around it are not unrolled and the two
// loads of a `half2` whose halves are converted are not one; nvcc unrolls and joins them.
// Precondition: it is not volatile, and its text has no instruction by which lanes know of each other. Fallback: lanes meet at it.
#include "lowering/optimiser/plain_assembly.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>

#include <algorithm>

namespace warpbeam::lowering {
namespace {

bool lanes_meet_at(llvm::StringRef text) {
  constexpr const char* kTogether[] = {"bar", "shfl",     "vote",     "activemask",     "match", "redux", "elect",      "mma",
                                       "cp.", "ldmatrix", "stmatrix", "griddepcontrol", "exit",  "trap",  "setmaxnreg", "call"};
  return std::ranges::any_of(kTogether, [&](const char* name) { return text.contains(name); });
}

}  // namespace

llvm::PreservedAnalyses FreePlainAssembly::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call || !call->isInlineAsm() || !call->hasFnAttr(llvm::Attribute::Convergent)) continue;
    const auto* text = llvm::cast<llvm::InlineAsm>(call->getCalledOperand());
    if (text->hasSideEffects() || lanes_meet_at(text->getAsmString())) continue;
    call->removeFnAttr(llvm::Attribute::Convergent);
    call->addFnAttr(llvm::Attribute::WillReturn);
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
