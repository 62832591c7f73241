// For the checker: where a thread's own arrays end.
//
// The arrays of a function lie side by side in its piece of local memory, so that `int h[8]; h[8] = 1;` stores into whatever comes
// next. Each gets a margin of bytes that belong to nothing, and where the function begins a store says of each where it is:
// a word in the margin that holds kMargin, how long the array is, and how many bytes of the margin stand before the word
// (src/observe/check/locals.cc reads it). All arrays that are left by now are told of, so that what was said of other
// functions, which had the same memory before, holds no longer.
#include "lowering/checker/local_margins.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr uint64_t kMargin = 0x7b3e91d5;  // the upper half of the word
constexpr uint64_t kWord = 8, kBehind = 16, kMostBytes = uint64_t(1) << 28;
constexpr unsigned kLocal = 5;  // the address space

// It is there as long as the function is.
void forget_lifetime(llvm::Value& variable) {
  llvm::SmallVector<llvm::Instruction*, 4> ends;
  for (llvm::User* user : variable.users())
    if (auto* i = llvm::dyn_cast<llvm::IntrinsicInst>(user); i && i->isLifetimeStartOrEnd()) ends.push_back(i);
  for (llvm::Instruction* i : ends) i->eraseFromParent();
}

// Gives what stands in its place.
llvm::AllocaInst* with_margin(llvm::AllocaInst& at, uint64_t word) {
  llvm::IRBuilder<> here(&at);
  auto* const wider = here.CreateAlloca(llvm::ArrayType::get(here.getInt8Ty(), word + kWord + kBehind), at.getAddressSpace());
  wider->setAlignment(std::max(at.getAlign(), llvm::Align(kWord)));
  wider->takeName(&at);
  forget_lifetime(at);
  at.replaceAllUsesWith(wider);
  at.eraseFromParent();
  return wider;
}

void tell(llvm::IRBuilder<>& here, llvm::AllocaInst& variable, uint64_t bytes, uint64_t word) {
  llvm::Value* place = here.CreateConstGEP1_64(here.getInt8Ty(), &variable, word);
  if (variable.getAddressSpace() != kLocal) place = here.CreateAddrSpaceCast(place, here.getPtrTy(kLocal));
  here.CreateAlignedStore(here.getInt64(kMargin << 32 | bytes << 4 | (word - bytes)), place, llvm::Align(kWord), /*isVolatile=*/true);
}

}  // namespace

llvm::PreservedAnalyses LocalMargins::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (!is_for_checker() || f.isDeclaration()) return llvm::PreservedAnalyses::all();
  llvm::SmallVector<llvm::AllocaInst*, 8> variables;
  for (llvm::Instruction& i : f.getEntryBlock())
    if (auto* at = llvm::dyn_cast<llvm::AllocaInst>(&i); at && at->isStaticAlloca() && !at->isArrayAllocation()) variables.push_back(at);
  struct Told {
    llvm::AllocaInst* variable;
    uint64_t bytes, word;
  };
  llvm::SmallVector<Told, 8> told;
  for (llvm::AllocaInst* at : variables) {
    const uint64_t bytes = at->getDataLayout().getTypeAllocSize(at->getAllocatedType()), word = llvm::alignTo(bytes, kWord);
    if (bytes && bytes < kMostBytes) told.push_back({with_margin(*at, word), bytes, word});
  }
  if (told.empty()) return llvm::PreservedAnalyses::all();
  llvm::IRBuilder<> here(told.back().variable->getNextNode());
  for (const Told& t : told) tell(here, *t.variable, t.bytes, t.word);
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
