// Elements that a loop reaches from one place, at constant distances.
//
// Idea: `in[t * 32 + lane]` in a loop that is repeated four times are places 0, 32, 64 and 96 behind one that moves on. nvcc counts in 64 bits and has
// one address and four numbers in its loads. LLVM keeps the sums in 32 bits where a mask or a second array is in the way, and makes an address of each:
// two instructions and two registers more for a load.
// Precondition: places of one base whose indices are sums that do not wrap of the same values, with a counter of the loop among them, and that differ
// by numbers. Postcondition: the same places, made of one sum in 64 bits. Fallback: LLVM's sums.
#include "lowering/optimiser/wide_indices.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <map>
#include <set>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

using llvm::GetElementPtrInst;

// A number of 32 bits as a sum of others, each so many times; none of the sums on the way wraps.
struct Sum {
  std::map<llvm::Value*, int64_t> times;
  int64_t number = 0;
};

constexpr int kDeepest = 8;

// Shifts of a block that cannot wrap, as what they make is an address that the block uses. (LLVM writes the same shift again, without saying so.)
using Shifts = std::set<std::pair<const llvm::Value*, const llvm::Value*>>;

void add(llvm::Value* value, int64_t times, const Shifts& known, Shifts& met, Sum& sum, int deep = 0) {
  using llvm::Instruction;
  const auto part = [&](llvm::Value* of, int64_t by) { add(of, by, known, met, sum, deep + 1); };
  if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    sum.number += times * number->getSExtValue();
    return;
  }
  auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (operation && deep < kDeepest) {
    llvm::Value *const a = operation->getOperand(0), *const b = operation->getOperand(1);
    const auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(operation);
    const auto* wraps = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(operation);
    const bool exact = wraps && wraps->hasNoSignedWrap();
    const auto* by = llvm::dyn_cast<llvm::ConstantInt>(b);
    switch (operation->getOpcode()) {
      case Instruction::Or:
        if (!disjoint || !disjoint->isDisjoint()) break;
        return part(a, times), part(b, times);
      case Instruction::Add:
      case Instruction::Sub:
        if (!exact) break;
        return part(a, times), part(b, operation->getOpcode() == Instruction::Add ? times : -times);
      case Instruction::Mul:
        if (!exact || !by) break;
        return part(a, times * by->getSExtValue());
      case Instruction::Shl:
        if (!by || by->getZExtValue() > 30 || !(exact || known.contains({a, b}))) break;
        met.insert({a, b});
        return part(a, times << by->getZExtValue());
      default: break;
    }
  }
  sum.times[value] += times;
}

bool counts(const llvm::Loop& loop, llvm::Value* value) {
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(value);
  return phi && phi->getParent() == loop.getHeader();
}

struct Place {
  GetElementPtrInst* element;
  int64_t number;
};

// Elements of one type, behind one base, in one block, with one sum but for the number.
using Key = std::tuple<llvm::BasicBlock*, llvm::Value*, llvm::Type*, std::map<llvm::Value*, int64_t>>;

void make(const Key& key, const std::vector<Place>& places) {
  const auto& [block, base, type, times] = key;
  llvm::IRBuilder<> b(places.front().element);
  llvm::Value* index = nullptr;
  for (const auto& [value, by] : times) {
    llvm::Value* part = b.CreateSExt(value, b.getInt64Ty());
    if (by != 1) part = b.CreateNSWMul(part, b.getInt64(static_cast<uint64_t>(by)));
    index = index ? b.CreateNSWAdd(index, part) : part;
  }
  llvm::Value* const first = b.CreateGEP(type, base, index);
  for (const Place& p : places) {
    llvm::IRBuilder<> at(p.element);
    llvm::Value* const place = p.number ? at.CreateGEP(type, first, at.getInt64(static_cast<uint64_t>(p.number))) : first;
    p.element->replaceAllUsesWith(place);
    p.element->eraseFromParent();
  }
}

}  // namespace

llvm::PreservedAnalyses WidenIndices::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  std::map<Key, std::vector<Place>> groups;
  std::vector<const Key*> found;
  std::map<llvm::BasicBlock*, Shifts> known;
  for (llvm::Instruction& i : llvm::instructions(function)) {
    auto* element = llvm::dyn_cast<GetElementPtrInst>(&i);
    if (!element || element->getNumIndices() != 1 || element->getType()->isVectorTy()) continue;
    const llvm::Loop* const loop = loops.getLoopFor(element->getParent());
    const auto* wide = llvm::dyn_cast<llvm::CastInst>(element->getOperand(1));
    if (!loop || !wide || !wide->getSrcTy()->isIntegerTy(32)) continue;
    if (!llvm::isa<llvm::SExtInst>(wide) && !(llvm::isa<llvm::ZExtInst>(wide) && wide->hasNonNeg())) continue;
    Sum sum;
    Shifts& shifts = known[element->getParent()];
    Shifts met;
    add(wide->getOperand(0), 1, shifts, met, sum);
    if (llvm::any_of(element->users(), [&](const llvm::User* user) {
          const auto* access = llvm::dyn_cast<llvm::Instruction>(user);
          return access && llvm::getLoadStorePointerOperand(access) == element && access->getParent() == element->getParent();
        }))
      shifts.merge(met);
    std::erase_if(sum.times, [](const auto& part) { return !part.second; });
    if (llvm::none_of(sum.times, [&](const auto& part) { return counts(*loop, part.first); })) continue;
    if (!llvm::all_of(sum.times, [&](const auto& part) { return counts(*loop, part.first) || loop->isLoopInvariant(part.first); }))
      continue;
    const auto [at, fresh] =
        groups.try_emplace({element->getParent(), element->getPointerOperand(), element->getSourceElementType(), sum.times});
    if (fresh) found.push_back(&at->first);
    at->second.push_back({element, sum.number});
  }
  bool changed = false;
  for (const Key* key : found)
    if (const std::vector<Place>& places = groups.at(*key); places.size() > 1) {
      make(*key, places);
      changed = true;
    }
  return kept_by_change(changed);
}

}  // namespace warpbeam::lowering
