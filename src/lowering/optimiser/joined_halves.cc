// Pairs of 16 bits that go round a loop, for clang's device pass.
//
// Idea: of a sum of half2 whose halves are looked at somewhere, LLVM makes two variables of 16 bits. Each turn takes the last one's result apart and puts it
// together again for the instruction that wants both. As one variable of 32 bits it goes round as it is, as with nvcc.
// Precondition: a word put together of two halves that differ by where control comes from, at the same place.
// Postcondition: the word differs there itself, and the halves are parts of it.
// Fallback: none is needed, the code is what it was.
#include "lowering/optimiser/joined_halves.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace warpbeam::lowering {
namespace {

using namespace llvm::PatternMatch;

constexpr unsigned kHalf = 16;

struct Pair {
  llvm::PHINode *lower = nullptr, *upper = nullptr;
};

Pair pair_of(llvm::Instruction& word) {
  llvm::Value *lower = nullptr, *upper = nullptr;
  if (!word.getType()->isIntegerTy(2 * kHalf) ||
      !match(&word, m_c_Or(m_Shl(m_ZExt(m_Value(upper)), m_SpecificInt(kHalf)), m_ZExt(m_Value(lower)))))
    return {};
  auto *const low = llvm::dyn_cast<llvm::PHINode>(lower), *const up = llvm::dyn_cast<llvm::PHINode>(upper);
  if (!low || !up || low == up || low->getParent() != up->getParent() || !low->getType()->isIntegerTy(kHalf) ||
      low->getType() != up->getType())
    return {};
  return {low, up};
}

// The word whose halves these are, if there is one.
llvm::Value* whole(llvm::Value* lower, llvm::Value* upper) {
  llvm::Value* word = nullptr;
  if (match(lower, m_Trunc(m_Value(word))) && word->getType()->isIntegerTy(2 * kHalf) &&
      match(upper, m_Trunc(m_LShr(m_Specific(word), m_SpecificInt(kHalf)))))
    return word;
  return nullptr;
}

}  // namespace

llvm::PreservedAnalyses JoinHalves::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  std::vector<llvm::Instruction*> words;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (pair_of(i).lower) words.push_back(&i);
  bool changed = false;
  for (llvm::Instruction* word : words) {
    const Pair pair = pair_of(*word);
    if (!pair.lower) continue;  // another word's halves by now
    const unsigned ways = pair.lower->getNumIncomingValues();
    bool some = false;
    for (unsigned k = 0; k < ways; ++k)
      some |= whole(pair.lower->getIncomingValue(k), pair.upper->getIncomingValueForBlock(pair.lower->getIncomingBlock(k))) != nullptr;
    if (!some) continue;
    llvm::IRBuilder<> at(pair.lower);
    llvm::PHINode* const joined = at.CreatePHI(word->getType(), ways, word->getName());
    for (unsigned k = 0; k < ways; ++k) {
      llvm::BasicBlock* const from = pair.lower->getIncomingBlock(k);
      llvm::Value *const lower = pair.lower->getIncomingValue(k), *const upper = pair.upper->getIncomingValueForBlock(from);
      llvm::Value* both = lower == pair.lower && upper == pair.upper ? joined : whole(lower, upper);
      if (const int known = joined->getBasicBlockIndex(from); known >= 0) both = joined->getIncomingValue(static_cast<unsigned>(known));
      if (!both) {
        at.SetInsertPoint(from->getTerminator());
        both = at.CreateOr(at.CreateShl(at.CreateZExt(upper, word->getType()), kHalf), at.CreateZExt(lower, word->getType()));
      }
      joined->addIncoming(both, from);
    }
    at.SetInsertPoint(pair.lower->getParent(), pair.lower->getParent()->getFirstInsertionPt());
    llvm::Value *const lower = at.CreateTrunc(joined, pair.lower->getType()), *const upper = at.CreateTrunc(at.CreateLShr(joined, kHalf),
                                                                                                            pair.upper->getType());
    word->replaceAllUsesWith(joined);
    pair.lower->replaceAllUsesWith(lower);
    pair.upper->replaceAllUsesWith(upper);
    pair.lower->eraseFromParent();
    pair.upper->eraseFromParent();
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
