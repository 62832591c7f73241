// For the checker: variables that some way through a function leaves without a value, `float best; for (…) if (x > best) …`.
//
// Soon they are registers, and a register that nobody has set is like any other. So each gets a companion that stays in local
// memory, which is stored to where the variable is set, and loaded where its value is compared or calculated with: the
// checker sees a load of what nobody has stored. Where a value is only passed on, as an argument or into another variable,
// it may be of no use to anybody, and nothing is loaded.
#include "lowering/unset_variables.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/CommandLine.h>

#include "lowering/own_places.h"

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> wanted("warpbeam-unset-variables", llvm::cl::desc("Make visible where variables without a value are used"));

struct Uses {
  llvm::SmallVector<llvm::LoadInst*, 8> loads;
  llvm::SmallVector<llvm::StoreInst*, 8> stores;
  llvm::SmallVector<llvm::Instruction*, 4> begins;  // after which it has no value
};

// False for a variable whose address goes elsewhere.
bool find_uses(llvm::AllocaInst& variable, Uses& uses) {
  llvm::Type* const type = variable.getAllocatedType();
  if (variable.isArrayAllocation() || !(type->isIntegerTy() || type->isFloatingPointTy())) return false;
  uses.begins.push_back(&variable);
  for (llvm::User* user : variable.users()) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user); load && load->getType() == type && !load->isVolatile()) {
      uses.loads.push_back(load);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user); store && store->getPointerOperand() == &variable && store->getValueOperand()->getType() == type && !store->isVolatile()) {
      uses.stores.push_back(store);
    } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user); intrinsic && intrinsic->isLifetimeStartOrEnd()) {
      if (intrinsic->getIntrinsicID() == llvm::Intrinsic::lifetime_start) uses.begins.push_back(intrinsic);
    } else {
      return false;
    }
  }
  return !uses.loads.empty();
}

// Loads that a way from a beginning reaches past no store.
llvm::SmallPtrSet<llvm::Instruction*, 8> unset_loads(llvm::AllocaInst& variable, const Uses& uses) {
  llvm::SmallPtrSet<llvm::Instruction*, 8> found;
  llvm::SmallPtrSet<llvm::BasicBlock*, 32> seen;
  llvm::SmallVector<llvm::Instruction*, 16> open;
  for (llvm::Instruction* begin : uses.begins) open.push_back(begin->getNextNode());
  while (!open.empty()) {
    bool set = false;
    llvm::BasicBlock* const block = open.back()->getParent();
    for (llvm::Instruction* i = open.pop_back_val(); i && !set; i = i->getNextNode()) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(i)) set = store->getPointerOperand() == &variable;
      else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(i); load && load->getPointerOperand() == &variable) found.insert(load);
    }
    if (set) continue;
    for (llvm::BasicBlock* next : llvm::successors(block))
      if (seen.insert(next).second) open.push_back(&next->front());
  }
  return found;
}

bool is_calculated_with(const llvm::Instruction& value) {
  for (const llvm::User* user : value.users()) {
    if (llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst, llvm::BranchInst, llvm::SwitchInst, llvm::GetElementPtrInst>(user)) return true;
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(user); cast && is_calculated_with(*cast)) return true;
  }
  return false;
}

}  // namespace

bool is_for_checker() { return wanted; }

llvm::PreservedAnalyses WatchUnsetVariables::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (!wanted || is_of_platform(f)) return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::AllocaInst*, 16> variables;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&i)) variables.push_back(variable);
  for (llvm::AllocaInst* variable : variables) {
    Uses uses;
    if (!find_uses(*variable, uses)) continue;
    auto loads = unset_loads(*variable, uses);
    llvm::SmallVector<llvm::LoadInst*, 8> watched;
    for (llvm::LoadInst* load : uses.loads)
      if (loads.contains(load) && is_calculated_with(*load)) watched.push_back(load);
    if (watched.empty()) continue;
    llvm::Type* const type = variable->getAllocatedType();
    auto* companion = llvm::IRBuilder<>(variable).CreateAlloca(type, nullptr, variable->getName() + ".set");
    for (llvm::StoreInst* store : uses.stores) llvm::IRBuilder<>(store).CreateStore(llvm::Constant::getNullValue(type), companion, true);
    for (llvm::LoadInst* load : watched) llvm::IRBuilder<>(load).CreateLoad(type, companion, true);
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
