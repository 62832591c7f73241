// Device code cannot write `__constant__` variables. nvcc warns of a store to one and leaves it out, and makes a trap of an
// atomic operation; LLVM leaves the store out without a word, and has no instruction for the other.
//
// For the checker the store stays, to the same place by way of an address of which nobody knows that it is constant: it ends
// the kernel there.
#include "lowering/language/constant_stores.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr unsigned kConstantSpace = 4;

// A local variable that the address was loaded from; null where it came from elsewhere. Before optimisation all do.
const llvm::AllocaInst* kept_in(const llvm::Value* address) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(address);
  return load ? llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand()) : nullptr;
}

bool is_constant(const llvm::Value* pointer, const llvm::AllocaInst* of = nullptr);

// Whether all that the variable ever holds is made of addresses of constants, or of what it held.
bool holds_constants(const llvm::AllocaInst* variable) {
  bool found = false;
  for (const llvm::User* u : variable->users()) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(u);
    if (store && store->getPointerOperand() == variable) {
      if (!store->getValueOperand()->getType()->isPointerTy() || !is_constant(store->getValueOperand(), variable)) return false;
      found = true;
    } else if (!llvm::isa<llvm::LoadInst, llvm::IntrinsicInst>(u)) {
      return false;
    }
  }
  return found;
}

// Whatever way it came from a variable: the back end follows an address through choices, too. What was loaded from `of` is not
// looked at again.
bool is_constant(const llvm::Value* pointer, const llvm::AllocaInst* of) {
  const auto is = [](const llvm::Value* v) { return v->getType()->getPointerAddressSpace() == kConstantSpace; };
  if (is(pointer)) return true;
  llvm::SmallVector<const llvm::Value*, 4> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, 0);
  const auto of_constant = [&](const llvm::Value* v) {
    if (is(v)) return true;
    const llvm::AllocaInst* variable = kept_in(v);
    return variable && (variable == of || (!of && holds_constants(variable)));
  };
  return llvm::any_of(objects, of_constant) && llvm::all_of(objects, [&](const llvm::Value* v) {
           return of_constant(v) || llvm::isa<llvm::ConstantPointerNull, llvm::UndefValue>(v);
         });
}

void warn(const llvm::Instruction& i, const llvm::Twine& text) {
  i.getContext().diagnose(llvm::DiagnosticInfoUnsupported(*i.getFunction(), text, i.getDebugLoc(), llvm::DS_Warning));
}

llvm::Value* hidden(llvm::IRBuilder<>& b, llvm::Value* pointer) {
  llvm::Type* const generic = b.getPtrTy();
  llvm::Value* const at = pointer->getType()->getPointerAddressSpace() ? b.CreateAddrSpaceCast(pointer, generic) : pointer;
  auto* const type = llvm::FunctionType::get(generic, {generic}, false);
  return b.CreateCall(type, llvm::InlineAsm::get(type, "mov.b64 $0, $1;", "=l,l", /*hasSideEffects=*/true), {at});
}

}  // namespace

llvm::PreservedAnalyses TellConstantStores::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::Instruction*, 4> found;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    const llvm::Value* to = nullptr;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) to = store->getPointerOperand();
    else if (const auto* write = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) to = write->getRawDest();
    else if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) to = change->getPointerOperand();
    else if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i)) to = swap->getPointerOperand();
    if (to && is_constant(to)) found.push_back(&i);
  }
  for (llvm::Instruction* i : found) {
    llvm::IRBuilder<> b(i);
    if (i->isAtomic()) {
      warn(*i, "a kernel cannot change a __constant__ variable by an atomic operation: it ends there");
      b.CreateIntrinsic(llvm::Intrinsic::trap, {}, {});
      i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
      i->eraseFromParent();
      continue;
    }
    warn(*i, "a kernel cannot store to a __constant__ variable: the store is left out (copy to it with cudaMemcpyToSymbol)");
    if (!is_for_checker()) {
      i->eraseFromParent();
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(i)) {
      store->setOperand(store->getPointerOperandIndex(), hidden(b, store->getPointerOperand()));
    } else {
      auto* write = llvm::cast<llvm::MemIntrinsic>(i);
      llvm::Value* const to = hidden(b, write->getRawDest());
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(write))
        b.CreateMemMove(to, copy->getDestAlign(), copy->getSource(), copy->getSourceAlign(), copy->getLength());
      else b.CreateMemSet(to, llvm::cast<llvm::MemSetInst>(write)->getValue(), write->getLength(), write->getDestAlign());
      write->eraseFromParent();
    }
  }
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
