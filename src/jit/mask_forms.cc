#include "jit/mask_forms.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <unordered_map>
#include <vector>

namespace warpbeam::jit {
namespace {

using llvm::Value;

// The word that a vector of bits was made of; null: it was not.
Value* word_of(Value* bits) {
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(bits);
  return cast && cast->getOperand(0)->getType()->isIntegerTy() ? cast->getOperand(0) : nullptr;
}

Value* by_comparison(llvm::IRBuilder<>& b, Value* word, unsigned lanes) {
  std::vector<llvm::Constant*> own;
  for (unsigned l = 0; l < lanes; ++l) own.push_back(llvm::ConstantInt::get(word->getType(), uint64_t(1) << l));
  Value* each = b.CreateAnd(b.CreateVectorSplat(lanes, word), llvm::ConstantVector::get(own));
  return b.CreateICmpNE(each, llvm::Constant::getNullValue(each->getType()));
}

// Each lane's bit as the sign of its element: what registers without masks blend and store by.
Value* by_signs(llvm::IRBuilder<>& b, Value* word, unsigned lanes) {
  std::vector<llvm::Constant*> up;
  for (unsigned l = 0; l < lanes; ++l) up.push_back(llvm::ConstantInt::get(word->getType(), lanes - 1 - l));
  return b.CreateICmpSLT(b.CreateShl(b.CreateVectorSplat(lanes, word), llvm::ConstantVector::get(up)), llvm::Constant::getNullValue(llvm::FixedVectorType::get(word->getType(), lanes)));
}

}  // namespace

void spread_mask_words(llvm::Function& f) {
  std::vector<llvm::BitCastInst*> casts;
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (auto* type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType()); type && type->getElementType()->isIntegerTy(1) && word_of(&i) && type->getNumElements() >= 32)
        casts.push_back(llvm::cast<llvm::BitCastInst>(&i));
  for (llvm::BitCastInst* cast : casts) {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(cast->getType())->getNumElements();
    std::unordered_map<llvm::BasicBlock*, Value*> spread;
    for (llvm::Use& use : llvm::make_early_inc_range(cast->uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (llvm::isa<llvm::BitCastInst>(user)) continue;
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      llvm::BasicBlock* where = phi ? phi->getIncomingBlock(use) : user->getParent();
      Value*& known = spread[where];
      if (!known) {
        const bool own = where == cast->getParent();
        llvm::IRBuilder<> b(own ? cast->getNextNode() : &*where->getFirstInsertionPt());
        known = by_signs(b, cast->getOperand(0), lanes);
      }
      use.set(known);
    }
  }
}

void settle_mask_forms(llvm::Function& f) {
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f))
    for (auto it = block->begin(); it != block->end();) {
      auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(&*it++);
      auto* type = logic ? llvm::dyn_cast<llvm::FixedVectorType>(logic->getType()) : nullptr;
      if (!type || !type->getElementType()->isIntegerTy(1) || !logic->isBitwiseLogicOp()) continue;
      llvm::IRBuilder<> b(logic);
      llvm::Type* word_type = b.getIntNTy(type->getNumElements());
      Value* words[2];
      bool any = false, all = true;
      for (unsigned k = 0; k < 2; ++k) {
        Value* operand = logic->getOperand(k);
        words[k] = word_of(operand);
        any = any || words[k];
        if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand))
          words[k] = llvm::ConstantExpr::getBitCast(constant, word_type);
        all = all && words[k];
      }
      if (!any) continue;
      if (all) {
        Value* result = b.CreateBitCast(b.CreateBinOp(logic->getOpcode(), words[0], words[1]), type);
        logic->replaceAllUsesWith(result);
        logic->eraseFromParent();
        continue;
      }
      for (unsigned k = 0; k < 2; ++k)
        if (words[k]) logic->setOperand(k, by_comparison(b, words[k], type->getNumElements()));
    }
}

}  // namespace warpbeam::jit
