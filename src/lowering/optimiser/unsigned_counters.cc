// Places in memory by unsigned counters, for clang's device pass.
//
// Idea: `for (unsigned e = begin; e < end; e++) s += a[e]` may begin again at zero by the rules of the language. nvcc's optimiser leaves it at that:
// each turn makes its places from the counter (mul.wide.u32), and a[i + 1] is a place of its own. This LLVM finds out that the counter
// does not wrap, and leads pointers along.
// Precondition: code for a GPU's times (is_for_times); an extension of a counter, or of a sum with one, whose sign nobody knows.
// Postcondition: what comes next does not look into the counter.
// Fallback: none is needed, the code is what it was.
#include "lowering/optimiser/unsigned_counters.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "lowering/optimiser/warp_size.h"

namespace warpbeam::lowering {
namespace {

bool may_wrap(const llvm::Value& index) {
  if (const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&index))
    return sum->getOpcode() == llvm::Instruction::Add && !sum->hasNoSignedWrap() && llvm::isa<llvm::ConstantInt>(sum->getOperand(1));
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(&index);
  return phi && llvm::any_of(phi->incoming_values(), [&](const llvm::Value* v) {
           const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(v);
           return sum && sum->getOpcode() == llvm::Instruction::Add && !sum->hasNoSignedWrap() && llvm::is_contained(sum->operands(), phi);
         });
}

}  // namespace

llvm::PreservedAnalyses KeepUnsignedCounters::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (!is_for_times()) return llvm::PreservedAnalyses::all();
  bool changed = false;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    auto* const wider = llvm::dyn_cast<llvm::ZExtInst>(&i);
    if (!wider || wider->hasNonNeg() || !wider->getSrcTy()->isIntegerTy(32) || !wider->getDestTy()->isIntegerTy(64)) continue;
    if (!may_wrap(*wider->getOperand(0))) continue;
    wider->setOperand(0, llvm::IRBuilder<>(wider).CreateFreeze(wider->getOperand(0)));
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
