// Loads of members of one vector, for clang's device pass.
//
// `float4 v = p[i]; … v.x … v.y … v.z` is one load of 16 bytes with nvcc, for any two members or more. LLVM reads only
// what is used: 8 bytes and 4, which are two requests. So members of 1, 2 or 4 bytes that stand in one aligned vector
// of four are read with the whole of it where the first of them is, and with a gap between them. Neighbours alone are
// joined by the back end.
#include "lowering/optimiser/whole_loads.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "lowering/optimiser/kept_analyses.h"

namespace warpbeam::lowering {
namespace {

constexpr unsigned kMembers = 4;

// Loads between which nothing is stored, at constant distances from the first.
struct Neighbours {
  const llvm::SCEV* place;
  uint64_t bytes;
  llvm::SmallVector<std::pair<llvm::LoadInst*, int64_t>, kMembers> loads;
};

uint64_t bytes_of(const llvm::LoadInst& load) { return load.getModule()->getDataLayout().getTypeStoreSize(load.getType()); }

bool is_member(const llvm::LoadInst& load) {
  const llvm::Type* type = load.getType();
  const uint64_t bytes = bytes_of(load);
  if (!load.isSimple() || !(type->isIntegerTy() || type->isFloatingPointTy())) return false;
  if (bytes > 4 || type->getPrimitiveSizeInBits() != 8 * bytes) return false;
  const llvm::Value* object = llvm::getUnderlyingObject(load.getPointerOperand());
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object)) return !argument->hasByValAttr();
  // What lies behind a variable's end is not its own.
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(object))
    return !variable->isConstant() && !variable->isDeclaration() &&
           variable->getDataLayout().getTypeAllocSize(variable->getValueType()) % (kMembers * bytes) == 0;
  return !llvm::isa<llvm::AllocaInst>(object);
}

std::optional<int64_t> distance(llvm::ScalarEvolution& evolution, const llvm::SCEV* from, const llvm::SCEV* to) {
  if (evolution.getPointerBase(from) != evolution.getPointerBase(to)) return std::nullopt;
  const auto* difference = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(to, from));
  if (!difference) return std::nullopt;
  return difference->getAPInt().getSExtValue();
}

// A bit for each member that is read. Two neighbours, or all four, the back end joins by itself.
bool has_gap(unsigned members) { return (members & 1) && members & 0b1100 && members != 0b1111; }

bool join_from(const Neighbours& near, int64_t start, llvm::SmallVectorImpl<llvm::LoadInst*>& joined) {
  unsigned members = 0;
  llvm::SmallVector<std::pair<llvm::LoadInst*, unsigned>, kMembers> chosen;
  for (const auto& [load, at] : near.loads) {
    const int64_t offset = at - start;
    if (offset < 0 || offset % static_cast<int64_t>(near.bytes) || offset >= static_cast<int64_t>(kMembers * near.bytes)) continue;
    chosen.emplace_back(load, static_cast<unsigned>(offset / static_cast<int64_t>(near.bytes)));
    members |= 1u << chosen.back().second;
  }
  if (!has_gap(members)) return false;

  llvm::LoadInst* first = chosen.front().first;
  llvm::IRBuilder<> b(first);
  llvm::Type* integer = b.getIntNTy(static_cast<unsigned>(8 * near.bytes));
  llvm::Value* place = b.CreatePtrAdd(first->getPointerOperand(), b.getInt64(-uint64_t{chosen.front().second} * near.bytes));
  llvm::Value* whole = b.CreateAlignedLoad(llvm::FixedVectorType::get(integer, kMembers), place, llvm::Align(kMembers * near.bytes));
  for (const auto& [load, member] : chosen) {
    b.SetInsertPoint(load);
    load->replaceAllUsesWith(b.CreateBitCast(b.CreateExtractElement(whole, member), load->getType()));
    joined.push_back(load);
  }
  return true;
}

bool join(const Neighbours& near) {
  llvm::SmallVector<llvm::LoadInst*, kMembers> joined;
  for (const auto& [load, at] : near.loads)
    if (load->getAlign() >= kMembers * near.bytes && !llvm::is_contained(joined, load)) join_from(near, at, joined);
  for (llvm::LoadInst* load : joined) load->eraseFromParent();
  return !joined.empty();
}

void add(llvm::SmallVectorImpl<Neighbours>& all, llvm::LoadInst& load, llvm::ScalarEvolution& evolution) {
  const llvm::SCEV* place = evolution.getSCEV(load.getPointerOperand());
  const uint64_t bytes = bytes_of(load);
  for (Neighbours& near : all) {
    if (near.bytes != bytes) continue;
    if (const auto at = distance(evolution, near.place, place)) {
      near.loads.emplace_back(&load, *at);
      return;
    }
  }
  all.push_back({place, bytes, {{&load, 0}}});
}

}  // namespace

llvm::PreservedAnalyses WholeLoads::run(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  // To the checker a member that nobody asked for may be somebody else's.
  if (f.hasFnAttribute(llvm::Attribute::SanitizeThread)) return llvm::PreservedAnalyses::all();
  llvm::ScalarEvolution& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(f);
  llvm::SmallVector<Neighbours, 16> all;
  for (llvm::BasicBlock& block : f) {
    llvm::SmallVector<Neighbours, 16> open;
    const auto close = [&] { all.append(std::make_move_iterator(open.begin()), std::make_move_iterator(open.end())), open.clear(); };
    for (llvm::Instruction& i : block) {
      if (i.mayWriteToMemory() || !llvm::isGuaranteedToTransferExecutionToSuccessor(&i)) close();
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i); load && is_member(*load)) add(open, *load, evolution);
    }
    close();
  }
  bool changed = false;
  for (const Neighbours& near : all) changed = join(near) || changed;
  return kept_by_change(changed);
}

}  // namespace warpbeam::lowering
