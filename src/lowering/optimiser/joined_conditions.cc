// Conditions that are one with nvcc.
//
// Idea: `while (n < limit && x * x + y * y < 4)` asks twice in each turn with LLVM, for it takes the second question's operands for too much to
// compute in vain if others read them too. nvcc computes them and branches once. Found with nvcc 13.0 by `if (a && b)` and `while (a && b)` whose
// second condition takes 0 to 12 instructions of integers or floats: it is one branch up to kMost.
// Precondition: nothing in the second block has an effect or may fault, and where both leave the same value goes along.
// Postcondition: the first block has the second one's instructions, and a branch on both conditions. Fallback: LLVM's two branches.
#include "lowering/optimiser/joined_conditions.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "lowering/optimiser/warp_size.h"

namespace warpbeam::lowering {
namespace {

using llvm::BasicBlock;
using llvm::BranchInst;

constexpr unsigned kMost = 4;  // instructions beside comparisons and what joins them

BranchInst* condition_of(BasicBlock* block) {
  auto* const branch = block ? llvm::dyn_cast<BranchInst>(block->getTerminator()) : nullptr;
  return branch && branch->isConditional() ? branch : nullptr;
}

bool few_without_effect(BasicBlock& block) {
  unsigned count = 0;
  for (llvm::Instruction& i : block.instructionsWithoutDebug()) {
    if (i.isTerminator()) continue;
    count += !i.getType()->isIntegerTy(1);
    if (count > kMost || llvm::isa<llvm::PHINode>(i) || i.mayReadFromMemory() || i.getOpcode() == llvm::Instruction::FDiv ||
        !llvm::isSafeToSpeculativelyExecute(&i))
      return false;
  }
  return true;
}

// The same values come to `out` by both ways.
bool alike(BasicBlock& out, const BasicBlock& first, const BasicBlock& second) {
  return llvm::all_of(
      out.phis(), [&](const llvm::PHINode& phi) { return phi.getIncomingValueForBlock(&first) == phi.getIncomingValueForBlock(&second); });
}

// `second` asks whether to go on where `first` has come to: both leave for the same block otherwise.
bool join(BasicBlock& second) {
  BasicBlock* const first = second.getSinglePredecessor();
  BranchInst *const a = condition_of(first), *const b = condition_of(&second);
  if (!a || !b || first == &second || a->getSuccessor(0) == a->getSuccessor(1) || b->getSuccessor(0) == b->getSuccessor(1)) return false;
  const unsigned in = a->getSuccessor(0) == &second ? 0 : 1;
  BasicBlock* const out = a->getSuccessor(1 - in);
  if (out != b->getSuccessor(0) && out != b->getSuccessor(1)) return false;
  const unsigned on = b->getSuccessor(0) == out ? 1 : 0;
  if (b->getSuccessor(on) == first || !few_without_effect(second) || !alike(*out, *first, second)) return false;
  llvm::IRBuilder<> build(b);
  llvm::Value* const goes_in = in == 0 ? a->getCondition() : build.CreateNot(a->getCondition());
  llvm::Value* const goes_on = on == 0 ? b->getCondition() : build.CreateNot(b->getCondition());
  b->setCondition(build.CreateAnd(goes_in, build.CreateFreeze(goes_on)));
  if (on == 1) b->swapSuccessors();
  out->removePredecessor(first);
  BranchInst::Create(&second, a);
  a->eraseFromParent();
  llvm::MergeBlockIntoPredecessor(&second);
  return true;
}

}  // namespace

llvm::PreservedAnalyses JoinConditions::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  if (!is_for_times()) return llvm::PreservedAnalyses::all();
  bool changed = false;
  for (BasicBlock& block : llvm::make_early_inc_range(function)) changed = join(block) || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
