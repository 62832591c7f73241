// The order in which lanes exchange values through memory, for clang's device pass.
//
// `s[t] += s[t ^ 1]; s[t] += s[t ^ 2];` without barriers is wrong by the book, but right where a warp runs in lockstep
// and the compiler leaves the accesses in their order. nvcc does for GPUs before Blackwell: the optimiser it has for
// them does not know that `t ^ 1` is another place than `t`. Ours does, reads s[t ^ 2] before s[t] is stored, and
// stores s[t] once. So a thread's load from a place that differs by an exclusive or from one it has stored to stays
// behind that store. Places at a constant distance (`s[t + 1]`) are told apart by nvcc as well.
#include "lowering/optimiser/exchange_order.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

constexpr int kDeepestIndex = 6;

using Xors = llvm::SmallPtrSet<const llvm::Value*, 4>;

void add_xors(const llvm::Value* index, int depth, Xors& found) {
  const auto* i = llvm::dyn_cast<llvm::Instruction>(index);
  if (!i || depth > kDeepestIndex) return;
  if (i->getOpcode() == llvm::Instruction::Xor) {
    found.insert(i);
  } else if (llvm::isa<llvm::CastInst>(i) || llvm::isa<llvm::BinaryOperator>(i)) {
    for (const llvm::Value* operand : i->operands()) add_xors(operand, depth + 1, found);
  }
}

Xors xors_in(const llvm::Value* place) {
  Xors found;
  for (place = place->stripPointerCasts(); const auto* step = llvm::dyn_cast<llvm::GEPOperator>(place);
       place = step->getPointerOperand()->stripPointerCasts())
    for (const llvm::Value* index : step->indices()) add_xors(index, 0, found);
  return found;
}

bool same(const Xors& a, const Xors& b) {
  return a.size() == b.size() && llvm::all_of(a, [&](const llvm::Value* x) { return b.contains(x); });
}

struct Access {
  llvm::Instruction* instruction;
  const llvm::Value* object;
  Xors xors;
};

// Whatever barriers and other calls order, the optimiser leaves in order too.
bool orders_memory(const llvm::Instruction& i) {
  if (llvm::isa<llvm::FenceInst>(i)) return true;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && call->mayWriteToMemory() && !call->onlyAccessesInaccessibleMemOrArgMem();
}

using Stores = llvm::DenseMap<const llvm::Instruction*, Access>;

bool exchange(const Access& load, const Access& store) { return load.object == store.object && !same(load.xors, store.xors); }

// Does a way lead to the load from such a store on which nothing else keeps the two in order?
bool follows_exchange(const Access& load, const Stores& stores) {
  if (llvm::none_of(stores, [&](const auto& store) { return exchange(load, store.second); })) return false;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  llvm::SmallVector<const llvm::Instruction*, 16> ends = {load.instruction};
  while (!ends.empty()) {
    const llvm::Instruction* end = ends.pop_back_val();
    const llvm::Instruction* i = end;
    for (; i && !orders_memory(*i); i = i->getPrevNode())
      if (const auto store = stores.find(i); store != stores.end() && exchange(load, store->second)) return true;
    if (i) continue;
    for (const llvm::BasicBlock* before : llvm::predecessors(end->getParent()))
      if (seen.insert(before).second) ends.push_back(&before->back());
  }
  return false;
}

}  // namespace

llvm::PreservedAnalyses KeepExchangeOrder::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<Access, 16> loads;
  Stores stores;
  bool by_xor = false;
  for (llvm::Instruction& i : llvm::instructions(f)) {
    const llvm::Value* place = llvm::getLoadStorePointerOperand(&i);
    if (!place || i.isVolatile() || i.isAtomic()) continue;
    const llvm::Value* object = llvm::getUnderlyingObject(place);
    if (llvm::isa<llvm::AllocaInst>(object)) continue;
    const Access a{&i, object, xors_in(place)};
    by_xor = by_xor || !a.xors.empty();
    if (llvm::isa<llvm::LoadInst>(i)) loads.push_back(a);
    else stores.insert({&i, a});
  }
  if (!by_xor) return llvm::PreservedAnalyses::all();

  // Whether the optimiser tells the two places apart may turn out later, when it has unrolled loops.
  bool changed = false;
  for (const Access& load : loads) {
    if (!follows_exchange(load, stores)) continue;
    llvm::IRBuilder<> b(load.instruction);
    b.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(b.getVoidTy(), false), "", "~{memory}", /*hasSideEffects=*/true));
    changed = true;
  }
  return kept_by_change(changed);
}

}  // namespace warpbeam::lowering
