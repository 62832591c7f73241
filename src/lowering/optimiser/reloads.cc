// Values that are read again behind a store of the same value, for clang's device pass.
//
// `t = s[a]; s[a] = s[b]; s[b] += t;` - the way down of a scan - reads s[b] twice with nvcc, since `a` may be `b`. LLVM has
// learned since that it makes no difference then: what is stored to s[a] is what was read from s[b]. It would count one load from
// shared memory less than a GPU. It looks no further than a `freeze`, of which code generation makes nothing.
#include "lowering/optimiser/reloads.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

bool same_place(const llvm::Value* a, const llvm::Value* b) {
  if (a == b) return true;
  const auto *x = llvm::dyn_cast<llvm::GetElementPtrInst>(a), *y = llvm::dyn_cast<llvm::GetElementPtrInst>(b);
  return x && y && x->isIdenticalTo(y);
}

bool is_read_again(const llvm::LoadInst& first, const llvm::StoreInst& store) {
  for (const llvm::Instruction* i = store.getNextNode(); i; i = i->getNextNode())
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(i);
        load && load->getType() == first.getType() && same_place(load->getPointerOperand(), first.getPointerOperand()))
      return true;
  return false;
}

}  // namespace

llvm::PreservedAnalyses KeepReloads::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::StoreInst*, 8> stores;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
    const auto* load = store && store->isSimple() ? llvm::dyn_cast<llvm::LoadInst>(store->getValueOperand()) : nullptr;
    if (load && load->isSimple() && !same_place(load->getPointerOperand(), store->getPointerOperand()) && is_read_again(*load, *store))
      stores.push_back(store);
  }
  for (llvm::StoreInst* store : stores) store->setOperand(0, llvm::IRBuilder<>(store).CreateFreeze(store->getValueOperand()));
  return kept_by_change(!stores.empty());
}

}  // namespace warpbeam::lowering
