// Floating-point numbers to integers, for clang's device pass.
//
// C++ leaves open what `(int)x` gives where x is out of range. A GPU saturates, and nvcc does so too where it knows x. For
// LLVM a plain conversion of such a number is no number at all, and stores of it vanish; so clang is told to write saturating
// ones (passes.cc), and where the optimiser left them they become plain again: the instruction saturates.
//
// To bytes and shorts nvcc converts by a whole word and keeps its low bits: 65536.0f becomes 0. clang converts to 16 bits at
// once, which saturate to 65535, so that 255 would be left.
#include "lowering/optimiser/narrow_conversions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

namespace warpbeam::lowering {
namespace {

std::optional<llvm::Instruction::CastOps> saturating(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (call && call->getIntrinsicID() == llvm::Intrinsic::fptosi_sat) return llvm::Instruction::FPToSI;
  if (call && call->getIntrinsicID() == llvm::Intrinsic::fptoui_sat) return llvm::Instruction::FPToUI;
  return std::nullopt;
}

bool converts(const llvm::Instruction& i) { return saturating(i) || llvm::isa<llvm::FPToSIInst>(i) || llvm::isa<llvm::FPToUIInst>(i); }

llvm::Value* widened(llvm::IRBuilder<>& build, llvm::Instruction& i) {
  llvm::Value* const x = i.getOperand(0);
  llvm::Type* const word = i.getType()->getWithNewBitWidth(32);
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
    return build.CreateIntrinsic(call->getIntrinsicID(), {word, x->getType()}, {x});
  return build.CreateCast(llvm::cast<llvm::CastInst>(i).getOpcode(), x, word);
}

template <class Wanted, class Replace>
llvm::PreservedAnalyses replace(llvm::Function& f, Wanted wanted, Replace with) {
  llvm::SmallVector<llvm::Instruction*, 16> found;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (wanted(i)) found.push_back(&i);
  for (llvm::Instruction* i : found) {
    llvm::IRBuilder<> build(i);
    i->replaceAllUsesWith(with(build, *i));
    i->eraseFromParent();
  }
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace

llvm::PreservedAnalyses WidenConversions::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  return replace(
      f, [](const llvm::Instruction& i) { return converts(i) && i.getType()->getScalarSizeInBits() < 32; },
      [](llvm::IRBuilder<>& build, llvm::Instruction& i) { return build.CreateTrunc(widened(build, i), i.getType()); });
}

llvm::PreservedAnalyses PlainConversions::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  return replace(
      f, [](const llvm::Instruction& i) { return saturating(i) && !llvm::isa<llvm::Constant>(i.getOperand(0)); },
      [](llvm::IRBuilder<>& build, llvm::Instruction& i) { return build.CreateCast(*saturating(i), i.getOperand(0), i.getType()); });
}

}  // namespace warpbeam::lowering
