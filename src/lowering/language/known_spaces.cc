// `__isShared(p)` and its like, where it can be seen what p points into: headers ask so which of two ways a barrier or a copy
// takes, and nvcc keeps only that way. A way that is never taken would be a loop that waits, for all that engines can tell.
#include "lowering/language/known_spaces.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>

#include "lowering/kernels.h"

namespace warpbeam::lowering {
namespace {

constexpr unsigned kGlobal = 1, kShared = 3, kConstant = 4, kLocal = 5;
constexpr unsigned kFurthest = 12;  // steps back from a pointer

std::optional<unsigned> asked_for(const llvm::IntrinsicInst& i) {
  switch (i.getIntrinsicID()) {
    case llvm::Intrinsic::nvvm_isspacep_global: return kGlobal;
    case llvm::Intrinsic::nvvm_isspacep_shared: return kShared;
    case llvm::Intrinsic::nvvm_isspacep_const: return kConstant;
    case llvm::Intrinsic::nvvm_isspacep_local: return kLocal;
    default: return std::nullopt;
  }
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
  return (id == llvm::Intrinsic::nvvm_atomic_load_inc_32 || id == llvm::Intrinsic::nvvm_atomic_load_dec_32) &&
         !i.getArgOperand(0)->getType()->getPointerAddressSpace();
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

// Which of an assembly's operands stands in the brackets of its address, counted from its first argument.
std::optional<unsigned> addressed_argument(const llvm::InlineAsm& assembly, llvm::StringRef text) {
  unsigned operand = 0, results = 0;
  if (text.split("[$").second.consumeInteger(10, operand)) return std::nullopt;
  for (const auto& constraint : assembly.ParseConstraints()) results += constraint.Type == llvm::InlineAsm::isOutput;
  return operand - results;
}

// `atom.cta.add.u32 %0, [%1], %2;` and its like, by which headers spell atomic functions of other scopes than the device.
// Programs and the headers themselves also write some that name their memory already.
bool scoped_atomic(const llvm::CallInst& i) {
  const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(i.getCalledOperand());
  if (!assembly || !i.arg_size() || !i.getArgOperand(0)->getType()->isPointerTy() ||
      i.getArgOperand(0)->getType()->getPointerAddressSpace())
    return false;
  const llvm::StringRef text = assembly->getAsmString();
  if (!text.starts_with("atom.cta.") && !text.starts_with("atom.sys.")) return false;
  return text.count(';') == 1 && !text.contains(".global") && !text.contains(".shared") && addressed_argument(*assembly, text) == 0u;
}

// They name it as well: one whose old value nobody takes is no more than a sum then, for a GPU.
bool name_space_of_scoped(llvm::CallInst& i, unsigned space) {
  if (space != kGlobal && space != kShared) return false;
  const auto* assembly = llvm::cast<llvm::InlineAsm>(i.getCalledOperand());
  constexpr size_t kScope = sizeof("atom.cta.") - 1;
  const llvm::StringRef text = assembly->getAsmString();
  const std::string named = (text.take_front(kScope) + (space == kGlobal ? "global." : "shared.") + text.drop_front(kScope)).str();
  llvm::IRBuilder<> build(&i);
  llvm::SmallVector<llvm::Value*, 4> arguments(i.args());
  arguments[0] = build.CreateAddrSpaceCast(arguments[0], llvm::PointerType::get(i.getContext(), space));
  llvm::SmallVector<llvm::Type*, 4> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(i.getType(), types, false);
  llvm::CallInst* call =
      build.CreateCall(type, llvm::InlineAsm::get(type, named, assembly->getConstraintString(), assembly->hasSideEffects()), arguments);
  call->setAttributes(i.getAttributes());
  call->copyMetadata(i);
  i.replaceAllUsesWith(call);
  i.eraseFromParent();
  return true;
}

}  // namespace

llvm::PreservedAnalyses FoldKnownSpaces::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> questions, atomics;
  llvm::SmallVector<llvm::CallInst*, 8> scoped;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i); call) {
      if (asked_for(*call)) questions.push_back(call);
      if (counts_around(*call)) atomics.push_back(call);
    } else if (auto* other = llvm::dyn_cast<llvm::CallInst>(&i); other && scoped_atomic(*other)) {
      scoped.push_back(other);
    }
  const bool kernel = !(questions.empty() && atomics.empty() && scoped.empty()) && is_kernel(f);
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
  for (llvm::CallInst* atomic : scoped)
    if (const auto space = space_of(atomic->getArgOperand(0), kernel)) changed = name_space_of_scoped(*atomic, *space) || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
