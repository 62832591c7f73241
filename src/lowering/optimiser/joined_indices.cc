// Elements of a row, in loops whose addresses do not grow by a constant.
//
// Idea: of `float* row = p + r * n; … row[i]` LLVM makes the row's address before the loop and adds to that in the loop. nvcc adds the numbers, and
// makes an address of the sum in each turn: 4 PTX instructions for 2, which the kernel's time and its count of instructions show. Where addresses
// grow by a constant, both walk with a pointer afterwards.
// Precondition: the row is made outside of the loop, of elements of the same type. Fallback: LLVM's two addresses.
#include "lowering/optimiser/joined_indices.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

using llvm::GetElementPtrInst;

// With one index that is no number.
GetElementPtrInst* element_of(llvm::Value* value) {
  auto* element = llvm::dyn_cast<GetElementPtrInst>(value);
  return element && element->getNumIndices() == 1 && !llvm::isa<llvm::Constant>(element->getOperand(1)) && !element->getType()->isVectorTy()
             ? element
             : nullptr;
}

bool alike(const GetElementPtrInst& a, const GetElementPtrInst& b) {
  return a.getSourceElementType() == b.getSourceElementType() && a.getOperand(1)->getType() == b.getOperand(1)->getType();
}

bool join(GetElementPtrInst& element, const llvm::LoopInfo& loops) {
  const llvm::Loop* const loop = loops.getLoopFor(element.getParent());
  if (!loop) return false;
  llvm::Value* before = nullptr;
  llvm::Value* base = element.getPointerOperand();
  bool inside = element.isInBounds();
  for (GetElementPtrInst* row; (row = element_of(base)) && alike(*row, element) && !loop->contains(row); base = row->getPointerOperand()) {
    inside = inside && row->isInBounds();
    before = before ? llvm::IRBuilder<>(llvm::cast<llvm::Instruction>(element.getPointerOperand())).CreateAdd(before, row->getOperand(1))
                    : row->getOperand(1);
  }
  if (!before) return false;
  llvm::IRBuilder<> b(&element);
  llvm::Value* const sum = b.CreateAdd(element.getOperand(1), before);
  element.replaceAllUsesWith(inside ? b.CreateInBoundsGEP(element.getSourceElementType(), base, sum)
                                    : b.CreateGEP(element.getSourceElementType(), base, sum));
  return true;
}

}  // namespace

llvm::PreservedAnalyses JoinIndices::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallVector<GetElementPtrInst*, 16> elements, joined;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (GetElementPtrInst* element = element_of(&i)) elements.push_back(element);
  for (GetElementPtrInst* element : elements)
    if (join(*element, loops)) joined.push_back(element);
  for (GetElementPtrInst* element : joined) element->eraseFromParent();
  return kept_by_change(!joined.empty());
}

}  // namespace warpbeam::lowering
