// One store for the short branches of an `if` that all end by storing to one place, for clang's device pass.
//
// `if (t >= d) s[t] = a + b; else s[t] = a;` is one store with nvcc, whose value was chosen before. LLVM makes such stores
// one only together with many that nvcc leaves apart - behind other ways to the same end, of a `switch`, of long branches, of a
// number that one branch alone loads and copies - so that the driver has it leave all of them, and those are joined here. It shows
// in what the profiler counts where a warp takes several branches.
#include "lowering/optimiser/joined_stores.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

constexpr int kDeepest = 8;
constexpr unsigned kLongest = 16;

// The same calculation of the same values.
bool same(const llvm::Value* a, const llvm::Value* b, int depth) {
  if (a == b) return true;
  const auto *x = llvm::dyn_cast<llvm::Instruction>(a), *y = llvm::dyn_cast<llvm::Instruction>(b);
  if (!x || !y || depth > kDeepest || llvm::isa<llvm::PHINode>(x) || x->mayReadOrWriteMemory() || !x->isSameOperationAs(y)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(x); call && call->isConvergent()) return false;
  return llvm::all_of(llvm::zip(x->operands(), y->operands()),
                      [&](const auto& pair) { return same(std::get<0>(pair).get(), std::get<1>(pair).get(), depth + 1); });
}

llvm::StoreInst* last_store(llvm::BasicBlock& block) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  const llvm::BasicBlock* before = block.getSinglePredecessor();
  if (!branch || !branch->isUnconditional() || !before || !llvm::isa<llvm::BranchInst>(before->getTerminator()) ||
      block.sizeWithoutDebug() > kLongest)
    return nullptr;
  auto* store = llvm::dyn_cast_or_null<llvm::StoreInst>(block.getTerminator()->getPrevNonDebugInstruction());
  return store && store->isSimple() ? store : nullptr;
}

bool copies_own_load(const llvm::StoreInst& store) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(store.getValueOperand());
  return load && load->getParent() == store.getParent();
}

// What is reckoned in a branch only, once more behind all of them.
llvm::Value* behind(llvm::Value* v, llvm::Instruction& place, const llvm::DominatorTree& tree) {
  auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  if (!i || tree.dominates(i, &place)) return v;
  llvm::Instruction* const again = i->clone();
  for (llvm::Use& u : again->operands()) u.set(behind(u.get(), place, tree));
  again->insertBefore(&place);
  return again;
}

bool join(llvm::BasicBlock& end, const llvm::DominatorTree& tree) {
  llvm::SmallVector<llvm::StoreInst*, 4> stores;
  for (llvm::BasicBlock* before : llvm::predecessors(&end)) {
    llvm::StoreInst* const store = last_store(*before);
    if (!store) return false;
    stores.push_back(store);
  }
  if (stores.size() < 2) return false;
  llvm::StoreInst& first = *stores[0];
  llvm::Type* const type = first.getValueOperand()->getType();
  for (const llvm::StoreInst* store : llvm::drop_begin(stores))
    if (store->getValueOperand()->getType() != type || store->getAlign() != first.getAlign() ||
        copies_own_load(*store) != copies_own_load(first) || !same(store->getPointerOperand(), first.getPointerOperand(), 0))
      return false;

  llvm::PHINode* const value = llvm::IRBuilder<>(&end, end.begin()).CreatePHI(type, static_cast<unsigned>(stores.size()));
  llvm::Instruction& place = *end.getFirstInsertionPt();
  auto* joined = new llvm::StoreInst(value, behind(first.getPointerOperand(), place, tree), false, first.getAlign(), &place);
  joined->setDebugLoc(first.getDebugLoc());
  for (llvm::StoreInst* store : stores) {
    value->addIncoming(store->getValueOperand(), store->getParent());
    store->eraseFromParent();
  }
  return true;
}

}  // namespace

llvm::PreservedAnalyses JoinStores::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  // To the checker each is of its own line.
  if (f.hasFnAttribute(llvm::Attribute::SanitizeThread)) return llvm::PreservedAnalyses::all();
  const llvm::DominatorTree& tree = analyses.getResult<llvm::DominatorTreeAnalysis>(f);
  bool changed = false;
  for (llvm::BasicBlock& block : f) changed = join(block, tree) || changed;
  return kept_by_change(changed);
}

}  // namespace warpbeam::lowering
