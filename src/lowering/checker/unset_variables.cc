// For the checker: variables that some way through a function leaves without a value, `float best; for (…) if (x > best) …`,
// and so elements of arrays and members of structures.
//
// Soon they are registers, and a register that nobody has set is like any other. So each variable gets a companion of the
// same layout, with a byte for each of its bytes: 0 where it has a value, kUnset where not. What is computed of values without a
// value has none, and carries the number of the line that computed with it first. Where such a value decides where the
// kernel goes, which place it accesses or what others will read there, a call says so. All of it is optimised like the
// program itself: where variables are set in time, nothing is left. Of a call that is left the end of the pipeline makes a
// load of local memory that nobody has stored to, which the checker sees.
//
// Where a value is only passed on - stored as it is, copied with a structure, taken by a shuffle - it may be of no use to
// anybody, and nothing is said.
#include "lowering/checker/unset_variables.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <optional>

#include "lowering/checker/own_places.h"

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> wanted("warpbeam-unset-variables", llvm::cl::desc("Make visible where variables without a value are used"));

constexpr uint8_t kUnset = 1, kFirstLine = 2, kNoLine = 255;  // no line: that of the use is told
constexpr llvm::StringLiteral kCall = "warpbeam.unset", kLines = "warpbeam.lines";

// --- inlining -------------------------------------------------------------------------------------------------------

// Pointers to variables that are arguments stand in variables of their own; as values they show whose they are.
void promote_pointers(llvm::Function& f) {
  llvm::SmallVector<llvm::AllocaInst*, 16> pointers;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&i);
        variable && variable->getAllocatedType()->isPointerTy() && llvm::isAllocaPromotable(variable))
      pointers.push_back(variable);
  if (pointers.empty()) return;
  llvm::DominatorTree tree(f);
  llvm::PromoteMemToReg(pointers, tree);
}

bool takes_variable(const llvm::CallBase& call) {
  return llvm::any_of(call.args(), [](const llvm::Use& u) {
    return u->getType()->isPointerTy() && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(u));
  });
}

// Functions that are given variables are looked at together with them: constructors, and whatever sets or reads through a reference.
void inline_what_takes_variables(llvm::Function& f) {
  constexpr unsigned kRounds = 6, kMostOfCallee = 3000, kMost = 60000;
  for (unsigned round = 0; round < kRounds; ++round) {
    llvm::SmallVector<llvm::CallInst*, 16> calls;
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
      llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->isDeclaration() || callee == &f || callee->hasFnAttribute(llvm::Attribute::NoInline) || callee->isVarArg())
        continue;
      if (callee->getInstructionCount() <= kMostOfCallee && takes_variable(*call)) calls.push_back(call);
    }
    bool changed = false;
    for (llvm::CallInst* call : calls) {
      if (f.getInstructionCount() > kMost) return;
      llvm::InlineFunctionInfo info;
      changed = llvm::InlineFunction(*call, info).isSuccess() || changed;
    }
    if (!changed) return;
    promote_pointers(f);
  }
}

// --- variables ------------------------------------------------------------------------------------------------------

struct Variable {
  llvm::AllocaInst* at = nullptr;
  uint64_t bytes = 0;
  llvm::SmallVector<llvm::Instruction*, 8> loads, stores, copies;
  llvm::SmallVector<llvm::Instruction*, 4> begins;  // after which it has no value
};

// False for a variable whose address goes elsewhere.
bool find_uses(llvm::Value& pointer, Variable& v) {
  for (llvm::User* user : pointer.users()) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      if (load->isVolatile() || load->isAtomic()) return false;
      v.loads.push_back(load);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getValueOperand() == &pointer || store->isVolatile() || store->isAtomic()) return false;
      v.stores.push_back(store);
    } else if (llvm::isa<llvm::GetElementPtrInst, llvm::AddrSpaceCastInst>(user)) {
      if (!find_uses(*user, v)) return false;
    } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user); intrinsic && intrinsic->isLifetimeStartOrEnd()) {
      if (intrinsic->getIntrinsicID() == llvm::Intrinsic::lifetime_start) v.begins.push_back(intrinsic);
    } else if (auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(user)) {
      if (copy->isVolatile()) return false;
      v.copies.push_back(copy);
    } else {
      return false;
    }
  }
  return true;
}

bool sets_all(const llvm::Instruction& i, const Variable& v) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&i))
    return store->getPointerOperand() == v.at && i.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType()) >= v.bytes;
  const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&i);
  const auto* length = copy ? llvm::dyn_cast<llvm::ConstantInt>(copy->getLength()) : nullptr;
  return length && copy->getDest() == v.at && length->getZExtValue() >= v.bytes;
}

// Is there a way from a beginning to a load or copy, past whatever sets all of it?
bool may_be_unset(const Variable& v) {
  llvm::SmallPtrSet<const llvm::Instruction*, 16> reads(v.loads.begin(), v.loads.end());
  reads.insert(v.copies.begin(), v.copies.end());
  llvm::SmallPtrSet<llvm::BasicBlock*, 32> seen;
  llvm::SmallVector<llvm::Instruction*, 16> open;
  for (llvm::Instruction* begin : v.begins) open.push_back(begin->getNextNode());
  while (!open.empty()) {
    bool set = false;
    llvm::BasicBlock* const block = open.back()->getParent();
    for (llvm::Instruction* i = open.pop_back_val(); i && !set; i = i->getNextNode()) {
      set = sets_all(*i, v);
      if (!set && reads.contains(i)) return true;
    }
    if (set) continue;
    for (llvm::BasicBlock* next : llvm::successors(block))
      if (seen.insert(next).second) open.push_back(&next->front());
  }
  return false;
}

std::optional<Variable> watched(llvm::AllocaInst& at) {
  Variable v;
  v.at = &at;
  if (at.isArrayAllocation() || !at.getAllocatedType()->isSized()) return std::nullopt;
  v.bytes = at.getDataLayout().getTypeAllocSize(at.getAllocatedType());
  if (!v.bytes || !find_uses(at, v) || v.loads.empty()) return std::nullopt;
  if (v.begins.empty()) v.begins.push_back(&at);
  return v;
}

// Those that may be without a value when they are read, and those into which goes what is made of them.
llvm::SmallVector<Variable, 16> to_watch(llvm::ArrayRef<llvm::Instruction*> in_order) {
  llvm::SmallVector<Variable, 16> all, chosen;
  llvm::DenseMap<const llvm::Value*, unsigned> number;
  for (llvm::Instruction* i : in_order)
    if (auto* at = llvm::dyn_cast<llvm::AllocaInst>(i))
      if (auto v = watched(*at)) number[at] = static_cast<unsigned>(all.size()), all.push_back(std::move(*v));
  llvm::SmallVector<bool, 16> wanted_ones;
  for (const Variable& v : all) wanted_ones.push_back(may_be_unset(v));
  const auto variable = [&](const llvm::Value* pointer) {
    const auto found = number.find(llvm::getUnderlyingObject(pointer));
    return found == number.end() ? ~0u : found->second;
  };
  llvm::SmallPtrSet<const llvm::Value*, 32> doubtful;
  const auto is_doubtful = [&](const llvm::Use& u) { return doubtful.contains(u.get()); };
  for (bool changed = llvm::is_contained(wanted_ones, true); changed;) {
    changed = false;
    for (const llvm::Instruction* i : in_order) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(i);
      const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(i);
      if (store || copy) {
        const unsigned to = variable(store ? store->getPointerOperand() : copy->getDest()), from = copy ? variable(copy->getSource()) : ~0u;
        if (to == ~0u || wanted_ones[to] || !(store ? is_doubtful(store->getOperandUse(0)) : from != ~0u && wanted_ones[from])) continue;
        wanted_ones[to] = changed = true;
      } else if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(i)) {
        if (const unsigned from = variable(load->getPointerOperand()); from != ~0u && wanted_ones[from]) doubtful.insert(i);
      } else if (!llvm::isa<llvm::AllocaInst>(i) && llvm::any_of(i->operands(), is_doubtful)) {
        doubtful.insert(i);
      }
    }
  }
  for (size_t k = 0; k < all.size(); ++k)
    if (wanted_ones[k]) chosen.push_back(std::move(all[k]));
  return chosen;
}

// --- a function -----------------------------------------------------------------------------------------------------

class Watch {
 public:
  explicit Watch(llvm::Function& f) : f_(f), module_(*f.getParent()), byte_(llvm::Type::getInt8Ty(f.getContext())) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 64> all;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f_))
      for (llvm::Instruction& i : *block) all.push_back(&i);
    for (const Variable& v : to_watch(all)) add_companion(v);
    if (twins_.empty()) return;
    for (llvm::Instruction* i : all) look_at(*i);
  }

 private:
  void add_companion(const Variable& v) {
    llvm::IRBuilder<> here(v.at);
    llvm::AllocaInst* const companion = here.CreateAlloca(v.at->getAllocatedType());
    companion->setAlignment(v.at->getAlign());
    twins_[v.at] = companion;
    for (llvm::Instruction* begin : v.begins)
      llvm::IRBuilder<>(begin->getNextNode())
          .CreateMemSet(companion, llvm::ConstantInt::get(byte_, kUnset), v.bytes, companion->getAlign());
  }

  // The same place in the companion; null if the pointer is not one into a watched variable.
  llvm::Value* twin(llvm::Value* pointer) {
    if (const auto known = twins_.find(pointer); known != twins_.end()) return known->second;
    llvm::Value* made = nullptr;
    if (auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(pointer)) {
      made = twin(cast->getPointerOperand());
    } else if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) {
      if (llvm::Value* base = twin(element->getPointerOperand())) {
        llvm::SmallVector<llvm::Value*, 4> indices(element->indices());
        made = llvm::IRBuilder<>(element).CreateGEP(element->getSourceElementType(), base, indices);
      }
    }
    return twins_[pointer] = made;
  }

  llvm::Value* flag(const llvm::Value* v) const {
    const auto known = flags_.find(v);
    return known == flags_.end() ? nullptr : known->second;
  }
  // Whichever has no value.
  llvm::Value* either(llvm::IRBuilder<>& here, llvm::Value* a, llvm::Value* b) {
    if (!a || !b) return a ? a : b;
    return here.CreateSelect(here.CreateIsNotNull(a), a, b);
  }
  llvm::Value* of_operands(llvm::IRBuilder<>& here, const llvm::Instruction& i) {
    llvm::Value* any = nullptr;
    for (const llvm::Use& u : i.operands()) any = either(here, any, flag(u));
    return any;
  }
  // From here on it is the result of a calculation.
  llvm::Value* calculated(llvm::IRBuilder<>& here, const llvm::Instruction& i, llvm::Value* f) {
    return f ? here.CreateSelect(here.CreateICmpEQ(f, llvm::ConstantInt::get(byte_, kUnset)),
                                 llvm::ConstantInt::get(byte_, number_of_line(i)), f)
             : nullptr;
  }

  uint8_t number_of_line(const llvm::Instruction& i) {
    const llvm::DILocation* place = i.getDebugLoc();
    while (place && is_of_platform(place) && place->getInlinedAt()) place = place->getInlinedAt();
    const llvm::DISubprogram* here = f_.getSubprogram();
    if (!place || !here || place->getFile() != here->getFile()) return kNoLine;
    llvm::NamedMDNode* const lines = module_.getOrInsertNamedMetadata(kLines);
    llvm::Metadata* const line =
        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(f_.getContext()), place->getLine()));
    llvm::MDNode* const node = llvm::MDNode::get(f_.getContext(), line);
    unsigned n = 0;
    for (; n < lines->getNumOperands(); ++n)
      if (lines->getOperand(n) == node) return static_cast<uint8_t>(kFirstLine + n);
    if (kFirstLine + n >= kNoLine) return kNoLine;
    lines->addOperand(node);
    return static_cast<uint8_t>(kFirstLine + n);
  }

  void tell(llvm::Instruction& i, llvm::Value* f, bool of_platform = false) {
    if (!f || (!of_platform && is_of_platform(i.getDebugLoc().get()))) return;
    llvm::FunctionCallee call = module_.getOrInsertFunction(kCall, llvm::Type::getVoidTy(f_.getContext()), byte_);
    auto* function = llvm::cast<llvm::Function>(call.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    for (const auto kind : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::NoFree, llvm::Attribute::NoSync,
                            llvm::Attribute::NoCallback})
      function->addFnAttr(kind);
    llvm::IRBuilder<>(&i).CreateCall(call, f)->setDebugLoc(i.getDebugLoc());
  }
  // Unless it is only passed on.
  void tell_calculated(llvm::Instruction& i, llvm::Value* f, bool of_platform = false) {
    if (!f) return;
    llvm::IRBuilder<> here(&i);
    tell(i, here.CreateSelect(here.CreateICmpEQ(f, llvm::ConstantInt::get(byte_, kUnset)), llvm::ConstantInt::get(byte_, 0), f),
         of_platform);
  }

  void look_at_copy(llvm::MemIntrinsic& copy) {
    llvm::Value* const to = twin(copy.getDest());
    if (!to) return;
    llvm::IRBuilder<> here(&copy);
    auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&copy);
    if (llvm::Value* from = transfer ? twin(transfer->getSource()) : nullptr)
      here.CreateMemMove(to, copy.getDestAlign(), from, transfer->getSourceAlign(), copy.getLength());
    else here.CreateMemSet(to, llvm::ConstantInt::get(byte_, 0), copy.getLength(), copy.getDestAlign());
  }

  void look_at_store(llvm::StoreInst& store) {
    tell(store, flag(store.getPointerOperand()));
    llvm::Value* const f = flag(store.getValueOperand());
    llvm::IRBuilder<> here(&store);
    if (llvm::Value* to = twin(store.getPointerOperand())) {
      here.CreateMemSet(to, f ? f : llvm::ConstantInt::get(byte_, 0),
                        store.getDataLayout().getTypeStoreSize(store.getValueOperand()->getType()), store.getAlign());
    } else if (!llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store.getPointerOperand()))) {
      tell_calculated(store, f);
    }
  }

  void look_at(llvm::Instruction& i) {
    llvm::IRBuilder<> here(&i);
    llvm::Value* result = nullptr;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) {
      tell(i, flag(load->getPointerOperand()));
      if (llvm::Value* from = twin(load->getPointerOperand()))
        result = of_bytes(here, from, i.getDataLayout().getTypeStoreSize(i.getType()));
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      look_at_store(*store);
    } else if (auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) {
      look_at_copy(*copy);
    } else if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&i)) {
      result = of_phi(*phi);
    } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(i)) {
      tell(i, of_operands(here, i));
    } else if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&i)) {
      if (branch->isConditional()) tell(i, flag(branch->getCondition()));
    } else if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&i)) {
      tell(i, flag(choice->getCondition()));
    } else if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&i)) {
      if (select->getCondition()->getType()->isVectorTy()) return;
      llvm::Value *yes = flag(select->getTrueValue()), *no = flag(select->getFalseValue());
      llvm::Value* const zero = llvm::ConstantInt::get(byte_, 0);
      if (yes || no) result = here.CreateSelect(select->getCondition(), yes ? yes : zero, no ? no : zero);
      result = either(here, calculated(here, i, flag(select->getCondition())), result);
    } else if (auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&i)) {
      // Members of a few bits are set within a word whose other bits may have no value.
      if (binary->getOpcode() != llvm::Instruction::And || !llvm::isa<llvm::ConstantInt>(binary->getOperand(1)))
        result = calculated(here, i, of_operands(here, i));
    } else if (llvm::isa<llvm::CmpInst, llvm::UnaryOperator, llvm::GetElementPtrInst>(i)) {
      if (!twin_of(i)) result = calculated(here, i, of_operands(here, i));
      else tell(i, of_operands(here, i));
    } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
      if (intrinsic->doesNotAccessMemory() && !intrinsic->getType()->isVoidTy() && !intrinsic->isConvergent())
        result = calculated(here, i, of_operands(here, i));
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i); call && call->isInlineAsm()) {
      result = of_matrices(here, *call);
    } else if (llvm::isa<llvm::CastInst, llvm::FreezeInst, llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst,
                         llvm::ExtractValueInst, llvm::InsertValueInst>(i)) {
      result = of_operands(here, i);
    }
    if (result) flags_[&i] = result;
  }
  // A product is calculated from all of its matrices; storing one is for others to read, whoever wrote the header.
  llvm::Value* of_matrices(llvm::IRBuilder<>& here, llvm::CallInst& call) {
    const llvm::StringRef text = llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
    if (text.contains("wmma.store")) tell_calculated(call, of_operands(here, call), true);
    const bool product = text.contains("mma.sync") || text.contains("wmma.mma");
    return product ? calculated(here, call, of_operands(here, call)) : nullptr;
  }
  // What has a value in part counts as set.
  llvm::Value* of_bytes(llvm::IRBuilder<>& here, llvm::Value* from, uint64_t bytes) {
    llvm::Value* const first = here.CreateLoad(byte_, from);
    if (bytes < 2) return first;
    llvm::Value* const last = here.CreateLoad(byte_, here.CreateConstGEP1_64(byte_, from, bytes - 1));
    return here.CreateSelect(here.CreateIsNull(last), last, first);
  }
  llvm::Value* twin_of(llvm::Instruction& i) { return llvm::isa<llvm::GetElementPtrInst>(i) ? twin(&i) : nullptr; }

  // Choices within an expression: what comes from further up is known by now.
  llvm::Value* of_phi(llvm::PHINode& phi) {
    if (phi.getType()->isPointerTy() || !llvm::any_of(phi.incoming_values(), [&](const llvm::Use& u) { return flag(u); })) return nullptr;
    llvm::PHINode* const made = llvm::IRBuilder<>(&phi).CreatePHI(byte_, phi.getNumIncomingValues());
    for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k) {
      llvm::Value* const f = flag(phi.getIncomingValue(k));
      made->addIncoming(f ? f : llvm::ConstantInt::get(byte_, 0), phi.getIncomingBlock(k));
    }
    return made;
  }

  llvm::Function& f_;
  llvm::Module& module_;
  llvm::Type* const byte_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> twins_, flags_;
};

// --- what is left ---------------------------------------------------------------------------------------------------

using Numbers = llvm::SmallSet<uint8_t, 8>;

// Which lines it may be the number of.
void gather(const llvm::Value* v, Numbers& numbers, llvm::SmallPtrSetImpl<const llvm::Value*>& seen) {
  constexpr unsigned kMost = 64;
  if (!seen.insert(v).second || seen.size() > kMost) return;
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(v)) {
    if (number->getZExtValue() >= kFirstLine && number->getZExtValue() < kNoLine)
      numbers.insert(static_cast<uint8_t>(number->getZExtValue()));
  } else if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(v)) {
    gather(select->getTrueValue(), numbers, seen);
    gather(select->getFalseValue(), numbers, seen);
  } else if (llvm::isa<llvm::PHINode, llvm::CastInst, llvm::FreezeInst>(v)) {
    for (const llvm::Use& u : llvm::cast<llvm::Instruction>(v)->operands()) gather(u, numbers, seen);
  }
}

void load_nothing(llvm::Instruction* before, llvm::AllocaInst* nothing, const llvm::DebugLoc& place) {
  llvm::IRBuilder<>(before).CreateLoad(nothing->getAllocatedType(), nothing, true)->setDebugLoc(place);
}

void show(llvm::CallInst& call, const llvm::NamedMDNode* lines) {
  llvm::Value* const f = call.getArgOperand(0);
  llvm::Function& function = *call.getFunction();
  const auto* constant = llvm::dyn_cast<llvm::Constant>(f);
  if (!constant || !constant->isNullValue()) {
    llvm::BasicBlock& entry = function.getEntryBlock();
    auto* nothing = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(llvm::Type::getInt32Ty(call.getContext()));
    const llvm::DILocation* own = call.getDebugLoc();
    while (own && is_of_platform(own) && own->getInlinedAt()) own = own->getInlinedAt();
    const llvm::DebugLoc here = own;
    Numbers numbers;
    llvm::SmallPtrSet<const llvm::Value*, 16> seen;
    gather(f, numbers, seen);
    llvm::IRBuilder<> before(&call);
    llvm::Value* rest = before.CreateIsNotNull(f);
    for (const uint8_t number : numbers) {
      if (!lines || !here || unsigned(number - kFirstLine) >= lines->getNumOperands()) continue;
      const auto line = llvm::mdconst::extract<llvm::ConstantInt>(lines->getOperand(number - kFirstLine)->getOperand(0))->getZExtValue();
      const llvm::DebugLoc there =
          llvm::DILocation::get(call.getContext(), static_cast<unsigned>(line), 0, here.getScope(), here.getInlinedAt());
      llvm::IRBuilder<> at(&call);
      llvm::Value* const is_it = at.CreateICmpEQ(f, llvm::ConstantInt::get(f->getType(), number));
      rest = at.CreateAnd(rest, at.CreateNot(is_it));
      load_nothing(llvm::SplitBlockAndInsertIfThen(is_it, &call, false), nothing, there);
    }
    if (!llvm::isa<llvm::ConstantInt>(rest) || !llvm::cast<llvm::ConstantInt>(rest)->isZero())
      load_nothing(llvm::SplitBlockAndInsertIfThen(rest, &call, false), nothing, here);
  }
  call.eraseFromParent();
}

}  // namespace

bool is_for_checker() { return wanted; }

llvm::PreservedAnalyses WatchUnsetVariables::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!wanted) return llvm::PreservedAnalyses::all();
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) promote_pointers(f);
  llvm::SmallVector<llvm::Function*, 16> own;
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && !is_of_platform(f)) own.push_back(&f);
  for (llvm::Function* f : own) inline_what_takes_variables(*f);
  for (llvm::Function* f : own) Watch(*f).run();
  return llvm::PreservedAnalyses::none();
}

llvm::PreservedAnalyses ShowUnsetVariables::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::Function* const function = module.getFunction(kCall);
  if (!function) return llvm::PreservedAnalyses::all();
  llvm::NamedMDNode* const lines = module.getNamedMetadata(kLines);
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) show(*llvm::cast<llvm::CallInst>(user), lines);
  function->eraseFromParent();
  if (lines) lines->eraseFromParent();
  return llvm::PreservedAnalyses::none();
}

}  // namespace warpbeam::lowering
