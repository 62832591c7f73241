// For the checker: `int h[8]; for (int k = 0; k <= 8; ++k) h[k] = 0;`.
//
// Arrays in loops whose rounds are known become registers, and what goes past their end has no meaning: nothing is left of it. So
// where an access is going to, by constants and the numbers of rounds, a second one goes to a guard of the same size, in case
// it is past the end: to behind the guard, where its margin is (local_margins.cc). What is right is left alone.
#include "lowering/outside_arrays.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>

#include <optional>

#include "lowering/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr llvm::StringLiteral kGuarded = "warpbeam.guarded";

struct Range {
  int64_t least, most;
};

class Guards {
 public:
  Guards(llvm::Function& f, llvm::ScalarEvolution& evolution) : f_(f), evolution_(evolution) {}

  bool run() {
    llvm::SmallVector<llvm::Instruction*, 32> accesses;
    for (llvm::Instruction& i : llvm::instructions(f_))
      if (is_plain(i) && !i.getMetadata(kGuarded)) accesses.push_back(&i);
    bool changed = false;
    for (llvm::Instruction* i : accesses) changed = look_at(*i) || changed;
    return changed;
  }

 private:
  static bool is_plain(const llvm::Instruction& i) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->isSimple();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
    return store && store->isSimple();
  }

  // Between what numbers it is, by constants and rounds alone. A round that only finds the loop to be over comes to no access
  // behind the condition.
  std::optional<Range> range_of(const llvm::SCEV* s) {
    constexpr int64_t kMost = int64_t(1) << 30;
    if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(s)) {
      const llvm::APInt& v = constant->getAPInt();
      if (v.getSignificantBits() > 31) return std::nullopt;
      return Range{v.getSExtValue(), v.getSExtValue()};
    }
    const auto* rounds = llvm::dyn_cast<llvm::SCEVAddRecExpr>(s);
    if (!rounds || !rounds->isAffine()) return std::nullopt;
    const auto start = range_of(rounds->getStart()), step = range_of(rounds->getStepRecurrence(evolution_));
    const auto* back = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getBackedgeTakenCount(rounds->getLoop()));
    if (!start || !step || step->least != step->most || !back || back->getAPInt().getActiveBits() > 20) return std::nullopt;
    const llvm::Loop& loop = *rounds->getLoop();
    const bool asks_first = loop.getExitingBlock() == loop.getHeader() && loop.getHeader() != loop.getLoopLatch();
    const auto count = static_cast<int64_t>(back->getAPInt().getZExtValue());
    if (asks_first && count == 0) return std::nullopt;
    const int64_t way = step->least * (asks_first ? count - 1 : count);
    if (std::abs(way) > kMost) return std::nullopt;
    return Range{start->least + std::min<int64_t>(way, 0), start->most + std::max<int64_t>(way, 0)};
  }

  bool look_at(llvm::Instruction& i) {
    llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&i);
    auto* const array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
    if (!array || !array->isStaticAlloca() || array->isArrayAllocation() || pointer == array) return false;
    const llvm::DataLayout& layout = f_.getDataLayout();
    llvm::Type* const type = llvm::getLoadStoreType(&i);
    const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(type)), size = static_cast<int64_t>(layout.getTypeAllocSize(array->getAllocatedType()));
    const llvm::SCEV* const offset = evolution_.getMinusSCEV(evolution_.getSCEV(pointer), evolution_.getSCEV(array));
    if (llvm::isa<llvm::SCEVCouldNotCompute>(offset) || size % bytes) return false;
    const std::optional<Range> range = range_of(offset);
    if (!range || (range->least >= 0 && range->most + bytes <= size)) return false;
    i.setMetadata(kGuarded, llvm::MDNode::get(f_.getContext(), {}));
    guard(i, *array, pointer, type, bytes, size);
    return true;
  }

  // By calculation: to take the array's address would keep it from becoming registers.
  llvm::Value* offset_of(llvm::IRBuilder<>& here, llvm::Value* pointer, const llvm::AllocaInst& array) {
    llvm::Value* sum = here.getInt64(0);
    while (pointer != &array) {
      auto* const part = llvm::dyn_cast<llvm::GEPOperator>(pointer);
      if (!part) return nullptr;
      sum = here.CreateAdd(sum, llvm::emitGEPOffset(&here, f_.getDataLayout(), part));
      pointer = part->getPointerOperand();
    }
    return sum;
  }

  void guard(llvm::Instruction& i, llvm::AllocaInst& array, llvm::Value* pointer, llvm::Type* type, int64_t bytes, int64_t size) {
    llvm::IRBuilder<> here(&i);
    llvm::Value* const at = offset_of(here, pointer, array);
    if (!at) return;
    llvm::Value* const nothing = llvm::Constant::getNullValue(type);
    llvm::Value* const guard = guard_of(array, nothing);
    llvm::Value* const outside = here.CreateICmpUGT(at, here.getInt64(static_cast<uint64_t>(size - bytes)));
    llvm::Value* const place = here.CreateGEP(here.getInt8Ty(), guard, here.CreateSelect(outside, here.getInt64(static_cast<uint64_t>(size)), here.getInt64(0)));
    const llvm::Align align = llvm::getLoadStoreAlignment(&i);
    if (llvm::isa<llvm::LoadInst>(i)) here.CreateAlignedLoad(type, place, align, /*isVolatile=*/true);
    else here.CreateAlignedStore(nothing, place, align, /*isVolatile=*/true);
  }

  // Where it is the optimiser must not know: what goes past its end would be nothing to keep.
  llvm::Value* guard_of(llvm::AllocaInst& array, llvm::Value* nothing) {
    llvm::IRBuilder<> entry(&array);
    llvm::AllocaInst* const guard = entry.CreateAlloca(array.getAllocatedType());
    guard->setAlignment(array.getAlign());
    entry.SetInsertPoint(&*f_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    llvm::Type* const pointer = guard->getType();
    llvm::Value* const hidden = entry.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(pointer, {pointer}, false), "", "=l,0", /*hasSideEffects=*/false), {guard});
    entry.CreateAlignedStore(nothing, hidden, array.getAlign(), /*isVolatile=*/true);
    return hidden;
  }

  llvm::Function& f_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

llvm::PreservedAnalyses ShowOutsideArrays::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  if (!is_for_checker() || f.isDeclaration()) return llvm::PreservedAnalyses::all();
  Guards guards(f, analyses.getResult<llvm::ScalarEvolutionAnalysis>(f));
  return guards.run() ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
