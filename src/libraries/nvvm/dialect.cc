// What NVVM has and LLVM 19 has otherwise.
#include "libraries/nvvm/dialect.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>

#include "libraries/nvvm/compile.h"

namespace warpbeam::nvvm {

namespace {

// NVVM's functions of warps take the mode as an operand where LLVM has a function for each.
constexpr char kForeign[] = R"(
define internal { i32, i1 } @wb.nvvm.shfl.sync.i32(i32 %mask, i32 %mode, i32 %a, i32 %b, i32 %c) alwaysinline convergent nounwind {
  switch i32 %mode, label %index [ i32 1, label %up  i32 2, label %down  i32 3, label %butterfly ]
index:
  %r0 = call { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32 %mask, i32 %a, i32 %b, i32 %c)
  ret { i32, i1 } %r0
up:
  %r1 = call { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32 %mask, i32 %a, i32 %b, i32 %c)
  ret { i32, i1 } %r1
down:
  %r2 = call { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32 %mask, i32 %a, i32 %b, i32 %c)
  ret { i32, i1 } %r2
butterfly:
  %r3 = call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32 %mask, i32 %a, i32 %b, i32 %c)
  ret { i32, i1 } %r3
}
declare { i32, i1 } @llvm.nvvm.shfl.sync.idx.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.up.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.down.i32p(i32, i32, i32, i32)
declare { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p(i32, i32, i32, i32)

define internal { i32, i1 } @wb.nvvm.vote.sync(i32 %mask, i32 %mode, i1 %vote) alwaysinline convergent nounwind {
  switch i32 %mode, label %all [ i32 1, label %any  i32 2, label %same  i32 3, label %ballot ]
all:
  %p0 = call i1 @llvm.nvvm.vote.all.sync(i32 %mask, i1 %vote)
  %r0 = insertvalue { i32, i1 } zeroinitializer, i1 %p0, 1
  ret { i32, i1 } %r0
any:
  %p1 = call i1 @llvm.nvvm.vote.any.sync(i32 %mask, i1 %vote)
  %r1 = insertvalue { i32, i1 } zeroinitializer, i1 %p1, 1
  ret { i32, i1 } %r1
same:
  %p2 = call i1 @llvm.nvvm.vote.uni.sync(i32 %mask, i1 %vote)
  %r2 = insertvalue { i32, i1 } zeroinitializer, i1 %p2, 1
  ret { i32, i1 } %r2
ballot:
  %b = call i32 @llvm.nvvm.vote.ballot.sync(i32 %mask, i1 %vote)
  %r3 = insertvalue { i32, i1 } zeroinitializer, i32 %b, 0
  ret { i32, i1 } %r3
}
declare i1 @llvm.nvvm.vote.all.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i1 @llvm.nvvm.vote.uni.sync(i32, i1)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)

define internal { i32, i1 } @wb.nvvm.match.all.sync.i32(i32 %mask, i32 %value) alwaysinline convergent nounwind {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32 %mask, i32 %value)
  ret { i32, i1 } %r
}
define internal { i32, i1 } @wb.nvvm.match.all.sync.i64(i32 %mask, i64 %value) alwaysinline convergent nounwind {
  %r = call { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32 %mask, i64 %value)
  ret { i32, i1 } %r
}
declare { i32, i1 } @llvm.nvvm.match.all.sync.i32p(i32, i32)
declare { i32, i1 } @llvm.nvvm.match.all.sync.i64p(i32, i64)
)";

constexpr llvm::StringRef kNvvm = "llvm.nvvm.", kOurs = "wb.nvvm.";

}  // namespace

void adapt_annotations(llvm::Module& module) {
  llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  auto& context = module.getContext();
  for (unsigned i = 0; i < annotations->getNumOperands(); ++i) {
    llvm::MDNode* node = annotations->getOperand(i);
    for (unsigned at = 1; at < node->getNumOperands(); at += 2)
      if (auto* word = llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(at)); word && word->getString() == "cluster_max_blocks") {
        llvm::SmallVector<llvm::Metadata*> words(node->op_begin(), node->op_end());
        words[at] = llvm::MDString::get(context, "maxclusterrank");
        node = llvm::MDNode::get(context, words);
        annotations->setOperand(i, node);
      }
  }
}

std::string define_foreign_intrinsics(llvm::Module& module) {
  std::string unknown;
  llvm::SmallVector<llvm::Function*> foreign;
  for (llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with(kNvvm) && function.getIntrinsicID() == 0) foreign.push_back(&function);
  if (foreign.empty()) return unknown;
  llvm::SMDiagnostic none;
  auto bodies = llvm::parseAssemblyString(kForeign, none, module.getContext());
  if (!bodies) return none.getMessage().str();
  bodies->setDataLayout(module.getDataLayout());
  bodies->setTargetTriple(module.getTargetTriple());
  for (llvm::Function* function : foreign) {
    if (function->use_empty()) {
      function->eraseFromParent();
      continue;
    }
    const std::string name = kOurs.str() + function->getName().substr(kNvvm.size()).str();
    llvm::Function* body = bodies->getFunction(name);
    if (!body || body->getFunctionType() != function->getFunctionType()) {
      unknown += (unknown.empty() ? "" : ", ") + function->getName().str();
      continue;
    }
    function->setName(name);
    body->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
  if (!unknown.empty()) return unknown;
  llvm::Linker::linkModules(module, std::move(bodies), llvm::Linker::LinkOnlyNeeded);
  for (llvm::Function& function : module)
    if (function.getName().starts_with(kOurs) && !function.isDeclaration()) function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return unknown;
}

void describe_device_library(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() || !function.getName().starts_with("__nv_")) continue;
    function.setDoesNotThrow();
    function.setWillReturn();
    const bool by_pointer = llvm::any_of(function.getFunctionType()->params(), [](llvm::Type* type) { return type->isPointerTy(); });
    if (!by_pointer && !function.getReturnType()->isVoidTy()) function.setDoesNotAccessMemory();
  }
}

void mark_convergent(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic() || (function.isDeclaration() && function.getName().starts_with("__nv_"))) continue;
    function.setConvergent();
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && (call->isInlineAsm() || call->isIndirectCall()))
        call->setConvergent();
  }
}

namespace {

// The back end's own option for it asks for promises about infinities, too.
void approximate_roots(llvm::Module& module, bool flush) {
  llvm::SmallVector<llvm::CallInst*> roots;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->getIntrinsicID() == llvm::Intrinsic::sqrt && call->getType()->isFloatTy())
        roots.push_back(call);
  for (llvm::CallInst* call : roots)
    call->setCalledFunction(
        llvm::Intrinsic::getDeclaration(&module, flush ? llvm::Intrinsic::nvvm_sqrt_approx_ftz_f : llvm::Intrinsic::nvvm_sqrt_approx_f));
}

}  // namespace

void apply_options(llvm::Module& module, const Options& options) {
  if (options.flush_denormals) module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 1);
  if (!options.exact_sqrt) approximate_roots(module, options.flush_denormals);
  for (llvm::Function& function : module) {
    // The device library was compiled for a processor of its own, which would keep its functions from being inlined.
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (options.flush_denormals) function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  }
}

}  // namespace warpbeam::nvvm
