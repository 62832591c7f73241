// Deduction guides, for host and device.
//
// `overloaded(F...) -> overloaded<F...>;` runs nowhere: it only says which type is meant, and nvcc takes it in kernels as in host
// code, also the standard library's. To clang 19 a guide that somebody has written is a host function, which device code may not
// call, and `std::array a{1, 2, 3};` in a kernel an error. What a template of guides makes is marked as it is made, before
// clang asks who may call it.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/ASTMutationListener.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>

namespace warpbeam::lowering {
namespace {

using namespace clang;

void allow_everywhere(Decl* d) {
  auto* const guide = llvm::dyn_cast<CXXDeductionGuideDecl>(d);
  if (!guide || guide->hasAttr<CUDADeviceAttr>() || guide->hasAttr<CUDAHostAttr>()) return;
  guide->addAttr(CUDAHostAttr::CreateImplicit(guide->getASTContext()));
  guide->addAttr(CUDADeviceAttr::CreateImplicit(guide->getASTContext()));
}

class Consumer : public ASTConsumer, public ASTMutationListener {
 public:
  using ASTMutationListener::AddedCXXTemplateSpecialization;
  ASTMutationListener* GetASTMutationListener() override { return this; }
  void AddedCXXTemplateSpecialization(const FunctionTemplateDecl*, const FunctionDecl* made) override {
    allow_everywhere(const_cast<FunctionDecl*>(made));
  }
  // Those that are no templates are seen once what stands around them has ended.
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) look_at(d);
    return true;
  }

 private:
  static void look_at(Decl* d) {
    allow_everywhere(d);
    if (auto* space = llvm::dyn_cast<NamespaceDecl>(d))
      for (Decl* inner : space->decls()) look_at(inner);
  }
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (!compiler.getLangOpts().CUDA) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>();
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-guides", "deduction guides are for host and device");

}  // namespace
}  // namespace warpbeam::lowering
