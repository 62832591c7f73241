// `__isShared(p)` and its like, where it can be seen what p points into: headers ask so which of two ways a barrier or a copy
// takes, and nvcc keeps only that way. A way that is never taken would be a loop that waits, for all that engines can tell.
#include "lowering/known_spaces.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace warpbeam::lowering {
namespace {

constexpr unsigned kGlobal = 1, kShared = 3, kConstant = 4, kLocal = 5;
constexpr unsigned kFurthest = 12;  // steps back from a pointer

std::optional<unsigned> asked_for(const llvm::IntrinsicInst& i) {
  switch (i.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_isspacep_global:
      return kGlobal;
    case llvm::Intrinsic::nvvm_isspacep_shared:
      return kShared;
    case llvm::Intrinsic::nvvm_isspacep_const:
      return kConstant;
    case llvm::Intrinsic::nvvm_isspacep_local:
      return kLocal;
    default:
      return std::nullopt;
  }
}

bool is_kernel(const llvm::Function& f) {
  const llvm::NamedMDNode* annotations = f.getParent()->getNamedMetadata("nvvm.annotations");
  for (unsigned k = 0; annotations && k < annotations->getNumOperands(); ++k) {
    const llvm::MDNode* node = annotations->getOperand(k);
    const auto* of = node->getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node->getOperand(0).get()) : nullptr;
    const auto* word = of && of->getValue() == &f ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1).get()) : nullptr;
    if (word && word->getString() == "kernel") return true;
  }
  return false;
}

// What the pointer points into, the same on every way to it. Pointers that a kernel is given are global, as the compiler
// takes them everywhere.
std::optional<unsigned> space_of(const llvm::Value* pointer, bool kernel) {
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, kFurthest);
  std::optional<unsigned> all;
  for (const llvm::Value* object : objects) {
    const unsigned declared = object->getType()->getPointerAddressSpace();
    unsigned space = declared;
    if (llvm::isa<llvm::AllocaInst>(object)) space = kLocal;
    else if (const auto* a = llvm::dyn_cast<llvm::Argument>(object); a && kernel && !declared && !a->hasByValAttr()) space = kGlobal;
    if (!space || (all && *all != space)) return std::nullopt;
    all = space;
  }
  return all;
}

bool counts_around(const llvm::IntrinsicInst& i) {
  const auto id = i.getIntrinsicID();
  return (id == llvm::Intrinsic::nvvm_atomic_load_inc_32 || id == llvm::Intrinsic::nvvm_atomic_load_dec_32) && !i.getArgOperand(0)->getType()->getPointerAddressSpace();
}

// atomicInc and atomicDec name the memory they change, as other atomic operations do by themselves.
bool name_space(llvm::IntrinsicInst& i, unsigned space) {
  if (space != kGlobal && space != kShared) return false;
  llvm::IRBuilder<> build(&i);
  llvm::Value* there = build.CreateAddrSpaceCast(i.getArgOperand(0), llvm::PointerType::get(i.getContext(), space));
  llvm::CallInst* named = build.CreateIntrinsic(i.getIntrinsicID(), {there->getType()}, {there, i.getArgOperand(1)});
  i.replaceAllUsesWith(named);
  i.eraseFromParent();
  return true;
}

}  // namespace

llvm::PreservedAnalyses FoldKnownSpaces::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> questions, atomics;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i); call) {
      if (asked_for(*call)) questions.push_back(call);
      if (counts_around(*call)) atomics.push_back(call);
    }
  const bool kernel = !(questions.empty() && atomics.empty()) && is_kernel(f);
  bool changed = false;
  for (llvm::IntrinsicInst* question : questions) {
    const std::optional<unsigned> space = space_of(question->getArgOperand(0), kernel);
    if (!space) continue;
    question->replaceAllUsesWith(llvm::ConstantInt::getBool(question->getContext(), *space == *asked_for(*question)));
    question->eraseFromParent();
    changed = true;
  }
  for (llvm::IntrinsicInst* atomic : atomics)
    if (const auto space = space_of(atomic->getArgOperand(0), kernel)) changed = name_space(*atomic, *space) || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
