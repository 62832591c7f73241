// For the checker: `int h[8]; for (int k = 0; k <= 8; ++k) h[k] = 0;`, and `half h; … *(unsigned*)&h`.
//
// Arrays in loops whose rounds are known become registers, and what goes past their end has no meaning: nothing is left of it. So
// where an access is going to, by constants and the numbers of rounds, a second one goes to a guard of the same size, in case
// it is past the end, also by a part: to where the guard's margin is (local_margins.cc). What is right is left alone.
#include "lowering/checker/outside_arrays.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr llvm::StringLiteral kGuarded = "warpbeam.guarded";

struct Range {
  int64_t least, most;
};

struct Access {
  llvm::Value* pointer;
  int64_t bytes;
  llvm::Type* type;  // that goes to the guard
  llvm::Align align;
  bool reads;
};

class Guards {
 public:
  Guards(llvm::Function& f, llvm::ScalarEvolution& evolution) : f_(f), evolution_(evolution) {}

  bool run() {
    llvm::SmallVector<llvm::Instruction*, 32> accesses;
    for (llvm::Instruction& i : llvm::instructions(f_))
      if ((is_plain(i) || llvm::isa<llvm::MemCpyInst>(i)) && !i.getMetadata(kGuarded)) accesses.push_back(&i);
    bool changed = false;
    for (llvm::Instruction* i : accesses)
      for (const Access& a : accesses_of(*i)) changed = look_at(*i, a) || changed;
    return changed;
  }

 private:
  static bool is_plain(const llvm::Instruction& i) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load->isSimple();
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i);
    return store && store->isSimple();
  }

  llvm::SmallVector<Access, 2> accesses_of(llvm::Instruction& i) const {
    const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&i);
    if (!copy) {
      llvm::Type* const type = llvm::getLoadStoreType(&i);
      return {{llvm::getLoadStorePointerOperand(&i), static_cast<int64_t>(f_.getDataLayout().getTypeStoreSize(type)), type,
               llvm::getLoadStoreAlignment(&i), llvm::isa<llvm::LoadInst>(i)}};
    }
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
    if (!length || length->isZero() || length->getValue().getActiveBits() > 30) return {};
    const auto bytes = static_cast<int64_t>(length->getZExtValue());
    // Of a copy one word stands for all.
    const auto end = [&](llvm::Value* pointer, llvm::Align align, bool reads) {
      const uint64_t word = std::min<uint64_t>({align.value(), 4, llvm::bit_floor(static_cast<uint64_t>(bytes))});
      return Access{pointer, bytes, llvm::Type::getIntNTy(f_.getContext(), static_cast<unsigned>(8 * word)), llvm::Align(word), reads};
    };
    return {end(copy->getRawSource(), copy->getSourceAlign().valueOrOne(), true),
            end(copy->getRawDest(), copy->getDestAlign().valueOrOne(), false)};
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

  bool look_at(llvm::Instruction& i, const Access& a) {
    auto* const array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(a.pointer));
    if (!array || !array->isStaticAlloca() || array->isArrayAllocation()) return false;
    const auto size = static_cast<int64_t>(f_.getDataLayout().getTypeAllocSize(array->getAllocatedType()));
    if (size == 0 || (a.pointer == array && a.bytes <= size)) return false;
    const llvm::SCEV* const offset = evolution_.getMinusSCEV(evolution_.getSCEV(a.pointer), evolution_.getSCEV(array));
    if (llvm::isa<llvm::SCEVCouldNotCompute>(offset)) return false;
    const std::optional<Range> range = range_of(offset);
    if (!range || (range->least >= 0 && range->most + a.bytes <= size)) return false;
    i.setMetadata(kGuarded, llvm::MDNode::get(f_.getContext(), {}));
    guard(i, *array, a, static_cast<uint64_t>(size));
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

  void guard(llvm::Instruction& i, llvm::AllocaInst& array, const Access& a, uint64_t size) {
    llvm::IRBuilder<> here(&i);
    llvm::Value* const at = offset_of(here, a.pointer, array);
    if (!at) return;
    const auto bytes = static_cast<uint64_t>(a.bytes);
    llvm::Value* const nothing = llvm::Constant::getNullValue(a.type);
    llvm::Value* const guard = guard_of(array, a.align, bytes <= size ? nothing : nullptr);
    // What begins within the array and ends behind it stays where it is.
    const bool whole = bytes == f_.getDataLayout().getTypeStoreSize(a.type);
    llvm::Value* const behind = here.getInt64(llvm::alignTo(size, a.align));
    llvm::Value* const where = whole ? here.CreateSelect(here.CreateICmpULT(at, here.getInt64(size)), at, behind) : behind;
    llvm::Value* const outside = bytes > size ? here.getTrue() : here.CreateICmpUGT(at, here.getInt64(size - bytes));
    llvm::Value* const place = here.CreateGEP(here.getInt8Ty(), guard, here.CreateSelect(outside, where, here.getInt64(0)));
    if (a.reads) here.CreateAlignedLoad(a.type, place, a.align, /*isVolatile=*/true);
    else here.CreateAlignedStore(nothing, place, a.align, /*isVolatile=*/true);
  }

  // Where it is the optimiser must not know: what goes past its end would be nothing to keep. What is read there has a value.
  llvm::Value* guard_of(llvm::AllocaInst& array, llvm::Align align, llvm::Value* nothing) {
    llvm::IRBuilder<> entry(&array);
    llvm::AllocaInst* const guard = entry.CreateAlloca(array.getAllocatedType());
    guard->setAlignment(std::max(array.getAlign(), align));
    entry.SetInsertPoint(&*f_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    llvm::Type* const pointer = guard->getType();
    llvm::Value* const hidden = entry.CreateCall(
        llvm::InlineAsm::get(llvm::FunctionType::get(pointer, {pointer}, false), "", "=l,0", /*hasSideEffects=*/false), {guard});
    if (nothing) entry.CreateAlignedStore(nothing, hidden, guard->getAlign(), /*isVolatile=*/true);
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
