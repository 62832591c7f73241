// How often the body of a loop stands in the code, for clang's device pass.
//
// Idea: what the profiler counts, how many loads are on their way together and what is a constant follow from how loops are unrolled, so
// loops are unrolled as nvcc does it. Found with nvcc 13.0 by how often a mark stands in its PTX for 596 loops of all lengths, bodies of 1 to
// 200 instructions, known, bounded and unknown numbers of turns:
//   * a known number of turns: all of them where what stays of them is at most kMostThatStay instructions, or more by as much as a turn is
//     shorter without what becomes a constant (the number of the turn, if the body uses it). Else as large a power of two as divides the
//     number (four or two, if it is odd) while that is at most kMostOfSome, and then all of the few turns that are left where these are short enough;
//   * a number that is not known, but is below kFew: as it is;
//   * a number that is not known: LLVM's own rule, with at most four turns and kMostOfSome instructions (passes.cc), for turns of at most
//     kMostOfUnknown. To run fast here it is kMostOfBranches for those that branch a lot, and none with barriers, which LLVM does not repeat: where a
//     GPU's times are asked for these are hidden from it. (Beside 54 loops of 0 to 6 branches, each with a barrier and without.)
// Precondition: an innermost loop about which the program says nothing. Loops through a thread's own arrays are array_unrolling.cc's.
// Postcondition: the loop carries the metadata by which LLVM unrolls it; the code is what it was.
// Fallback: LLVM's own choice.
#include "lowering/optimiser/unroll_counts.h"

#include <llvm/Analysis/CodeMetrics.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "lowering/optimiser/array_unrolling.h"
#include "lowering/optimiser/kept_analyses.h"
#include "lowering/optimiser/warp_size.h"

namespace warpbeam::lowering {
namespace {

constexpr unsigned kLoopEnd = 2;  // the comparison and the branch, once for all turns
constexpr uint64_t kMostThatStay = 387, kMostOfAll = 424, kMostOfSome = 202, kMostOfUnknown = 92, kMostOfBranches = 36;
constexpr unsigned kFewBlocks = 4;
constexpr unsigned kFew = 24;
constexpr unsigned kMostWhereOdd = 4;

uint64_t unrolled(uint64_t turn, uint64_t turns) { return turn * turns + kLoopEnd; }

// Of a turn: instructions that stay when its number is known, and with those that become constants.
struct Turn {
  uint64_t stays = 0, all = 0;
};
Turn turn_of(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, const llvm::TargetTransformInfo& costs,
             const llvm::SmallPtrSetImpl<const llvm::Value*>& ignored) {
  const auto becomes_constant = [&](llvm::Instruction& i) {
    if (!evolution.isSCEVable(i.getType())) return false;
    const auto* const steps = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(&i));
    return steps && steps->getLoop() == &loop &&
           llvm::all_of(steps->operands(), [](const llvm::SCEV* s) { return llvm::isa<llvm::SCEVConstant>(s); });
  };
  const llvm::BasicBlock* const latch = loop.getLoopLatch();
  const auto* const end = latch ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
  const llvm::Value* const asked = end && end->isConditional() ? end->getCondition() : nullptr;
  // The number of the turn, if only the loop's end asks for it, is no work.
  const auto only_counts = [&](llvm::Instruction& i) {
    return llvm::all_of(i.users(), [&](const llvm::User* u) {
      return u == asked ||
             (llvm::isa<llvm::PHINode>(u) && llvm::all_of(u->users(), [&](const llvm::User* v) { return v == &i || v == asked; }));
    });
  };
  Turn t;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block) {
      if (llvm::isa<llvm::PHINode>(i) || i.isTerminator() || &i == asked || ignored.contains(&i) ||
          (!i.mayReadOrWriteMemory() && loop.hasLoopInvariantOperands(&i)))
        continue;
      const auto cost = costs.getInstructionCost(&i, llvm::TargetTransformInfo::TCK_CodeSize);
      const uint64_t size = cost.isValid() ? static_cast<uint64_t>(*cost.getValue()) : 1;
      const bool constant = becomes_constant(i);
      if (!constant) t.stays += size;
      if (!constant || !only_counts(i)) t.all += size;
    }
  return t;
}

constexpr char kBarrier[] = "bar.sync 0;";

// Barriers of the block are all that its lanes must come to together.
bool only_barriers_converge(const llvm::Loop& loop) {
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : *block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
          call && call->isConvergent() && call->getIntrinsicID() != llvm::Intrinsic::nvvm_barrier0)
        return false;
  return true;
}

// LLVM leaves no turn over of a loop with a barrier. All threads of a block take as many turns, so that one may.
void hide_barriers(const llvm::Loop& loop) {
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& i : llvm::make_early_inc_range(*block)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&i);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::nvvm_barrier0) continue;
      llvm::IRBuilder<> build(call);
      build.CreateCall(llvm::InlineAsm::get(call->getFunctionType(), kBarrier, "~{memory}", true))->setDebugLoc(call->getDebugLoc());
      call->eraseFromParent();
    }
}

// So many turns become one; all of them where `turns` is what comes back.
uint64_t turns_at_once(const Turn& parts, uint64_t turn, uint64_t turns) {
  if (turns * parts.stays * parts.stays <= kMostThatStay * parts.all) return turns;
  uint64_t some = turns % 2 ? kMostWhereOdd : turns & -turns;
  while (some > 1 && unrolled(turn, some) > kMostOfSome) some /= 2;
  const uint64_t left = turns / some, longer = (turn - 1) * some + 1;
  return some > 1 && turns % some == 0 && unrolled(longer, left) <= kMostOfAll ? turns : some;
}

}  // namespace

llvm::PreservedAnalyses ChooseUnrollCounts::run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& known,
                                                llvm::LPMUpdater&) {
  if (!loop.isInnermost() || llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified) return llvm::PreservedAnalyses::all();
  // Whether arrays become registers may be known later, when the loops around are.
  if (!last_ && counts_through_an_array(loop, known.SE)) return llvm::PreservedAnalyses::all();
  const unsigned turns = known.SE.getSmallConstantTripCount(&loop);
  if (turns == 1) return llvm::PreservedAnalyses::all();
  llvm::SmallPtrSet<const llvm::Value*, 32> for_assumptions;
  llvm::CodeMetrics::collectEphemeralValues(&loop, &known.AC, for_assumptions);
  const llvm::UnrollCostEstimator size(&loop, known.TTI, for_assumptions, kLoopEnd);
  if (!size.canUnroll()) return llvm::PreservedAnalyses::all();
  const uint64_t turn = size.getRolledLoopSize() - kLoopEnd;
  if (!turns) {
    const unsigned most = known.SE.getSmallConstantMaxTripCount(&loop);
    const bool branches = loop.getNumBlocks() > kFewBlocks && !(is_for_times() && loop.getExitingBlock());
    const unsigned limit = branches ? kMostOfBranches : kMostOfUnknown;
    if ((most && most < kFew) || (last_ && turn > limit)) {
      llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable");
    } else if (last_ && is_for_times() && size.Convergence != llvm::ConvergenceKind::None && loop.getExitingBlock() &&
               only_barriers_converge(loop)) {
      hide_barriers(loop);
      return llvm::getLoopPassPreservedAnalyses();
    }
    return llvm::PreservedAnalyses::all();
  }
  uint64_t at_once = turns_at_once(turn_of(loop, known.SE, known.TTI, for_assumptions), turn, turns);
  // Where lanes exchange values no turn can be left over: LLVM would rather unroll all of them.
  if (turns % at_once && size.Convergence != llvm::ConvergenceKind::None) at_once = 1;
  if (at_once == turns) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  else if (at_once > 1) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", static_cast<unsigned>(at_once));
  else llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable");
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses ShowBarriers::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
    const auto* const text = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
    if (!text || text->getAsmString() != kBarrier || call->isConvergent()) continue;  // one that the program wrote converges
    llvm::IRBuilder<> build(call);
    build.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {})->setDebugLoc(call->getDebugLoc());
    call->eraseFromParent();
    changed = true;
  }
  return kept_by_change(changed);
}

llvm::PreservedAnalyses FreeShortFunctions::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  for (const char* name : {"__nv_expf", "__nv_exp2f", "__nv_exp10f", "__nv_logf", "__nv_log2f", "__nv_log10f"}) {
    llvm::Function* const function = module.getFunction(name);
    if (!function || !function->isDeclaration()) continue;
    function->removeFnAttr(llvm::Attribute::Convergent);
    for (llvm::User* user : function->users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->removeFnAttr(llvm::Attribute::Convergent);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
