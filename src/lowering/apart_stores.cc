// Stores in the two branches of an `if` that nvcc leaves apart, for clang's device pass.
//
// `if (i < n) tile[t] = a[i]; else tile[t] = 0.0f;` are two stores with nvcc. Its optimiser makes one of two that store the
// same type, too, but takes a number that is only copied for an integer. Ours would make one of these as well, and a warp whose
// lanes take both branches would ask once where a GPU asks twice. What passes make one of the two leave atomic stores alone, so
// that the one that copies is atomic while they run.
#include "lowering/apart_stores.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>

#include <memory>

namespace warpbeam::lowering {
namespace {

bool makes_one(llvm::StringRef pass) { return pass == "InstCombinePass" || pass == "MergedLoadStoreMotionPass"; }

bool is_copy(const llvm::StoreInst& store) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(store.getValueOperand());
  return load && load->isSimple() && llvm::all_of(load->users(), [&](const llvm::User* user) {
    const auto* into = llvm::dyn_cast<llvm::StoreInst>(user);
    return into && into->getValueOperand() == load;
  });
}

// The block's sibling, if both lead to the same place and nothing else does.
llvm::BasicBlock* other_branch(llvm::BasicBlock& block) {
  llvm::BasicBlock* const end = block.getSingleSuccessor();
  if (!end || !end->hasNPredecessors(2)) return nullptr;
  for (llvm::BasicBlock* before : llvm::predecessors(end))
    if (before != &block && before->getSingleSuccessor()) return before;
  return nullptr;
}

class Keeper {
 public:
  void before(llvm::Function& f) {
    for (llvm::BasicBlock& block : f) {
      llvm::BasicBlock* const other = other_branch(block);
      if (!other) continue;
      for (llvm::Instruction& i : block)
        if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i); store && store->isSimple() && store->getValueOperand()->getType()->isFloatingPointTy() && is_copy(*store) && has_calculated(*other, *store))
          set_apart(*store);
    }
  }
  void after() {
    for (const llvm::WeakVH& store : stores_)
      if (store) llvm::cast<llvm::StoreInst>(store)->setAtomic(llvm::AtomicOrdering::NotAtomic);
    stores_.clear();
  }

 private:
  static bool has_calculated(const llvm::BasicBlock& other, const llvm::StoreInst& copy) {
    return llvm::any_of(other, [&](const llvm::Instruction& i) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
      return store && store->getValueOperand()->getType() == copy.getValueOperand()->getType() && !is_copy(*store);
    });
  }
  void set_apart(llvm::StoreInst& store) {
    store.setAtomic(llvm::AtomicOrdering::Monotonic);
    stores_.push_back(&store);
  }
  llvm::SmallVector<llvm::WeakVH, 8> stores_;
};

llvm::Function* function_of(llvm::Any& code) {
  const llvm::Function* const* f = llvm::any_cast<const llvm::Function*>(&code);
  return f ? const_cast<llvm::Function*>(*f) : nullptr;
}

}  // namespace

void keep_stores_apart(llvm::PassInstrumentationCallbacks& passes) {
  const auto keeper = std::make_shared<Keeper>();
  passes.registerBeforeNonSkippedPassCallback([keeper](llvm::StringRef pass, llvm::Any code) {
    if (llvm::Function* f = makes_one(pass) ? function_of(code) : nullptr) keeper->before(*f);
  });
  passes.registerAfterPassCallback([keeper](llvm::StringRef pass, llvm::Any, const llvm::PreservedAnalyses&) {
    if (makes_one(pass)) keeper->after();
  });
}

}  // namespace warpbeam::lowering
