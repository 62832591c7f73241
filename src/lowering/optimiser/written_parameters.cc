// A kernel's parameters that are structures and that it changes, for clang's device pass.
//
// The back end takes every pointer that is read from such a parameter for a global one, as the host has put it there. But a
// kernel may have put another one in its place: `codec.table = shared_table`. So what is changed becomes a variable of
// the thread, which starts as a copy; its members are values from then on, as with nvcc.
#include "lowering/optimiser/written_parameters.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include "lowering/kernels.h"

namespace warpbeam::lowering {
namespace {

bool leads_on(const llvm::User* user) {
  return llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst, llvm::AddrSpaceCastInst, llvm::PHINode, llvm::SelectInst>(user);
}

bool only_reads(const llvm::Use& use) {
  const llvm::User* user = use.getUser();
  if (llvm::isa<llvm::LoadInst, llvm::ICmpInst>(user)) return true;
  if (llvm::isa<llvm::MemTransferInst>(user)) return use.getOperandNo() == 1;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
  if (!call || !call->isDataOperand(&use)) return false;
  const unsigned operand = call->getDataOperandNo(&use);
  return call->onlyReadsMemory(operand) && call->doesNotCapture(operand);
}

// What a pointer that goes astray may do counts as a change.
bool may_change(const llvm::Argument& parameter) {
  llvm::SmallVector<const llvm::Value*, 8> pointers = {&parameter};
  llvm::SmallPtrSet<const llvm::Value*, 8> seen;
  while (!pointers.empty()) {
    const llvm::Value* pointer = pointers.pop_back_val();
    if (!seen.insert(pointer).second) continue;
    for (const llvm::Use& use : pointer->uses()) {
      if (leads_on(use.getUser())) pointers.push_back(use.getUser());
      else if (!only_reads(use)) return true;
    }
  }
  return false;
}

void copy(llvm::Argument& parameter) {
  llvm::Function& f = *parameter.getParent();
  llvm::Type* type = parameter.getParamByValType();
  const llvm::DataLayout& layout = f.getParent()->getDataLayout();
  const llvm::Align align = parameter.getParamAlign().value_or(layout.getABITypeAlign(type));
  llvm::IRBuilder<> b(&*f.getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* own = b.CreateAlloca(type, nullptr, parameter.getName() + ".own");
  own->setAlignment(align);
  parameter.replaceAllUsesWith(own);
  b.CreateMemCpy(own, align, &parameter, align, layout.getTypeAllocSize(type));
}

}  // namespace

llvm::PreservedAnalyses CopyWrittenParameters::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  llvm::SmallVector<llvm::Argument*, 4> changed;
  for (llvm::Argument& parameter : f.args())
    if (parameter.hasByValAttr() && may_change(parameter)) changed.push_back(&parameter);
  if (changed.empty() || !is_kernel(f)) return llvm::PreservedAnalyses::all();
  for (llvm::Argument* parameter : changed) copy(*parameter);
  analyses.invalidate(f, llvm::PreservedAnalyses::none());
  llvm::SROAPass(llvm::SROAOptions::PreserveCFG).run(f, analyses);
  return llvm::PreservedAnalyses::none();
}

namespace {

// Are loads all that the variable is used for, but for the copy that it starts as? Everything else is to go then.
bool only_loads(llvm::AllocaInst& own, const llvm::MemCpyInst& start, llvm::SmallVectorImpl<llvm::Instruction*>& lifetimes) {
  llvm::SmallVector<const llvm::Value*, 8> pointers = {&own};
  while (!pointers.empty()) {
    const llvm::Value* pointer = pointers.pop_back_val();
    for (const llvm::Use& use : pointer->uses()) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user == &start) continue;
      if (user->isLifetimeStartOrEnd()) lifetimes.push_back(user);
      else if (llvm::isa<llvm::GetElementPtrInst>(user)) pointers.push_back(user);
      else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user); !load || load->isVolatile()) return false;
    }
  }
  return true;
}

// The copy of the whole parameter that is the variable's only one; null: there is none.
llvm::MemCpyInst* start_of(llvm::AllocaInst& own) {
  llvm::MemCpyInst* start = nullptr;
  for (llvm::User* user : own.users())
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user)) {
      if (start || copy->getDest() != &own || copy->isVolatile()) return nullptr;
      start = copy;
    }
  const auto* parameter = start ? llvm::dyn_cast<llvm::Argument>(start->getSource()) : nullptr;
  const auto* bytes = start ? llvm::dyn_cast<llvm::ConstantInt>(start->getLength()) : nullptr;
  if (!parameter || !parameter->hasByValAttr() || !bytes || start->getParent() != &start->getFunction()->getEntryBlock()) return nullptr;
  const llvm::DataLayout& layout = start->getModule()->getDataLayout();
  const uint64_t size = layout.getTypeAllocSize(parameter->getParamByValType());
  return bytes->getZExtValue() == size && layout.getTypeAllocSize(own.getAllocatedType()) == size ? start : nullptr;
}

}  // namespace

llvm::PreservedAnalyses ForgetUnwrittenCopies::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (f.empty() || !is_kernel(f)) return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::AllocaInst*, 4> variables;
  for (llvm::Instruction& i : f.getEntryBlock())
    if (auto* own = llvm::dyn_cast<llvm::AllocaInst>(&i)) variables.push_back(own);
  bool changed = false;
  for (llvm::AllocaInst* own : variables) {
    llvm::MemCpyInst* start = start_of(*own);
    llvm::SmallVector<llvm::Instruction*, 4> lifetimes;
    if (!start || !only_loads(*own, *start, lifetimes)) continue;
    auto* parameter = llvm::cast<llvm::Argument>(start->getSource());
    // What the back end reads is as aligned as the parameter, which may be less than the variable.
    if (parameter->getParamAlign().valueOrOne() < own->getAlign()) continue;
    for (llvm::Instruction* i : lifetimes) i->eraseFromParent();
    start->eraseFromParent();
    own->replaceAllUsesWith(parameter);
    own->eraseFromParent();
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
