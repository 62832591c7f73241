// Words whose bits choose an element of shared memory, as in `atomicAdd(&bins[key[i] & 255], 1)`.
//
// LLVM loads the one byte that the mask leaves. So does nvcc, but not here: its addresses of shared memory have 32 bits, mask and
// scaling become one operation, and no byte is left by itself. It shows in what the profiler counts: a warp asks for 128 bytes
// there and not for 32. Generated code asks no further than a `freeze`, which itself is nothing.
#include "lowering/optimiser/index_loads.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

namespace warpbeam::lowering {
namespace {

constexpr unsigned kShared = 3;

bool points_into_shared(const llvm::Value* pointer) {
  return llvm::getUnderlyingObject(pointer)->getType()->getPointerAddressSpace() == kShared;
}

// Chooses among elements of more than a byte.
bool is_index(const llvm::Value* value) {
  return !value->use_empty() && llvm::all_of(value->users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::ZExtInst>(user) || llvm::isa<llvm::SExtInst>(user)) return is_index(user);
    const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    if (!place || place->getPointerOperand() == value || !points_into_shared(place->getPointerOperand())) return false;
    return place->getDataLayout().getTypeAllocSize(place->getResultElementType()) > 1 &&
           place->getOperand(place->getNumOperands() - 1) == value;
  });
}

// Behind the masks and shifts by constants that are all that becomes of it; null: there are none.
const llvm::Value* masked(const llvm::LoadInst& load) {
  const llvm::Value* value = &load;
  while (value->hasOneUse()) {
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(*value->user_begin());
    const bool cuts = next && (next->getOpcode() == llvm::Instruction::And || next->getOpcode() == llvm::Instruction::LShr);
    if (!cuts || next->getOperand(0) != value || !llvm::isa<llvm::ConstantInt>(next->getOperand(1))) break;
    value = next;
  }
  return value == &load ? nullptr : value;
}

}  // namespace

llvm::PreservedAnalyses KeepIndexLoads::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::LoadInst*, 8> loads;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->isSimple() && load->getType()->isIntegerTy(32))
      if (const llvm::Value* index = masked(*load); index && is_index(index)) loads.push_back(load);
  for (llvm::LoadInst* load : loads) {
    llvm::IRBuilder<> build(load->getNextNode());
    llvm::Use& use = *load->use_begin();
    use.set(build.CreateFreeze(load));
  }
  return loads.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
