// Long chains of functions that are called once: a template that unrolls 500 steps by calling itself with N - 1.
//
// Idea: LLVM's inliner goes from the innermost function outwards and optimises each with all that it has taken in so far, so
// a chain of n functions takes time by the square of n (four of 500: a minute). Here they become one function first, from the
// outermost inwards, so that each body is copied once, and the optimiser sees the whole once.
// Precondition: local linkage and one call, where the inliner would follow as well, at any size.
// Postcondition: no chain is longer than kLongest. Fallback: functions that may not be inlined stay, and so do shorter chains.
#include "lowering/optimiser/call_chains.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <vector>

namespace warpbeam::lowering {
namespace {

// Measured: four chains of 125 functions take LLVM a second.
constexpr unsigned kLongest = 64;

llvm::CallInst* only_call(llvm::Function& f) {
  if (f.isDeclaration() || !f.hasLocalLinkage() || !f.hasOneUse() || f.hasFnAttribute(llvm::Attribute::NoInline)) return nullptr;
  auto* call = llvm::dyn_cast<llvm::CallInst>(*f.user_begin());
  return call && call->getCalledFunction() == &f && !call->isNoInline() ? call : nullptr;
}

// How many calls lead from the outermost function of its chain to this one; none where functions call each other in a ring.
unsigned depth(llvm::Function& f, unsigned most) {
  unsigned calls = 0;
  for (llvm::CallInst* call = only_call(f); call; call = only_call(*call->getFunction()))
    if (++calls > most) return 0;
  return calls;
}

void join(llvm::CallInst& call, llvm::Function& callee) {
  if (!llvm::AttributeFuncs::areInlineCompatible(*call.getFunction(), callee) || !llvm::isInlineViable(callee).isSuccess()) return;
  llvm::InlineFunctionInfo info;
  if (llvm::InlineFunction(call, info, /*MergeAttributes=*/true).isSuccess()) callee.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses JoinCallChains::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  const unsigned most = module.size();
  std::map<unsigned, std::vector<llvm::Function*>> links;  // by their depth
  llvm::SmallPtrSet<llvm::Function*, 16> seen;
  for (llvm::Function& innermost : module) {
    unsigned level = depth(innermost, most);
    if (level <= kLongest) continue;
    for (llvm::Function* f = &innermost; level > 0 && seen.insert(f).second; f = only_call(*f)->getFunction()) links[level--].push_back(f);
  }
  for (auto& [level, functions] : links)
    for (llvm::Function* f : functions)
      if (llvm::CallInst* call = only_call(*f)) join(*call, *f);
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
