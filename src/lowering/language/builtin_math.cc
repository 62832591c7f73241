// Device code that calls the compiler's own mathematical functions (`__builtin_coshf`, as libcu++'s headers do under a compiler that has
// them). clang makes LLVM's intrinsic functions of some, for which the back end for GPUs has no code or, for a float's sine, an
// approximation that nobody asked for, and calls of the C library of the rest. nvcc calls the device library, and so does this.
#include "lowering/language/builtin_math.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

namespace warpbeam::lowering {
namespace {

llvm::StringRef library_name(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::sin: return "sin";
    case llvm::Intrinsic::cos: return "cos";
    case llvm::Intrinsic::tan: return "tan";
    case llvm::Intrinsic::asin: return "asin";
    case llvm::Intrinsic::acos: return "acos";
    case llvm::Intrinsic::atan: return "atan";
    case llvm::Intrinsic::sinh: return "sinh";
    case llvm::Intrinsic::cosh: return "cosh";
    case llvm::Intrinsic::tanh: return "tanh";
    case llvm::Intrinsic::exp: return "exp";
    case llvm::Intrinsic::exp2: return "exp2";
    case llvm::Intrinsic::exp10: return "exp10";
    case llvm::Intrinsic::log: return "log";
    case llvm::Intrinsic::log2: return "log2";
    case llvm::Intrinsic::log10: return "log10";
    case llvm::Intrinsic::pow: return "pow";
    case llvm::Intrinsic::powi: return "powi";
    case llvm::Intrinsic::ldexp: return "ldexp";
    case llvm::Intrinsic::frexp: return "frexp";
    default: return {};
  }
}

// Functions of C's <math.h> that are calls, without the f of those for float.
bool is_of_c_library(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", true)
      .Cases("erf", "erfc", "exp", "exp2", "expm1", "fdim", "fmod", "frexp", "hypot", "ilogb", true)
      .Cases("ldexp", "lgamma", "log", "log10", "log1p", "log2", "logb", "modf", "nextafter", "pow", true)
      .Cases("remainder", "remquo", "scalbn", "sin", "sinh", "tan", "tanh", "tgamma", true)
      .Default(false);
}

bool is_real(const llvm::Type* type) { return type->isFloatTy() || type->isDoubleTy(); }

llvm::Function* library_function(llvm::Module& module, llvm::StringRef name, llvm::FunctionType* type) {
  const bool is_float = type->getParamType(0)->isFloatTy();
  auto* const f = llvm::cast<llvm::Function>(module.getOrInsertFunction(("__nv_" + name + (is_float ? "f" : "")).str(), type).getCallee());
  f->setDoesNotThrow();
  f->setWillReturn();
  const bool writes = llvm::any_of(type->params(), [](const llvm::Type* t) { return t->isPointerTy(); });
  if (!writes) f->setDoesNotAccessMemory();
  return f;
}

// The fraction and the exponent as one structure.
llvm::Value* two_results(llvm::IRBuilder<>& b, llvm::Module& module, llvm::IntrinsicInst& call) {
  auto* const results = llvm::cast<llvm::StructType>(call.getType());
  llvm::Type* const real = results->getElementType(0);
  llvm::IRBuilder<> entry(&call.getFunction()->getEntryBlock(), call.getFunction()->getEntryBlock().getFirstInsertionPt());
  llvm::Value* const exponent = entry.CreateAlloca(b.getInt32Ty());
  auto* const f = library_function(module, "frexp", llvm::FunctionType::get(real, {real, b.getPtrTy()}, false));
  llvm::Value* const fraction = b.CreateCall(f, {call.getArgOperand(0), exponent});
  llvm::Value* const both = b.CreateInsertValue(llvm::PoisonValue::get(results), fraction, 0);
  return b.CreateInsertValue(both, b.CreateSExtOrTrunc(b.CreateLoad(b.getInt32Ty(), exponent), results->getElementType(1)), 1);
}

// A float's power of two is the machine's own instruction, as CUDA's exp2f.
llvm::Value* power_of_two(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  const bool flushes = call.getFunction()->getDenormalMode(llvm::APFloat::IEEEsingle()).Output == llvm::DenormalMode::PreserveSign;
  return b.CreateIntrinsic(b.getFloatTy(), flushes ? llvm::Intrinsic::nvvm_ex2_approx_ftz_f : llvm::Intrinsic::nvvm_ex2_approx_f,
                           {call.getArgOperand(0)});
}

// What stands for an instruction, if another does.
llvm::Value* instead_of(llvm::Module& module, llvm::Instruction& i) {
  llvm::IRBuilder<> b(&i);
  if (i.getOpcode() == llvm::Instruction::FRem && is_real(i.getType())) {
    auto* const type = llvm::FunctionType::get(i.getType(), {i.getType(), i.getType()}, false);
    return b.CreateCall(library_function(module, "fmod", type), {i.getOperand(0), i.getOperand(1)});
  }
  auto* const call = llvm::dyn_cast<llvm::CallInst>(&i);
  llvm::Function* const called = call ? call->getCalledFunction() : nullptr;
  if (!called || call->arg_size() == 0 || !is_real(call->getArgOperand(0)->getType())) return nullptr;
  llvm::StringRef name;
  if (auto* const intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(call)) {
    name = library_name(intrinsic->getIntrinsicID());
    if (name == "frexp") return two_results(b, module, *intrinsic);
    // Where an approximation was asked for, the back end has an instruction for these two.
    if (call->hasApproxFunc() && call->getType()->isFloatTy() && (name == "sin" || name == "cos")) return nullptr;
  } else if (called->isDeclaration()) {
    name = called->getName();
    if (call->getArgOperand(0)->getType()->isFloatTy() && !name.consume_back("f")) return nullptr;
    if (!is_of_c_library(name)) return nullptr;
  }
  if (name.empty()) return nullptr;
  if (name == "exp2" && call->getType()->isFloatTy()) return power_of_two(b, *call);
  llvm::SmallVector<llvm::Value*, 3> arguments(call->args());
  return b.CreateCall(library_function(module, name, called->getFunctionType()), arguments);
}

}  // namespace

llvm::PreservedAnalyses CallMathLibrary::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  llvm::SmallVector<llvm::Instruction*, 16> places;
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f))
      if (i.getOpcode() == llvm::Instruction::FRem || llvm::isa<llvm::CallInst>(i)) places.push_back(&i);
  bool changed = false;
  for (llvm::Instruction* i : places) {
    llvm::Value* const other = instead_of(module, *i);
    if (!other) continue;
    i->replaceAllUsesWith(other);
    i->eraseFromParent();
    changed = true;
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
