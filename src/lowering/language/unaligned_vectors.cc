// Vectors of bytes or of 16 bits whose place is not aligned. LLVM makes one of sixteen neighbouring bytes wherever they begin, and its
// back end for GPUs reads that in one access, which a GPU does not take. Here each element is an access of its own again.
#include "lowering/language/unaligned_vectors.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

namespace warpbeam::lowering {
namespace {

const llvm::FixedVectorType* small_elements(const llvm::Type* type) {
  const auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const unsigned bits = vector ? vector->getScalarSizeInBits() : 0;
  return bits == 8 || bits == 16 ? vector : nullptr;
}

// The type of a vector that is accessed where it may not stand.
const llvm::FixedVectorType* unaligned(const llvm::Instruction& i) {
  const auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
  const auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i);
  if ((!load || !load->isSimple()) && (!store || !store->isSimple())) return nullptr;
  const auto* const vector = small_elements(load ? load->getType() : store->getValueOperand()->getType());
  if (!vector) return nullptr;
  const uint64_t bytes = vector->getNumElements() * vector->getScalarSizeInBits() / 8;
  const uint64_t align = (load ? load->getAlign() : store->getAlign()).value();
  return align < std::min<uint64_t>(llvm::PowerOf2Ceil(bytes), 16) ? vector : nullptr;
}

void split(llvm::Instruction& i, const llvm::FixedVectorType& vector) {
  llvm::IRBuilder<> b(&i);
  llvm::Type* const element = vector.getElementType();
  const uint64_t step = element->getScalarSizeInBits() / 8;
  auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
  auto* const store = llvm::dyn_cast<llvm::StoreInst>(&i);
  llvm::Value* const place = load ? load->getPointerOperand() : store->getPointerOperand();
  const llvm::Align align = load ? load->getAlign() : store->getAlign();
  llvm::Value* all = load ? llvm::PoisonValue::get(load->getType()) : store->getValueOperand();
  for (unsigned k = 0; k < vector.getNumElements(); ++k) {
    llvm::Value* const at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), place, k * step);
    const llvm::Align here = llvm::commonAlignment(align, k * step);
    if (load) all = b.CreateInsertElement(all, b.CreateAlignedLoad(element, at, here), k);
    else b.CreateAlignedStore(b.CreateExtractElement(all, k), at, here);
  }
  if (load) load->replaceAllUsesWith(all);
  i.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses SplitUnalignedVectors::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<std::pair<llvm::Instruction*, const llvm::FixedVectorType*>, 8> found;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (const auto* const vector = unaligned(i)) found.emplace_back(&i, vector);
  for (const auto& [i, vector] : found) split(*i, *vector);
  return found.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
