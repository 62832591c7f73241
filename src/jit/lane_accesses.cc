#include "jit/lane_accesses.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>
#include <vector>

namespace warpbeam::jit {
namespace {

using llvm::Value;

constexpr unsigned kMostLanes = 64;
constexpr llvm::Align kScratchAlign = llvm::Align::Constant<64>();

struct Access {
  llvm::IntrinsicInst* call = nullptr;
  bool stores = false;
  Value *place = nullptr, *mask = nullptr, *data = nullptr;  // data: what is stored, or what lanes that load nothing have
  llvm::FixedVectorType* type = nullptr;
  llvm::Align align;

  bool scattered() const { return place->getType()->isVectorTy(); }
};

std::optional<Access> access_of(llvm::Instruction& i) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  if (!call) return std::nullopt;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  Access a;
  a.call = call;
  a.stores = id == llvm::Intrinsic::masked_store || id == llvm::Intrinsic::masked_scatter;
  if (!a.stores && id != llvm::Intrinsic::masked_load && id != llvm::Intrinsic::masked_gather) return std::nullopt;
  const unsigned first = a.stores;  // the place; its alignment and the mask follow
  a.place = call->getArgOperand(first);
  a.align = llvm::cast<llvm::ConstantInt>(call->getArgOperand(first + 1))->getAlignValue();
  a.mask = call->getArgOperand(first + 2);
  a.data = call->getArgOperand(a.stores ? 0 : 3);
  a.type = llvm::dyn_cast<llvm::FixedVectorType>(a.data->getType());
  if (!a.type) return std::nullopt;
  if (auto* known = llvm::dyn_cast<llvm::Constant>(a.mask); known && !(known->isAllOnesValue() && a.scattered()))
    return std::nullopt;  // needs no decisions
  const uint64_t bits = a.type->getScalarType()->getPrimitiveSizeInBits();
  if (a.type->getNumElements() > kMostLanes || bits < 8 || bits > 64) return std::nullopt;
  return a;
}

bool has_instruction(const Access& a, const llvm::TargetTransformInfo& processor) {
  if (a.scattered()) {
    const bool legal = a.stores ? processor.isLegalMaskedScatter(a.type, a.align) : processor.isLegalMaskedGather(a.type, a.align);
    return legal &&
           !(a.stores ? processor.forceScalarizeMaskedScatter(a.type, a.align) : processor.forceScalarizeMaskedGather(a.type, a.align));
  }
  return a.stores ? processor.isLegalMaskedStore(a.type, a.align) : processor.isLegalMaskedLoad(a.type, a.align);
}

// Memory for what the lanes have, up to eight bytes each, shared by all accesses of a function.
Value* scratch_for(llvm::Function& f) {
  llvm::IRBuilder<> b(&f.getEntryBlock(), f.getEntryBlock().begin());
  auto* room = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), kMostLanes));
  room->setAlignment(kScratchAlign);
  return room;
}

// Where the lanes' elements lie: at `base`, and as many of `unit` further as the lane's index says, once it is extended and
// shifted. Vectors of narrow indices take a fraction of the instructions that vectors of addresses take.
struct Places {
  Value *base = nullptr, *indices = nullptr;
  llvm::Type* unit = nullptr;
  bool extends_sign = true;
  uint64_t shift = 0;
};

Places places_of(llvm::IRBuilder<>& b, Value* lanes) {
  Places p{llvm::ConstantPointerNull::get(b.getPtrTy()), lanes, b.getInt8Ty()};
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(lanes);
  if (!address || address->getNumIndices() != 1 || address->getPointerOperandType()->isVectorTy() ||
      !address->getOperand(1)->getType()->isVectorTy())
    return p;
  p = {address->getPointerOperand(), address->getOperand(1), address->getSourceElementType()};
  const auto operand_of = [&](unsigned opcode) -> llvm::Instruction* {
    auto* i = llvm::dyn_cast<llvm::Instruction>(p.indices);
    return i && i->getOpcode() == opcode ? i : nullptr;
  };
  if (auto* shifted = operand_of(llvm::Instruction::Shl); shifted && p.indices->getType()->getScalarSizeInBits() == 64)
    if (auto* count = llvm::dyn_cast<llvm::Constant>(shifted->getOperand(1)); count && count->getSplatValue()) {
      p.indices = shifted->getOperand(0);
      p.shift = llvm::cast<llvm::ConstantInt>(count->getSplatValue())->getZExtValue();
    }
  for (const unsigned widens : {llvm::Instruction::SExt, llvm::Instruction::ZExt})
    if (auto* wide = operand_of(widens); wide && wide->getOperand(0)->getType()->getScalarSizeInBits() == 32) {
      p.indices = wide->getOperand(0);
      p.extends_sign = widens == llvm::Instruction::SExt;
      break;
    }
  return p;
}

class Lanes {
 public:
  Lanes(Access a, Value* data_room, Value* index_room)
      : a_(a), b_(a.call), data_room_(data_room), index_room_(index_room), element_(a.type->getElementType()) {}

  void emit() {
    llvm::Type* word = b_.getIntNTy(a_.type->getNumElements());
    auto* cast = llvm::dyn_cast<llvm::BitCastInst>(a_.mask);
    Value* mask = cast && cast->getOperand(0)->getType() == word ? cast->getOperand(0) : b_.CreateBitCast(a_.mask, word);
    if (a_.scattered()) {
      places_ = places_of(b_, a_.place);
      b_.CreateAlignedStore(places_.indices, index_room_, kScratchAlign);
    }
    if (llvm::isa<llvm::Constant>(a_.mask)) {
      Value* all = access_all();
      if (!a_.stores) a_.call->replaceAllUsesWith(all);
      a_.call->eraseFromParent();
      return;
    }
    llvm::BasicBlock* before = a_.call->getParent();
    llvm::BasicBlock* after = llvm::SplitBlock(before, a_.call);
    const auto block = [&](const char* name) { return llvm::BasicBlock::Create(b_.getContext(), name, before->getParent(), after); };
    llvm::BasicBlock *every = block("every"), *some = block("some"), *loop = block("lanes"), *done = block("done");
    before->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(before);
    b_.CreateCondBr(b_.CreateICmpEQ(mask, llvm::Constant::getAllOnesValue(word)), every, some);
    b_.SetInsertPoint(every);
    Value* all = access_all();
    b_.CreateBr(after);
    b_.SetInsertPoint(some);
    b_.CreateAlignedStore(a_.data, data_room_, kScratchAlign);
    b_.CreateCondBr(b_.CreateIsNull(mask), done, loop);
    access_each(mask, some, loop, done);
    b_.SetInsertPoint(done);
    Value* part = a_.stores ? nullptr : b_.CreateAlignedLoad(a_.type, data_room_, kScratchAlign);
    b_.CreateBr(after);
    b_.SetInsertPoint(a_.call);
    if (!a_.stores) {
      llvm::PHINode* result = b_.CreatePHI(a_.type, 2);
      result->addIncoming(all, every);
      result->addIncoming(part, done);
      a_.call->replaceAllUsesWith(result);
    }
    a_.call->eraseFromParent();
  }

 private:
  Value* access_all() {
    if (!a_.scattered())
      return marked(a_.stores ? static_cast<llvm::Instruction*>(b_.CreateAlignedStore(a_.data, a_.place, a_.align))
                              : b_.CreateAlignedLoad(a_.type, a_.place, a_.align));
    Value* all = llvm::PoisonValue::get(a_.type);
    for (unsigned l = 0; l < a_.type->getNumElements(); ++l) {
      Value* place = place_of(b_.getInt64(l));
      if (a_.stores) marked(b_.CreateAlignedStore(b_.CreateExtractElement(a_.data, l), place, a_.align));
      else all = b_.CreateInsertElement(all, marked(b_.CreateAlignedLoad(element_, place, a_.align)), l);
    }
    return all;
  }

  // for (left = mask; left; left &= left - 1) { lane = countr_zero(left); … }
  void access_each(Value* mask, llvm::BasicBlock* before, llvm::BasicBlock* loop, llvm::BasicBlock* done) {
    b_.SetInsertPoint(loop);
    llvm::PHINode* left = b_.CreatePHI(mask->getType(), 2);
    Value* lane = b_.CreateZExt(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue()), b_.getInt64Ty());
    Value* own = b_.CreateInBoundsGEP(element_, data_room_, lane);
    const uint64_t bytes = element_->getPrimitiveSizeInBits() / 8;
    Value* place = a_.scattered() ? place_of(lane) : b_.CreateInBoundsGEP(element_, a_.place, lane);
    const llvm::Align own_align(bytes), align = a_.scattered() ? a_.align : llvm::commonAlignment(a_.align, bytes);
    if (a_.stores) marked(b_.CreateAlignedStore(b_.CreateAlignedLoad(element_, own, own_align), place, align));
    else b_.CreateAlignedStore(marked(b_.CreateAlignedLoad(element_, place, align)), own, own_align);
    Value* rest = b_.CreateAnd(left, b_.CreateSub(left, llvm::ConstantInt::get(mask->getType(), 1)));
    b_.CreateCondBr(b_.CreateIsNull(rest), done, loop);
    left->addIncoming(mask, before);
    left->addIncoming(rest, loop);
  }

  Value* place_of(Value* lane) {
    llvm::Type* type = places_.indices->getType()->getScalarType();
    Value* index = b_.CreateLoad(type, b_.CreateInBoundsGEP(type, index_room_, lane));
    if (type->isPointerTy()) return index;
    if (type->getIntegerBitWidth() < 64)
      index = places_.extends_sign ? b_.CreateSExt(index, b_.getInt64Ty()) : b_.CreateZExt(index, b_.getInt64Ty());
    return b_.CreateGEP(places_.unit, places_.base, places_.shift ? b_.CreateShl(index, places_.shift) : index);
  }

  llvm::Instruction* marked(llvm::Instruction* outside) {
    outside->setAAMetadata(a_.call->getAAMetadata());
    return outside;
  }

  const Access a_;
  llvm::IRBuilder<> b_;
  Value *data_room_, *index_room_;
  llvm::Type* element_;
  Places places_;
};

}  // namespace

void settle_lane_accesses(llvm::Function& f, const llvm::TargetTransformInfo& processor) {
  std::vector<llvm::Instruction*> calls;  // each is looked at anew: what it loads or stores may come from one before it
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (const std::optional<Access> a = access_of(i); a && !has_instruction(*a, processor)) calls.push_back(&i);
  if (calls.empty()) return;
  Value *data_room = scratch_for(f), *index_room = scratch_for(f);
  for (llvm::Instruction* call : calls) Lanes(*access_of(*call), data_room, index_room).emit();
}

}  // namespace warpbeam::jit
