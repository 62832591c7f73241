// Templates of functions that run on the device alone, in the host pass.
//
// A name that such a template calls with arguments of its parameters' types is looked up where the template is used, and nvcc does
// not use it for the host. So `#if __CUDA_ARCH__ >= 300` may stand around what it calls, which the host pass does not see then.
// clang uses it all the same, to know whom it calls, and finds nothing: such a template loses its body, which the host does not run.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include <algorithm>

#include "lowering/language/walk.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

bool takes(const NamedDecl* callee, unsigned arguments) {
  callee = callee->getUnderlyingDecl();
  if (const auto* of = llvm::dyn_cast<FunctionTemplateDecl>(callee)) callee = of->getTemplatedDecl();
  const auto* f = llvm::dyn_cast<FunctionDecl>(callee);
  if (!f || f->isVariadic() || std::ranges::any_of(f->parameters(), [](const ParmVarDecl* p) { return p->isParameterPack(); })) return true;
  return f->getMinRequiredArguments() <= arguments && arguments <= f->getNumParams();
}

// Are there calls of what is not declared here, or not with as many parameters?
class UnknownCalls : public Walk {
 public:
  bool found = false;

  bool meets(CallExpr* call) override {
    const auto* callee = llvm::dyn_cast<UnresolvedLookupExpr>(call->getCallee()->IgnoreParens());
    if (!callee || std::ranges::any_of(call->arguments(), [](const Expr* a) { return llvm::isa<PackExpansionExpr>(a); })) return true;
    found = std::ranges::none_of(callee->decls(), [&](const NamedDecl* d) { return takes(d, call->getNumArgs()); });
    return !found;
  }
};

class Consumer : public ASTConsumer, Walk {
 public:
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) over(d);
    return true;
  }

  bool meets(FunctionDecl* f) override {
    const bool device_alone = f->hasAttr<CUDAGlobalAttr>() || (f->hasAttr<CUDADeviceAttr>() && !f->hasAttr<CUDAHostAttr>());
    if (!device_alone || !f->isDependentContext() || !f->doesThisDeclarationHaveABody()) return true;
    // What is asked for by the compiler itself keeps its body.
    if (f->isConstexpr() || f->getReturnType()->getContainedAutoType()) return true;
    UnknownCalls calls;
    calls.over(f->getBody());
    if (calls.found) f->setBody(never_ending(f->getASTContext(), f->getLocation()));
    return true;
  }

 private:
  // Nobody asks such a body for its result.
  static Stmt* never_ending(const ASTContext& context, SourceLocation at) {
    auto* nothing = new (context) NullStmt(at);
    Stmt* loop = new (context) ForStmt(context, nullptr, nullptr, nullptr, nullptr, nothing, at, at, at);
    return CompoundStmt::Create(context, loop, FPOptionsOverride(), at, at);
  }
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    const LangOptions& options = compiler.getLangOpts();
    if (!options.CUDA || options.CUDAIsDevice) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-device-templates",
                                                     "templates for the device alone have no bodies on the host");

}  // namespace
}  // namespace warpbeam::lowering
