// Places in memory by part of a number, for clang's device pass.
//
// Idea: of `a[x & 31]` nvcc's optimiser makes a distance in bytes first, `(x << 2) & 124`, and widens what it masks: four instructions with the sum of 64
// bits where the masked number times the element's size is two (mul.wide.u32). It shows in counted instructions and in how long one access
// waits for the one before: tables, hashes, rings, histograms. (Found with nvcc 13.0 and counters of an H200 for 80 ways to make an index.)
// Precondition: code for a GPU's times (is_for_times); a mask that nothing else reads, elements of 2^k bytes.
// Postcondition: the same places.
// Fallback: none is needed, the code is what it was.
#include "lowering/optimiser/masked_places.h"

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/MathExtras.h>

#include "lowering/optimiser/warp_size.h"

namespace warpbeam::lowering {
namespace {

struct Masked {
  llvm::Value* number = nullptr;  // of 32 bits
  uint64_t mask = 0;
};

// The part of a number that an index is.
Masked masked(llvm::Value* index) {
  using namespace llvm::PatternMatch;
  llvm::Value* number = nullptr;  // a pattern that does not match may leave it set
  const llvm::APInt* mask = nullptr;
  const auto part = [&](uint64_t of) { return number->getType()->isIntegerTy(32) ? Masked{number, of} : Masked{}; };
  // Of an extended sign nothing is known.
  if (match(index, m_ZExtOrSExt(m_OneUse(m_And(m_Value(number), m_APInt(mask))))))
    return mask->isNegative() ? Masked{} : part(mask->getZExtValue());
  if (match(index, m_ZExt(m_OneUse(m_Trunc(m_Value(number)))))) {
    const auto* narrow = llvm::cast<llvm::Instruction>(llvm::cast<llvm::ZExtInst>(index)->getOperand(0));
    return part(llvm::maskTrailingOnes<uint64_t>(narrow->getType()->getIntegerBitWidth()));
  }
  if (match(index, m_And(m_ZExt(m_Value(number)), m_APInt(mask)))) return part(mask->getZExtValue());
  return {};
}

// `number` times 2^k, of which only what `mask` leaves is wanted.
llvm::Value* shifted(llvm::IRBuilder<>& at, llvm::Value* number, unsigned k) {
  using namespace llvm::PatternMatch;
  llvm::Value* whole = nullptr;
  uint64_t down = 0;
  if (!match(number, m_LShr(m_Value(whole), m_ConstantInt(down)))) return at.CreateShl(number, k);
  return down > k ? at.CreateLShr(whole, down - k) : down < k ? at.CreateShl(whole, k - down) : whole;
}

// The only index of a place that is not zero, if it stands for elements of 2^k bytes.
llvm::Value* only_index(llvm::GetElementPtrInst& place, const llvm::DataLayout& layout, unsigned& k) {
  llvm::Value* only = nullptr;
  for (auto at = llvm::gep_type_begin(place), end = llvm::gep_type_end(place); at != end; ++at) {
    if (const auto* zero = llvm::dyn_cast<llvm::ConstantInt>(at.getOperand()); zero && zero->isZero()) continue;
    if (only || at.isStruct() || !at.getOperand()->getType()->isIntegerTy(64)) return nullptr;
    const uint64_t size = at.getSequentialElementStride(layout).getFixedValue();
    if (size < 2 || !llvm::isPowerOf2_64(size)) return nullptr;
    k = llvm::Log2_64(size);
    only = at.getOperand();
  }
  return only;
}

}  // namespace

llvm::PreservedAnalyses MaskPlaces::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (!is_for_times()) return llvm::PreservedAnalyses::all();
  const llvm::DataLayout& layout = f.getDataLayout();
  std::vector<llvm::GetElementPtrInst*> places;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&i); place && !place->getType()->isVectorTy()) places.push_back(place);
  bool changed = false;
  for (llvm::GetElementPtrInst* place : places) {
    unsigned k = 0;
    llvm::Value* const index = only_index(*place, layout, k);
    const Masked part = index ? masked(index) : Masked{};
    if (!part.number) continue;
    llvm::IRBuilder<> at(place);
    const bool fits = llvm::isUInt<32>(part.mask << k);
    llvm::Value* const wide =
        fits ? at.CreateZExt(shifted(at, part.number, k), at.getInt64Ty()) : at.CreateShl(at.CreateZExt(part.number, at.getInt64Ty()), k);
    llvm::Value* const bytes = at.CreateAnd(wide, part.mask << k);
    place->replaceAllUsesWith(at.CreateGEP(at.getInt8Ty(), place->getPointerOperand(), bytes, "", place->getNoWrapFlags()));
    place->eraseFromParent();
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
