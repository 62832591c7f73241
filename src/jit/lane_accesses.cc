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
  if (!a.type || llvm::isa<llvm::Constant>(a.mask)) return std::nullopt;  // known lanes need no decisions
  const uint64_t bits = a.type->getScalarType()->getPrimitiveSizeInBits();
  if (a.type->getNumElements() > kMostLanes || bits < 8 || bits > 64) return std::nullopt;
  return a;
}

bool has_instruction(const Access& a, const llvm::TargetTransformInfo& processor) {
  if (a.scattered()) {
    const bool legal = a.stores ? processor.isLegalMaskedScatter(a.type, a.align) : processor.isLegalMaskedGather(a.type, a.align);
    return legal && !(a.stores ? processor.forceScalarizeMaskedScatter(a.type, a.align) : processor.forceScalarizeMaskedGather(a.type, a.align));
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

// for (left = mask; left; left &= left - 1) { lane = countr_zero(left); … }
void make_loop(const Access& a, Value* data, Value* places) {
  llvm::IRBuilder<> b(a.call);
  const unsigned lanes = a.type->getNumElements();
  llvm::Type* word = b.getIntNTy(lanes);
  llvm::Type* element = a.type->getElementType();
  const uint64_t bytes = element->getPrimitiveSizeInBits() / 8;
  Value* mask = b.CreateBitCast(a.mask, word);
  b.CreateAlignedStore(a.data, data, kScratchAlign);
  if (a.scattered()) b.CreateAlignedStore(a.place, places, kScratchAlign);
  Value* none = b.CreateIsNull(mask);
  llvm::BasicBlock* before = a.call->getParent();
  llvm::BasicBlock* after = llvm::SplitBlock(before, a.call);
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b.getContext(), "lanes", before->getParent(), after);
  before->getTerminator()->eraseFromParent();
  b.SetInsertPoint(before);
  b.CreateCondBr(none, after, loop);

  b.SetInsertPoint(loop);
  llvm::PHINode* left = b.CreatePHI(word, 2);
  Value* lane = b.CreateZExt(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b.getTrue()), b.getInt64Ty());
  Value* own = b.CreateInBoundsGEP(element, data, lane);
  Value* place = a.scattered() ? b.CreateLoad(b.getPtrTy(), b.CreateInBoundsGEP(b.getPtrTy(), places, lane)) : b.CreateInBoundsGEP(element, a.place, lane);
  const llvm::Align own_align(bytes), align = a.scattered() ? a.align : llvm::commonAlignment(a.align, bytes);
  llvm::LoadInst* value = a.stores ? b.CreateAlignedLoad(element, own, own_align) : b.CreateAlignedLoad(element, place, align);
  llvm::StoreInst* store = a.stores ? b.CreateAlignedStore(value, place, align) : b.CreateAlignedStore(value, own, own_align);
  (a.stores ? static_cast<llvm::Instruction*>(store) : value)->setAAMetadata(a.call->getAAMetadata());
  Value* rest = b.CreateAnd(left, b.CreateSub(left, llvm::ConstantInt::get(word, 1)));
  b.CreateCondBr(b.CreateIsNull(rest), after, loop);
  left->addIncoming(mask, before);
  left->addIncoming(rest, loop);

  b.SetInsertPoint(a.call);
  if (!a.stores) a.call->replaceAllUsesWith(b.CreateAlignedLoad(a.type, data, kScratchAlign));
  a.call->eraseFromParent();
}

}  // namespace

void settle_lane_accesses(llvm::Function& f, const llvm::TargetTransformInfo& processor) {
  std::vector<Access> accesses;
  for (llvm::BasicBlock& block : f)
    for (llvm::Instruction& i : block)
      if (const std::optional<Access> a = access_of(i); a && !has_instruction(*a, processor)) accesses.push_back(*a);
  if (accesses.empty()) return;
  Value *data = scratch_for(f), *places = scratch_for(f);
  for (const Access& a : accesses) make_loop(a, data, places);
}

}  // namespace warpbeam::jit
