// What nvcc refuses and clang takes, with nvcc's words: kernels with `...`, and assignments to `__constant__` variables by name.
// Of stores by way of a pointer, an index or a member nvcc warns only (constant_stores.cc).
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

#include "lowering/language/walk.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

class Consumer : public ASTConsumer, Walk {
 public:
  explicit Consumer(DiagnosticsEngine& diagnostics) : diagnostics_(diagnostics) {}

  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) over(d);
    return true;
  }

  bool meets(FunctionDecl* f) override {
    if (f->hasAttr<CUDAGlobalAttr>() && f->isVariadic()) refuse(f->getLocation(), "a __global__ function cannot have ellipsis");
    return true;
  }
  bool meets(BinaryOperator* o) override {
    if (o->isAssignmentOp()) look_at_target(o->getLHS());
    return true;
  }
  bool meets(UnaryOperator* o) override {
    if (o->isIncrementDecrementOp()) look_at_target(o->getSubExpr());
    return true;
  }

 private:
  template <unsigned kLength>
  void refuse(SourceLocation at, const char (&text)[kLength]) {
    diagnostics_.Report(at, diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, text));
  }
  void look_at_target(const Expr* target) {
    const auto* name = llvm::dyn_cast<DeclRefExpr>(target->IgnoreParens());
    if (name && name->getDecl()->hasAttr<CUDAConstantAttr>() && name->getDecl()->getType()->isScalarType())
      refuse(target->getBeginLoc(), "expression must be a modifiable lvalue: a __constant__ variable is written by cudaMemcpyToSymbol");
  }

  DiagnosticsEngine& diagnostics_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    const LangOptions& options = compiler.getLangOpts();
    if (!options.CUDA || !options.CUDAIsDevice) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>(compiler.getDiagnostics());
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-nvcc-errors", "what nvcc refuses is refused");

}  // namespace
}  // namespace warpbeam::lowering
