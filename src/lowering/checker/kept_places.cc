// For the checker: lines of accesses that the optimiser moves.
//
// For a debugger an access that has left its loop belongs to no line any more, and one that was made of two in different lines
// to none of them: LLVM takes the line away, so that nobody steps back and forth. The checker names lines where something
// is wrong, and there each is right that asked for the access. So behind every pass the places of accesses are
// written down, and those that a pass has taken away are put back.
//
// Of one load that InstCombine makes of two, `c ? a[i] : b[k]` read through a chosen address, no single line is right: which of
// the two it is shows only when it runs. It leaves atomic loads alone, so that loads are atomic while it runs; likewise
// the last store of a block, which it would move behind the end of an `if`.
#include "lowering/checker/kept_places.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/ValueMap.h>

#include <memory>

#include "lowering/checker/unset_variables.h"

namespace warpbeam::lowering {
namespace {

constexpr llvm::StringLiteral kCombines = "InstCombinePass", kVectors = "VectorCombinePass";

// What the checker may have something to say about.
bool is_access(const llvm::Instruction& i) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&i)) return !llvm::isa<llvm::DbgInfoIntrinsic>(i) && !call->doesNotAccessMemory();
  return i.mayReadOrWriteMemory();
}

bool has_line(const llvm::Instruction& i) { return i.getDebugLoc() && i.getDebugLoc().getLine() != 0; }

bool is_scalar(const llvm::Type* type) { return type->isIntegerTy() || type->isPointerTy() || type->isFloatingPointTy(); }

// Whether it is what an `if` or a round of a loop leaves behind.
bool leads_to_phi(const llvm::LoadInst& load) {
  if (!load.hasOneUse()) return false;
  const llvm::User* user = load.user_back();
  return llvm::isa<llvm::PHINode>(user) || (user->hasOneUse() && llvm::isa<llvm::PHINode>(user->user_back()));
}

class Keeper {
 public:
  void before(llvm::StringRef pass, llvm::Function& f) {
    if (pass == kCombines) set_apart(f);
    if (pass == kCombines || pass == kVectors) place_parts(f);
  }

  void after(llvm::StringRef pass, llvm::Function& f) {
    if (pass == kCombines) join_again(f);
    for (llvm::Instruction& i : llvm::instructions(f)) {
      if (!is_access(i)) continue;
      if (has_line(i)) places_[&i] = i.getDebugLoc();
      else if (const auto known = places_.find(&i);
               known != places_.end() && known->second->getInlinedAtScope()->getSubprogram() == f.getSubprogram())
        i.setDebugLoc(known->second);
    }
  }

 private:
  void set_apart(llvm::Function& f) {
    for (llvm::BasicBlock& block : f) {
      for (llvm::Instruction& i : block)
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->isSimple() && is_scalar(load->getType()) && leads_to_phi(*load))
          load->setAtomic(llvm::AtomicOrdering::Unordered);
      auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (!branch || !branch->isUnconditional() || branch == &block.front()) continue;
      auto* last = llvm::dyn_cast_or_null<llvm::StoreInst>(branch->getPrevNonDebugInstruction());
      if (!last || !last->isSimple() || !is_scalar(last->getValueOperand()->getType())) continue;
      last->setAtomic(llvm::AtomicOrdering::Monotonic);
      stores_.push_back(last);
    }
  }

  // A vector that is taken apart may be loaded part by part, where the parts are needed: they are of the load's line.
  void place_parts(llvm::Function& f) {
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
      if (!load || !load->getType()->isVectorTy() || !has_line(i)) continue;
      llvm::SmallVector<llvm::Instruction*, 8> parts{load};
      for (size_t k = 0; k < parts.size(); ++k)
        for (llvm::User* user : parts[k]->users())
          if (llvm::isa<llvm::BitCastInst, llvm::ExtractElementInst>(user)) parts.push_back(llvm::cast<llvm::Instruction>(user));
      for (llvm::Instruction* part : parts) part->setDebugLoc(load->getDebugLoc());
    }
  }

  // No program has unordered accesses: CUDA's atomic ones are calls.
  void join_again(llvm::Function& f) {
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i); load && load->getOrdering() == llvm::AtomicOrdering::Unordered)
        load->setAtomic(llvm::AtomicOrdering::NotAtomic);
    for (const llvm::WeakVH& store : stores_)
      if (store) llvm::cast<llvm::StoreInst>(store)->setAtomic(llvm::AtomicOrdering::NotAtomic);
    stores_.clear();
  }

  llvm::ValueMap<const llvm::Value*, const llvm::DILocation*> places_;
  llvm::SmallVector<llvm::WeakVH, 16> stores_;
};

// Passes over loops run within one over their function.
llvm::Function* function_of(llvm::Any& code) {
  const llvm::Function* const* f = llvm::any_cast<const llvm::Function*>(&code);
  return f ? const_cast<llvm::Function*>(*f) : nullptr;
}

const llvm::DILocation* place_of(const llvm::Value* v) {
  const auto* i = llvm::dyn_cast_or_null<llvm::Instruction>(v);
  return i && has_line(*i) ? i->getDebugLoc().get() : nullptr;
}

// Its address is reckoned for it, its value comes from or goes to the same expression.
const llvm::DILocation* guess(const llvm::Instruction& i) {
  for (const llvm::Value* v : std::initializer_list<const llvm::Value*>{llvm::getLoadStorePointerOperand(&i),
                                                                        llvm::isa<llvm::StoreInst>(i) ? i.getOperand(0) : nullptr})
    if (const llvm::DILocation* place = place_of(v)) return place;
  for (const llvm::User* user : i.users())
    if (const llvm::DILocation* place = place_of(user)) return place;
  return nullptr;
}

}  // namespace

void keep_places(llvm::PassInstrumentationCallbacks& passes) {
  const auto keeper = std::make_shared<Keeper>();
  // It makes one store of those in both branches of an `if`.
  passes.registerShouldRunOptionalPassCallback([](llvm::StringRef pass, llvm::Any) { return pass != "MergedLoadStoreMotionPass"; });
  passes.registerBeforeNonSkippedPassCallback([keeper](llvm::StringRef pass, llvm::Any code) {
    if (llvm::Function* f = function_of(code)) keeper->before(pass, *f);
  });
  passes.registerAfterPassCallback([keeper](llvm::StringRef pass, llvm::Any code, const llvm::PreservedAnalyses&) {
    if (llvm::Function* f = function_of(code)) keeper->after(pass, *f);
  });
}

llvm::PreservedAnalyses GuessPlaces::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  if (!is_for_checker()) return llvm::PreservedAnalyses::all();
  for (llvm::Instruction& i : llvm::instructions(f))
    if (is_access(i) && !has_line(i))
      if (const llvm::DILocation* place = guess(i)) i.setDebugLoc(place);
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
