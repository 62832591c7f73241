// Loops over a thread's own arrays, for clang's device pass.
//
// A tile of 8 x 4 sums for each thread, or the 64 words of a hash, are meant to be registers: they can be once every index is a
// constant, so nvcc unrolls the loops that count through them, also where the result is long. clang unrolls what stays under 300
// instructions, whatever there is to gain, and leaves the rest in local memory. Measured: a product of matrices (512^3)
// with a tile of 128 sums for each thread executed 15.9 million instructions instead of 5.4, and took four times the processor time.
//
// The other way round, a loop whose body is a page long stays a loop, `#pragma unroll` or not, where it counts through no array, as in
// CUB's merge sort of blocks. Measured: that one took 3.5 s to become host code and takes 1.2; a sort of a million numbers takes 47 ms
// instead of 105.
#include "lowering/optimiser/array_unrolling.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace warpbeam::lowering {
namespace {

constexpr unsigned kMostInstructions =
    2400;  // of the unrolled loop (found with nvcc 13.0: arrays of 8 to 256, bodies of 6 to 100 instructions)
constexpr unsigned kLoopEnd = 2;  // the comparison and the branch, which go
constexpr unsigned kLongBody = 256, kMostCopied = 2048;  // of loops that make no registers
constexpr unsigned kMostBytes = 1024;         // what 255 registers hold

// Whether each access lies inside of the array, at a place that is a constant once all loops around it are unrolled. One that lies
// outside must stay to be reported.
bool becomes_registers(const llvm::AllocaInst& array, llvm::ScalarEvolution& evolution) {
  const llvm::DataLayout& layout = array.getModule()->getDataLayout();
  const auto bytes = array.getAllocationSize(layout);
  if (!bytes || bytes->isScalable() || bytes->getFixedValue() > kMostBytes) return false;
  const llvm::SCEV* start = evolution.getSCEV(const_cast<llvm::AllocaInst*>(&array));
  auto inside = [&](const llvm::Value* pointer, uint64_t size) {
    const llvm::SCEV* offset = evolution.getMinusSCEV(evolution.getSCEV(const_cast<llvm::Value*>(pointer)), start);
    const bool known = !llvm::SCEVExprContains(offset, [&](const llvm::SCEV* part) {
      if (const auto* counted = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part))
        return evolution.getSmallConstantTripCount(counted->getLoop()) == 0;
      return llvm::isa<llvm::SCEVUnknown, llvm::SCEVCouldNotCompute>(part);
    });
    if (!known) return false;
    const llvm::APInt last = evolution.getUnsignedRange(offset).getUnsignedMax();
    return last.getActiveBits() <= 32 && last.getZExtValue() + size <= bytes->getFixedValue();
  };
  llvm::SmallVector<const llvm::Value*, 16> pointers{&array};
  while (!pointers.empty()) {
    const llvm::Value* pointer = pointers.pop_back_val();
    for (const llvm::User* user : pointer->users()) {
      if (llvm::isa<llvm::GetElementPtrInst>(user)) {
        pointers.push_back(user);
      } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        if (load->isVolatile() || !inside(pointer, layout.getTypeStoreSize(load->getType()))) return false;
      } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        const llvm::Value* const value = store->getValueOperand();
        if (store->isVolatile() || value == pointer || !inside(pointer, layout.getTypeStoreSize(value->getType()))) return false;
      } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
        if (call->isLifetimeStartOrEnd() || call->isDroppable()) continue;
        const auto* many = llvm::dyn_cast<llvm::MemIntrinsic>(call);
        const auto* length = many ? llvm::dyn_cast<llvm::ConstantInt>(many->getLength()) : nullptr;
        if (!length || many->isVolatile() || !inside(pointer, length->getZExtValue())) return false;
      } else {
        return false;
      }
    }
  }
  return true;
}

// Where an instruction reads or writes: a vector of four that is copied whole does both.
llvm::SmallVector<const llvm::Value*, 2> places_of(const llvm::Instruction& instruction) {
  if (const llvm::Value* place = llvm::getLoadStorePointerOperand(&instruction)) return {place};
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) return {copy->getRawDest(), copy->getRawSource()};
  return {};
}

// Is there something that would be registers if this loop were unrolled, or, if not `surely`, might be?
bool counts_through_an_array(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, bool surely) {
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      for (const llvm::Value* pointer : places_of(instruction)) {
        const auto* array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
        if (!array || !array->isStaticAlloca() || loop.contains(array)) continue;
        const llvm::SCEV* const place = evolution.getSCEV(const_cast<llvm::Value*>(pointer));
        if (evolution.isLoopInvariant(place, &loop)) continue;
        const bool counted_here = llvm::SCEVExprContains(place, [&](const llvm::SCEV* part) {
          const auto* counted = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
          return counted && counted->getLoop() == &loop;
        });
        if (surely && !counted_here) continue;
        if (!surely || becomes_registers(*array, evolution)) return true;
      }
  return false;
}

// Those that become instructions of the machine.
bool counts(const llvm::Instruction& instruction) {
  return !llvm::isa<llvm::DbgInfoIntrinsic, llvm::PHINode, llvm::GetElementPtrInst>(instruction);
}

unsigned instructions_of(const llvm::Loop& loop) {
  unsigned count = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) count += counts(instruction);
  return count;
}

// How often the program wants the loop's body to stand there.
unsigned copies_wanted(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (llvm::hasUnrollTransformation(&loop) != llvm::TM_ForcedByUser) return 1;
  const auto count = llvm::getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count");
  return std::max(1u, count ? static_cast<unsigned>(*count) : evolution.getSmallConstantTripCount(&loop));
}

// The loop's body, once what is in it is unrolled as the program wants: a thread's own arrays are registers then, and turns are not counted.
uint64_t future_instructions_of(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  constexpr uint64_t kCounting = 3;  // a sum, a comparison and a branch
  uint64_t count = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    if (llvm::any_of(loop, [&](const llvm::Loop* inner) { return inner->contains(block); })) continue;
    for (const llvm::Instruction& instruction : *block) {
      const llvm::Value* const pointer = llvm::getLoadStorePointerOperand(&instruction);
      const auto* const array = pointer ? llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer)) : nullptr;
      count += counts(instruction) && !(array && becomes_registers(*array, evolution));
    }
  }
  for (const llvm::Loop* inner : loop) {
    const uint64_t copies = copies_wanted(*inner, evolution), body = future_instructions_of(*inner, evolution);
    count += copies > 1 ? copies * (body - std::min(body, kCounting)) : body;
  }
  return count;
}

// Long code many times over, by which no array becomes registers, not even one of three turns (`tile[k % 3]`): it takes long to compile
// and does not run any faster.
bool is_better_rolled(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  const unsigned copies = copies_wanted(loop, evolution);
  if (copies < 2) return false;
  const uint64_t body = future_instructions_of(loop, evolution);
  return body >= kLongBody && copies * body > kMostCopied && !counts_through_an_array(loop, evolution, false);
}

}  // namespace

bool counts_through_an_array(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return counts_through_an_array(loop, evolution, false);
}

llvm::PreservedAnalyses UnrollOverArrays::run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& known,
                                              llvm::LPMUpdater&) {
  if (is_better_rolled(loop, known.SE)) llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable", 1);
  const unsigned rounds = known.SE.getSmallConstantTripCount(&loop);
  // The program's own word counts, `#pragma unroll 1` above all.
  if (rounds < 2 || rounds > kMostInstructions || llvm::hasUnrollTransformation(&loop) != llvm::TM_Unspecified)
    return llvm::PreservedAnalyses::all();
  if (instructions_of(loop) > kMostInstructions / rounds + kLoopEnd || !counts_through_an_array(loop, known.SE, true))
    return llvm::PreservedAnalyses::all();
  llvm::addStringMetadataToLoop(&loop, "llvm.loop.unroll.full");
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
