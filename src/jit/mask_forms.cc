#include "jit/mask_forms.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
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
  return b.CreateICmpSLT(b.CreateShl(b.CreateVectorSplat(lanes, word), llvm::ConstantVector::get(up)),
                         llvm::Constant::getNullValue(llvm::FixedVectorType::get(word->getType(), lanes)));
}

}  // namespace

void spread_mask_words(llvm::Function& f) {
  std::vector<llvm::BitCastInst*> casts;
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (auto* type = llvm::dyn_cast<llvm::FixedVectorType>(i.getType());
          type && type->getElementType()->isIntegerTy(1) && word_of(&i) && type->getNumElements() >= 32)
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

namespace {

unsigned bits_in(const Value* v) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  const unsigned n = type && type->getElementType()->isIntegerTy(1) ? type->getNumElements() : 0;
  return n == 8 || n == 16 ? n : 0;
}

// What gives bits made of bits and of nothing else.
bool joins_bits(const llvm::Instruction& i) {
  if (!bits_in(&i)) return false;
  if (llvm::isa<llvm::PHINode>(i) || llvm::isa<llvm::FreezeInst>(i) || (llvm::isa<llvm::BinaryOperator>(i) && i.isBitwiseLogicOp()))
    return true;
  return llvm::isa<llvm::ShuffleVectorInst>(i) && bits_in(i.getOperand(0));
}

}  // namespace

void widen_mask_vectors(llvm::Function& f) {
  const auto crosses = [](const llvm::Instruction& i) {
    return std::ranges::any_of(i.users(), [&](const llvm::User* u) {
      return llvm::cast<llvm::Instruction>(u)->getParent() != i.getParent() || llvm::isa<llvm::PHINode>(u);
    });
  };
  std::unordered_map<Value*, Value*> wide;
  std::vector<llvm::Instruction*> found;
  const auto find = [&](Value* v) {
    auto* i = llvm::dyn_cast<llvm::Instruction>(v);
    if (!i || !bits_in(i) || !wide.try_emplace(i, nullptr).second) return;
    found.push_back(i);
  };
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (bits_in(&i) && (llvm::isa<llvm::PHINode>(i) || crosses(i))) find(&i);
  for (size_t k = 0; k < found.size(); ++k) {
    if (joins_bits(*found[k]))
      for (Value* operand : found[k]->operands()) find(operand);
    for (llvm::User* user : found[k]->users())
      if (joins_bits(*llvm::cast<llvm::Instruction>(user))) find(user);
  }
  const auto type_for = [&](const Value* v) { return llvm::FixedVectorType::get(llvm::Type::getInt32Ty(f.getContext()), bits_in(v)); };
  const auto widened = [&](Value* v) -> Value* {
    if (const auto it = wide.find(v); it != wide.end()) return it->second;
    return llvm::IRBuilder<>(f.getContext()).CreateSExt(llvm::cast<llvm::Constant>(v), type_for(v));
  };
  // What they are made of first: a phi has its operands once all have a form.
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&f);
  for (llvm::BasicBlock* block : order)
    for (auto it = block->begin(); it != block->end();) {
      llvm::Instruction* i = &*it++;
      if (!wide.contains(i)) continue;
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i)) {
        wide[i] = llvm::PHINode::Create(type_for(i), phi->getNumIncomingValues(), "", phi->getIterator());
        continue;
      }
      llvm::IRBuilder<> b(i->getNextNode());
      if (llvm::isa<llvm::FreezeInst>(i)) wide[i] = b.CreateFreeze(widened(i->getOperand(0)));
      else if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(i); shuffle && joins_bits(*i))
        wide[i] = b.CreateShuffleVector(widened(i->getOperand(0)), widened(i->getOperand(1)), shuffle->getShuffleMask());
      else if (joins_bits(*i))
        wide[i] = b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(i)->getOpcode(), widened(i->getOperand(0)), widened(i->getOperand(1)));
      else wide[i] = b.CreateSExt(i, type_for(i));
    }
  for (llvm::Instruction* i : found) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i))
      for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
        llvm::cast<llvm::PHINode>(wide[i])->addIncoming(widened(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
    // Others see the signs, looked at where they are used.
    const bool own = !joins_bits(*i);
    std::unordered_map<llvm::BasicBlock*, Value*> seen;
    for (llvm::Use& use : llvm::make_early_inc_range(i->uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if ((wide.contains(user) && joins_bits(*user)) || user == wide[i] || (own && user->getParent() == i->getParent())) continue;
      if (auto* extended = llvm::dyn_cast<llvm::SExtInst>(user); extended && extended->getType() == type_for(i)) {
        extended->replaceAllUsesWith(wide[i]);
        extended->eraseFromParent();
        continue;
      }
      Value*& signs = seen[user->getParent()];
      if (!signs) {
        const bool here = user->getParent() == i->getParent() && !llvm::isa<llvm::PHINode>(i);
        llvm::IRBuilder<> b(here ? llvm::cast<llvm::Instruction>(wide[i])->getNextNode() : &*user->getParent()->getFirstInsertionPt());
        signs = b.CreateICmpSLT(wide[i], llvm::Constant::getNullValue(wide[i]->getType()));
      }
      use.set(signs);
    }
  }
  for (llvm::Instruction* i : found)
    if (joins_bits(*i)) i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
  for (llvm::Instruction* i : found)
    if (joins_bits(*i)) i->eraseFromParent();
}

// A choice between two sets of lanes as what it comes to: LLVM 19 turns such choices between words and back without end.
static void spell_out_choices(llvm::Function& f) {
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
      auto* choice = llvm::dyn_cast<llvm::SelectInst>(&i);
      if (!choice || !choice->getCondition()->getType()->isVectorTy() || !choice->getType()->isIntOrIntVectorTy(1)) continue;
      llvm::IRBuilder<> b(choice);
      Value* const which = choice->getCondition();
      // No pass comes after this that would make use of what a choice leaves out.
      Value* const one = b.CreateAnd(which, choice->getTrueValue());
      Value* const other = b.CreateAnd(b.CreateNot(which), choice->getFalseValue());
      choice->replaceAllUsesWith(b.CreateOr(one, other));
      choice->eraseFromParent();
    }
}

// (x & bits) | (y & ~bits), in any of the forms that instruction selection takes for it.
struct Mixture {
  Value *x = nullptr, *y = nullptr;
  llvm::Constant* bits = nullptr;
};
static Mixture mixture_of(Value* v) {
  using namespace llvm::PatternMatch;
  Mixture m;
  llvm::Constant* others = nullptr;
  auto* i = llvm::dyn_cast<llvm::BinaryOperator>(v);
  if (!i ||
      (i->getOpcode() != llvm::Instruction::Or && i->getOpcode() != llvm::Instruction::Xor && i->getOpcode() != llvm::Instruction::Add))
    return {};
  const bool in_two =
      match(i->getOperand(0), m_And(m_Value(m.x), m_Constant(m.bits))) && match(i->getOperand(1), m_And(m_Value(m.y), m_Constant(others)));
  if (in_two) return others == llvm::ConstantExpr::getNot(m.bits) ? m : Mixture{};
  // ((x ^ y) & bits) ^ y
  Value* difference = nullptr;
  const bool in_one = match(i, m_c_Xor(m_And(m_Value(difference), m_Constant(m.bits)), m_Value(m.y))) &&
                      match(difference, m_c_Xor(m_Value(m.x), m_Specific(m.y)));
  return in_one ? m : Mixture{};
}

void choose_before_mixing(llvm::Function& f) {
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
      auto* choice = llvm::dyn_cast<llvm::SelectInst>(&i);
      if (!choice || !choice->getType()->isVectorTy() || !choice->getCondition()->getType()->isVectorTy()) continue;
      const bool mixed_first = mixture_of(choice->getTrueValue()).bits;
      Value *const mixed = mixed_first ? choice->getTrueValue() : choice->getFalseValue(), *const plain = mixed_first
                                                                                                              ? choice->getFalseValue()
                                                                                                              : choice->getTrueValue();
      const Mixture m = mixture_of(mixed);
      if (!m.bits || (plain != m.x && plain != m.y)) continue;
      llvm::IRBuilder<> b(choice);
      const auto chosen = [&](Value* v) {
        return v == plain    ? v
               : mixed_first ? b.CreateSelect(choice->getCondition(), v, plain)
                             : b.CreateSelect(choice->getCondition(), plain, v);
      };
      Value *const x = b.CreateAnd(chosen(m.x), m.bits), *const y = b.CreateAnd(chosen(m.y), llvm::ConstantExpr::getNot(m.bits));
      choice->replaceAllUsesWith(b.CreateOr(x, y));
      choice->eraseFromParent();
    }
}

void settle_mask_forms(llvm::Function& f) {
  spell_out_choices(f);
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
        if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) words[k] = llvm::ConstantExpr::getBitCast(constant, word_type);
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
