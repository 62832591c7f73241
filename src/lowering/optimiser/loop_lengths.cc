// Loops of unknown length, for clang's device pass.
//
// nvcc unrolls by four where the number of rounds is cheap to find, as in `for (i = tid; i < n; i += 256)`. Where that takes a division by
// something unknown it does so only if the counter cannot wrap by the rules of the language: `int stride; i += stride` does not,
// `i += blockDim.x` is a sum of unsigned numbers, which may. It shows in what the profiler counts (lanes with four rounds and lanes with three go
// through different code) and in time (four loads on their way instead of one). clang takes any loop to end some time, and unrolls both.
//
// Where part of a body wants `i + 1` (`if (t <= i) a[i * (i + 1) / 2 + t] = …`), clang makes it once for each way through the body instead of once more at
// the end: the counter is then one of several sums, of which nothing is known. Made at the beginning, there is one.
#include "lowering/optimiser/loop_lengths.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace warpbeam::lowering {
namespace {

constexpr const char* kUnwrapping = "warpbeam.unwrapping";

// The sum by which the loop counts to its end, if it must not wrap and its step is unknown.
llvm::BinaryOperator* unwrapping_count(const llvm::Loop& loop) {
  const llvm::BasicBlock* const latch = loop.getLoopLatch();
  if (!latch || loop.getExitingBlock() != latch) return nullptr;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  const auto* end = branch && branch->isConditional() ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!end || !end->isSigned()) return nullptr;
  for (llvm::Value* side : end->operands()) {
    auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(side);
    if (!sum || sum->getOpcode() != llvm::Instruction::Add || !sum->hasNoSignedWrap() || !sum->hasMetadata(kUnwrapping)) continue;
    const auto* counter = llvm::dyn_cast<llvm::PHINode>(sum->getOperand(0));
    if (counter && counter->getParent() == loop.getHeader() && !llvm::isa<llvm::Constant>(sum->getOperand(1)) &&
        loop.isLoopInvariant(sum->getOperand(1)))
      return sum;
  }
  return nullptr;
}

// Does part of the loop's body make this sum, too?
bool wanted_elsewhere(const llvm::BinaryOperator& sum, const llvm::Loop& loop) {
  return llvm::any_of(sum.getOperand(0)->users(), [&](const llvm::User* user) {
    const auto* other = llvm::dyn_cast<llvm::BinaryOperator>(user);
    return other && other != &sum && other->getOpcode() == llvm::Instruction::Add && other->getOperand(0) == sum.getOperand(0) &&
           other->getOperand(1) == sum.getOperand(1) && other->getParent() != sum.getParent() && loop.contains(other);
  });
}

}  // namespace

llvm::PreservedAnalyses CountFirst::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    llvm::BasicBlock* const latch = loop->getLoopLatch();
    if (!latch) continue;
    for (llvm::PHINode& counter : loop->getHeader()->phis()) {
      auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(counter.getIncomingValueForBlock(latch));
      if (!sum || sum->getOpcode() != llvm::Instruction::Add || sum->getOperand(0) != &counter ||
          !llvm::isa<llvm::ConstantInt>(sum->getOperand(1)) || sum->getParent() == loop->getHeader() || !wanted_elsewhere(*sum, *loop))
        continue;
      sum->moveBefore(&*loop->getHeader()->getFirstInsertionPt());
      changed = true;
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

llvm::PreservedAnalyses MarkUnwrapping::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (i.getOpcode() == llvm::Instruction::Add && i.hasNoSignedWrap()) i.setMetadata(kUnwrapping, llvm::MDNode::get(i.getContext(), {}));
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses KeepUnknownLengths::run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& known,
                                                llvm::LPMUpdater&) {
  if (llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified) return llvm::PreservedAnalyses::all();  // the program's own word counts
  if (llvm::BinaryOperator* sum = unwrapping_count(loop); sum && loop.getLoopPreheader()) {
    // A step below one would never come to the end without wrapping. (Positive it is not known to be, as blockDim.x * gridDim.x may wrap.)
    llvm::IRBuilder<> before(loop.getLoopPreheader()->getTerminator());
    llvm::Value* const step = sum->getOperand(1);
    if (!known.SE.isKnownPositive(known.SE.getSCEV(step))) {
      sum->setOperand(1, before.CreateBinaryIntrinsic(llvm::Intrinsic::smax, step, llvm::ConstantInt::get(step->getType(), 1)));
      known.SE.forgetLoop(&loop);
    }
    return llvm::PreservedAnalyses::all();
  }
  const bool divides = llvm::SCEVExprContains(known.SE.getBackedgeTakenCount(&loop), [](const llvm::SCEV* part) {
    const auto* quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(part);
    return quotient && !llvm::isa<llvm::SCEVConstant>(quotient->getRHS());
  });
  if (divides) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable");
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
