// Remainders by powers of two that only a loop makes such, for clang's device pass.
//
// `for (s = 1; s < n; s *= 2) if (t % (2 * s) == 0)` divides in nvcc's code, which does not look through loops for powers of two; clang's
// optimiser does, and makes `t & (2 * s - 1)` of it. It shows in what the profiler counts and in time: the first of the reductions
// that courses begin with takes twice as long for it.
#include "lowering/optimiser/known_powers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

namespace warpbeam::lowering {
namespace {

constexpr llvm::StringLiteral kHidden = "__warpbeam_divisor_i";

bool is_division(const llvm::Instruction& i) {
  switch (i.getOpcode()) {
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SDiv:
    case llvm::Instruction::URem:
    case llvm::Instruction::SRem: return true;
    default: return false;
  }
}

llvm::FunctionCallee hidden(llvm::Module& module, llvm::Type* type) {
  llvm::FunctionCallee f = module.getOrInsertFunction((kHidden + llvm::Twine(type->getIntegerBitWidth())).str(), type, type);
  auto* function = llvm::cast<llvm::Function>(f.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setNoSync();
  function->setDoesNotFreeMemory();
  function->setSpeculatable();
  return f;
}

// A multiple by a power of two of what a loop doubles or halves each round.
bool from_loop(const llvm::Value* v) {
  using namespace llvm::PatternMatch;
  const auto* phi = llvm::dyn_cast<llvm::PHINode>(v);
  for (int depth = 0; !phi && depth < 4; ++depth) {
    const llvm::Value* inner = nullptr;
    if (match(v, m_Shl(m_Value(inner), m_ConstantInt())) || match(v, m_Mul(m_Value(inner), m_Power2())) ||
        match(v, m_ZExt(m_Value(inner))) || match(v, m_SExt(m_Value(inner))) || match(v, m_Trunc(m_Value(inner))))
      v = inner;
    else return false;
    phi = llvm::dyn_cast<llvm::PHINode>(v);
  }
  if (!phi) return false;
  for (const llvm::Value* in : phi->incoming_values()) {
    if (match(in, m_Shl(m_Specific(phi), m_ConstantInt())) || match(in, m_Mul(m_Specific(phi), m_Power2())) ||
        match(in, m_LShr(m_Specific(phi), m_ConstantInt())) || match(in, m_AShr(m_Specific(phi), m_ConstantInt())) ||
        match(in, m_UDiv(m_Specific(phi), m_Power2())) || match(in, m_SDiv(m_Specific(phi), m_Power2())))
      return true;
  }
  return false;
}

}  // namespace

llvm::PreservedAnalyses HideDivisors::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block) {
      if (!is_division(i) || !i.getType()->isIntegerTy() || i.getType()->getIntegerBitWidth() > 64 ||
          llvm::isa<llvm::Constant>(i.getOperand(1)))
        continue;
      llvm::IRBuilder<> before(&i);
      i.setOperand(1, before.CreateCall(hidden(*function.getParent(), i.getType()), i.getOperand(1)));
      changed = true;
    }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses ShowDivisors::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : llvm::make_early_inc_range(block)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
      if (!call || !call->getCalledFunction() || !call->getCalledFunction()->getName().starts_with(kHidden)) continue;
      if (!all && from_loop(call->getArgOperand(0))) continue;
      call->replaceAllUsesWith(call->getArgOperand(0));
      call->eraseFromParent();
      changed = true;
    }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
