// Device functions that are called and defined nowhere.
//
// Where nothing is linked with a file, such a call is a mistake that nvcc's assembler reports. It may also be clang's: with
// -fgpu-defer-diag an error in a function for both sides waits until somebody calls that function. If the error leaves a generic
// lambda without a type, its callers, which clang makes of templates, lose their bodies and with these the call for which it
// waits. No message comes, and the callers, or the kernel itself, are not there. With that option every such loss is an error;
// the driver then shows the messages of the attempt without it.
#include "lowering/language/missing_functions.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>

namespace warpbeam::lowering {
namespace {

llvm::cl::opt<bool> all_here("warpbeam-all-here", llvm::cl::desc("Device code that no other is linked with later"));
bool errors_wait = false;

// Collects the kernels that clang makes of templates, which get their bodies at the end.
class Kernels : public clang::ASTConsumer {
 public:
  explicit Kernels(clang::DiagnosticsEngine& diagnostics) : diagnostics_(diagnostics) {}
  void HandleCXXImplicitFunctionInstantiation(clang::FunctionDecl* f) override {
    if (f->hasAttr<clang::CUDAGlobalAttr>()) made_.push_back(f);
  }
  void HandleTranslationUnit(clang::ASTContext&) override {
    const unsigned lost = diagnostics_.getCustomDiagID(clang::DiagnosticsEngine::Error, "the kernel %0 cannot be made of its template");
    for (const clang::FunctionDecl* f : made_) {
      const clang::FunctionDecl* pattern = f->getTemplateInstantiationPattern();
      if (pattern && pattern->hasBody() && !f->hasBody()) diagnostics_.Report(f->getPointOfInstantiation(), lost) << f;
    }
  }

 private:
  clang::DiagnosticsEngine& diagnostics_;
  llvm::SmallVector<clang::FunctionDecl*, 16> made_;
};

class Action : public clang::PluginASTAction {
 protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
    errors_wait = compiler.getLangOpts().GPUDeferDiag && compiler.getLangOpts().CUDAIsDevice;
    if (!errors_wait) return std::make_unique<clang::ASTConsumer>();
    return std::make_unique<Kernels>(compiler.getDiagnostics());
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override { return true; }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<Action> registered("warpbeam-missing", "kernels that cannot be made are errors");

}  // namespace

llvm::PreservedAnalyses TellMissingFunctions::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (!all_here && !errors_wait) return llvm::PreservedAnalyses::all();
  for (const llvm::Function& f : module) {
    // The machine's own functions, printf and the like, have names of C.
    if (!f.isDeclaration() || !f.getName().starts_with("_Z")) continue;
    for (const llvm::User* user : f.users()) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (!call || call->getCalledOperand() != &f) continue;
      const std::string text = "the device function " + llvm::demangle(f.getName().str()) + " is called here and defined nowhere";
      f.getContext().diagnose(llvm::DiagnosticInfoUnsupported(*call->getFunction(), text, call->getDebugLoc()));
      break;
    }
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering
