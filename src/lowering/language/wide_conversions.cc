// Conversions between numbers with a point and whole numbers of 128 bits, for which LLVM's back end for GPUs wants functions that there
// are not. Both ways are exact, or rounded once.
#include "lowering/language/wide_conversions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace warpbeam::lowering {
namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;

// Of a number that is not negative: both halves are cut off without a remainder being lost.
llvm::Value* to_unsigned(llvm::IRBuilder<>& b, llvm::Value* real) {
  llvm::Type* const wide = b.getIntNTy(128);
  llvm::Value* const x = b.CreateFPExt(real, b.getDoubleTy());
  llvm::Value* const high = b.CreateFPToUI(b.CreateFMul(x, llvm::ConstantFP::get(b.getDoubleTy(), 1 / kTwoTo64)), b.getInt64Ty());
  llvm::Value* const above = b.CreateFMul(b.CreateUIToFP(high, b.getDoubleTy()), llvm::ConstantFP::get(b.getDoubleTy(), kTwoTo64));
  llvm::Value* const low = b.CreateFPToUI(b.CreateFSub(x, above), b.getInt64Ty());
  return b.CreateOr(b.CreateShl(b.CreateZExt(high, wide), 64), b.CreateZExt(low, wide));
}

// The highest 64 bits, the last of which says whether there are others below, are rounded once and scaled.
llvm::Value* from_unsigned(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Type* real) {
  llvm::Type* const wide = x->getType();
  llvm::Value* const high = b.CreateTrunc(b.CreateLShr(x, 64), b.getInt64Ty());
  llvm::Value* const zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {b.getInt64Ty()}, {high, b.getFalse()});
  llvm::Value* const shift = b.CreateSub(b.getInt64(64), zeros);
  llvm::Value* const by = b.CreateZExt(shift, wide);
  llvm::Value* const top = b.CreateLShr(x, by);
  llvm::Value* const below = b.CreateICmpNE(b.CreateShl(top, by), x);
  llvm::Value* const bits = b.CreateOr(b.CreateTrunc(top, b.getInt64Ty()), b.CreateZExt(below, b.getInt64Ty()));
  const bool is_double = real->isDoubleTy();
  llvm::Value* const exponent = b.CreateShl(b.CreateAdd(shift, b.getInt64(is_double ? 1023 : 127)), is_double ? 52 : 23);
  llvm::Value* const scale = is_double ? b.CreateBitCast(exponent, real) : b.CreateBitCast(b.CreateTrunc(exponent, b.getInt32Ty()), real);
  return b.CreateFMul(b.CreateUIToFP(bits, real), scale);
}

llvm::Value* converted(llvm::Instruction& i) {
  llvm::IRBuilder<> b(&i);
  llvm::Value* const from = i.getOperand(0);
  llvm::Type* const to = i.getType();
  switch (i.getOpcode()) {
    case llvm::Instruction::FPToUI: return to_unsigned(b, from);
    case llvm::Instruction::UIToFP: return from_unsigned(b, from, to);
    case llvm::Instruction::FPToSI: {
      llvm::Value* const size = to_unsigned(b, b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, from));
      return b.CreateSelect(b.CreateFCmpOLT(from, llvm::ConstantFP::getZero(from->getType())), b.CreateNeg(size), size);
    }
    default: {
      llvm::Value* const negative = b.CreateICmpSLT(from, llvm::ConstantInt::get(from->getType(), 0));
      llvm::Value* const size = from_unsigned(b, b.CreateSelect(negative, b.CreateNeg(from), from), to);
      return b.CreateSelect(negative, b.CreateFNeg(size), size);
    }
  }
}

bool is_real(const llvm::Type* type) { return type->isFloatTy() || type->isDoubleTy(); }

bool is_wide(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::FPToUI:
    case llvm::Instruction::FPToSI: return i.getType()->isIntegerTy(128) && is_real(i.getOperand(0)->getType());
    case llvm::Instruction::UIToFP:
    case llvm::Instruction::SIToFP: return i.getOperand(0)->getType()->isIntegerTy(128) && is_real(i.getType());
    default: return false;
  }
}

}  // namespace

llvm::PreservedAnalyses ConvertWideIntegers::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::Instruction*, 8> found;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (is_wide(i)) found.push_back(&i);
  for (llvm::Instruction* i : found) {
    i->replaceAllUsesWith(converted(*i));
    i->eraseFromParent();
  }
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
