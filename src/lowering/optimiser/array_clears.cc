// Setting a thread's own array, for clang's device pass.
//
// `unsigned bins[64] = {};` is 16 stores of 16 bytes with nvcc. Of a memset that is longer than 127 bytes LLVM's NVPTX back end makes a loop over
// bytes: 256 stores.
// Precondition: the length is known, at most kMostBytes, the array starts at a word or can be made to. Fallback: LLVM's loop.
#include "lowering/optimiser/array_clears.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace warpbeam::lowering {
namespace {

constexpr uint64_t kLeastBytes = 128, kMostBytes = 2048;
const llvm::Align kWidest(16);

bool clear(llvm::MemSetInst& set) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(set.getLength());
  auto* array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(set.getDest()));
  if (!length || !array || set.isVolatile() || length->getZExtValue() < kLeastBytes || length->getZExtValue() > kMostBytes) return false;
  llvm::Align align = set.getDestAlign().valueOrOne();
  if (array == set.getDest()->stripPointerCasts()) {
    array->setAlignment(std::max(array->getAlign(), kWidest));
    align = kWidest;
  }
  if (align < llvm::Align(4)) return false;
  llvm::IRBuilder<> b(&set);
  const uint64_t bytes = length->getZExtValue();
  for (uint64_t at = 0; at < bytes;) {
    uint64_t width = llvm::commonAlignment(std::min(align, kWidest), at).value();
    while (at + width > bytes) width /= 2;
    const unsigned members = width > 4 ? static_cast<unsigned>(width / 4) : 1;
    llvm::Value* value = set.getValue();
    const auto bits = static_cast<unsigned>(8 * std::min<uint64_t>(width, 4));
    if (bits > 8) value = b.CreateMul(b.CreateZExt(value, b.getIntNTy(bits)), b.getInt(llvm::APInt::getSplat(bits, llvm::APInt(8, 1))));
    if (members > 1) value = b.CreateVectorSplat(members, value);
    b.CreateAlignedStore(value, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), set.getDest(), at), llvm::commonAlignment(align, at));
    at += width;
  }
  set.eraseFromParent();
  return true;
}

}  // namespace

llvm::PreservedAnalyses ClearArrays::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  llvm::SmallVector<llvm::MemSetInst*, 4> sets;
  for (llvm::Instruction& i : llvm::instructions(function))
    if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&i)) sets.push_back(set);
  bool changed = false;
  for (llvm::MemSetInst* set : sets) changed = clear(*set) || changed;
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
