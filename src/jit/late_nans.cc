#include "jit/late_nans.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <vector>

namespace warpbeam::jit {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr const char* kMark = "wb.late_nan";
constexpr uint64_t kInvalid = 0xfff8000000000000, kQuiet = 0x0008000000000000;

std::vector<unsigned> order_of(const llvm::MDNode& mark) {
  std::vector<unsigned> order;
  for (const llvm::MDOperand& o : mark.operands())
    order.push_back(static_cast<unsigned>(llvm::mdconst::extract<llvm::ConstantInt>(o)->getZExtValue()));
  return order;
}

// Gives the same once more, from the same operands.
bool repeats(const Instruction& i) {
  if (i.mayReadOrWriteMemory() || i.getType()->isVoidTy()) return false;
  switch (i.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: return false;
    case Instruction::Select:
    case Instruction::ShuffleVector:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ICmp:
    case Instruction::Freeze: return true;
    case Instruction::Call: return llvm::isa<llvm::IntrinsicInst>(i);
    default: return i.isBinaryOp() || i.isUnaryOp() || i.isCast();
  }
}

class Block {
 public:
  Block(BasicBlock* block, unsigned kind, unsigned lanes) : block_(block), kind_(kind), lanes_(lanes) {}

  // Up to the first instruction that cannot be repeated, which, if there is one, begins the block that is returned.
  BasicBlock* run() {
    for (Instruction& i : *block_) {
      const bool marked = i.getMetadata(kind_);
      if (!marked && (slice_.empty() || !takes_part(i))) {
        if (i.isTerminator() && !slice_.empty()) return look_before(i);
        continue;
      }
      if (!marked && !repeats(i)) return look_before(i);
      slice_.insert(&i);
    }
    return nullptr;
  }

 private:
  // Of what comes from marked operations. Comparisons of doubles do not see which NaN it is.
  bool takes_part(const Instruction& i) const {
    if (llvm::isa<llvm::FCmpInst>(i)) return false;
    return llvm::any_of(i.operands(), [&](const Value* v) { return slice_.contains(llvm::dyn_cast<Instruction>(const_cast<Value*>(v))); });
  }

  // Another marked operation takes it in, so where it is a NaN the other is one as well.
  bool told_by_another(const Value* v) const {
    return llvm::any_of(v->users(), [&](const llvm::User* u) {
      auto* user = const_cast<Instruction*>(llvm::dyn_cast<Instruction>(u));
      if (!slice_.contains(user)) return false;
      if (user->getMetadata(kind_)) return true;
      return llvm::isa<llvm::BitCastInst>(user) && user->getType()->isVectorTy() == v->getType()->isVectorTy() && told_by_another(user);
    });
  }

  Value* any_nan(llvm::IRBuilder<>& b) const {
    std::vector<Value*> parts[2];  // scalars, vectors of lanes_
    for (Instruction* i : slice_) {
      if (!i->getMetadata(kind_) || told_by_another(i)) continue;
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(i->getType());
      if (!vector || vector->getNumElements() % lanes_) {
        parts[vector != nullptr].push_back(i);
        continue;
      }
      for (unsigned at = 0; at < vector->getNumElements(); at += lanes_) {
        const auto own = llvm::createSequentialMask(at, lanes_, 0);
        parts[1].push_back(vector->getNumElements() == lanes_ ? i : b.CreateShuffleVector(i, own));
      }
    }
    Value* any = b.getFalse();
    for (std::vector<Value*>& all : parts) {
      Value* some = nullptr;
      llvm::stable_sort(all, [](const Value* x, const Value* y) { return x->getType() < y->getType(); });
      for (size_t k = 0; k < all.size();) {
        const bool pair = k + 1 < all.size() && all[k]->getType() == all[k + 1]->getType();
        Value* bad = b.CreateFCmpUNO(all[k], all[pair ? k + 1 : k]);
        k += pair ? 2 : 1;
        const bool last = k == all.size() || all[k]->getType() != all[k - 1]->getType();
        some = some ? b.CreateOr(some, bad) : bad;
        if (!last) continue;
        if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(some->getType()))
          some = b.CreateIsNotNull(b.CreateBitCast(some, b.getIntNTy(vector->getNumElements())));
        any = b.CreateOr(any, some);
        some = nullptr;
      }
    }
    return any;
  }

  BasicBlock* look_before(Instruction& end) {
    llvm::LLVMContext& c = block_->getContext();
    BasicBlock* rest = block_->splitBasicBlock(end.getIterator(), "numbers");
    auto* again = BasicBlock::Create(c, "nans", block_->getParent(), rest);
    block_->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> b(block_);
    b.CreateCondBr(any_nan(b), again, rest, llvm::MDBuilder(c).createBranchWeights(1, 100000));
    b.SetInsertPoint(again);
    llvm::ValueToValueMapTy made;
    for (Instruction* i : slice_) {
      Instruction* copy = i->clone();
      b.Insert(copy);
      llvm::RemapInstruction(copy, made, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
      if (!copy->getMetadata(kind_)) {
        made[i] = copy;
        continue;
      }
      const std::vector<unsigned> order = order_of(*copy->getMetadata(kind_));
      copy->setMetadata(kind_, nullptr);
      made[i] = with_nan_bits(b, copy, std::vector<Value*>(copy->value_op_begin(), copy->value_op_end()), order);
    }
    b.CreateBr(rest);
    for (Instruction* i : slice_) {
      i->setMetadata(kind_, nullptr);
      const auto seen = [&](const llvm::Use& use) {
        const auto* user = llvm::cast<Instruction>(use.getUser());
        return user->getParent() != again && (user->getParent() != block_ || llvm::isa<llvm::PHINode>(user));
      };
      if (llvm::none_of(i->uses(), seen)) continue;
      auto* phi = llvm::PHINode::Create(i->getType(), 2, "", rest->begin());
      i->replaceUsesWithIf(phi, [&](llvm::Use& use) { return seen(use); });
      phi->addIncoming(i, block_);
      phi->addIncoming(made[i], again);
    }
    return rest;
  }

  BasicBlock* block_;
  unsigned kind_, lanes_;
  llvm::SmallSetVector<Instruction*, 32> slice_;  // in the order of the code
};

}  // namespace

void mark_late_nan(Instruction& operation, llvm::ArrayRef<unsigned> order) {
  llvm::LLVMContext& c = operation.getContext();
  std::vector<llvm::Metadata*> all;
  for (const unsigned o : order) all.push_back(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), o)));
  operation.setMetadata(kMark, llvm::MDNode::get(c, all));
}

llvm::Value* with_nan_bits(llvm::IRBuilderBase& b, llvm::Value* result, llvm::ArrayRef<llvm::Value*> operands,
                           llvm::ArrayRef<unsigned> order) {
  llvm::Type* doubles = result->getType();
  llvm::Type* words = doubles->getWithNewType(b.getInt64Ty());
  const auto is_nan = [&](llvm::Value* v) { return b.CreateFCmpUNO(v, v); };
  llvm::Value* bits = llvm::ConstantInt::get(words, kInvalid);  // of an operation that is not valid
  for (size_t k = order.size(); k-- > 0;) {
    llvm::Value* operand = operands[order[k]];
    bits = b.CreateSelect(is_nan(operand), b.CreateOr(b.CreateBitCast(operand, words), kQuiet), bits);
  }
  return b.CreateSelect(is_nan(result), b.CreateBitCast(bits, doubles), result);
}

void look_for_nans_late(llvm::Function& f, unsigned lanes) {
  const unsigned kind = f.getContext().getMDKindID(kMark);
  std::vector<BasicBlock*> blocks;
  for (BasicBlock& block : f)
    if (llvm::any_of(block, [&](const Instruction& i) { return i.getMetadata(kind); })) blocks.push_back(&block);
  for (BasicBlock* block : blocks)
    for (BasicBlock* rest = block; rest;) rest = Block(rest, kind, lanes).run();
}

}  // namespace warpbeam::jit
