// For the checker: kernels whose threads end nowhere but at their end.
//
// `if (i >= n) return;` and `if (i < n) { … }` are the same to the machine, and not to CUDA: a thread that has returned need not
// come to a barrier or a shuffle any more, and one that goes around the rest must not miss it. Only the source tells the two
// apart. So the names of kernels without an early return are written to the file that the plugin's argument names.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <llvm/Support/raw_ostream.h>

namespace warpbeam::lowering {
namespace {

using namespace clang;

// Whatever may end a thread, or lead to the end past everything else.
class Ends : public RecursiveASTVisitor<Ends> {
 public:
  explicit Ends(const Stmt* last) : last_(last) {}
  bool found() const { return found_; }

  bool TraverseLambdaExpr(LambdaExpr*) { return true; }  // what it returns from is itself
  bool TraverseDecl(Decl* d) { return (d && llvm::isa<TagDecl>(d)) || RecursiveASTVisitor::TraverseDecl(d); }
  bool VisitReturnStmt(ReturnStmt* s) { return note(s != last_); }
  bool VisitGotoStmt(GotoStmt*) { return note(true); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt*) { return note(true); }
  bool VisitGCCAsmStmt(GCCAsmStmt* s) { return note(s->getAsmString()->getString().contains("exit")); }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const f = call->getDirectCallee();
    return note(f && f->getDeclName().isIdentifier() && f->getName() == "exit");  // cuda::ptx's
  }

 private:
  bool note(bool ends) {
    found_ = found_ || ends;
    return !found_;
  }
  const Stmt* last_;
  bool found_ = false;
};

class Kernels : public RecursiveASTVisitor<Kernels> {
 public:
  Kernels(ASTContext& context, llvm::raw_ostream& out) : names_(context), out_(out) {}

  // What templates make is handed over by itself.
  bool TraverseFunctionTemplateDecl(FunctionTemplateDecl*) { return true; }
  bool TraverseClassTemplateDecl(ClassTemplateDecl*) { return true; }
  bool TraverseClassTemplatePartialSpecializationDecl(ClassTemplatePartialSpecializationDecl*) { return true; }
  bool TraverseStmt(Stmt*) { return true; }

  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->hasAttr<CUDAGlobalAttr>() || !f->doesThisDeclarationHaveABody() || f->isDependentContext()) return true;
    auto* const body = llvm::dyn_cast_or_null<CompoundStmt>(f->getBody());
    if (!body) return true;
    Ends ends(body->body_empty() ? nullptr : body->body_back());
    ends.TraverseStmt(body);
    if (!ends.found()) out_ << names_.getName(f) << '\n';
    return true;
  }

 private:
  ASTNameGenerator names_;
  llvm::raw_ostream& out_;
};

class Consumer : public ASTConsumer {
 public:
  Consumer(ASTContext& context, std::unique_ptr<llvm::raw_ostream> out) : out_(std::move(out)), kernels_(context, *out_) {}
  bool HandleTopLevelDecl(DeclGroupRef group) override {
    for (Decl* d : group) kernels_.TraverseDecl(d);
    return true;
  }

 private:
  std::unique_ptr<llvm::raw_ostream> out_;
  Kernels kernels_;
};

class Action : public PluginASTAction {
 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& compiler, llvm::StringRef) override {
    if (file_.empty()) return std::make_unique<ASTConsumer>();
    std::error_code failed;
    auto out = std::make_unique<llvm::raw_fd_ostream>(file_, failed);
    if (failed) return std::make_unique<ASTConsumer>();
    return std::make_unique<Consumer>(compiler.getASTContext(), std::move(out));
  }
  bool ParseArgs(const CompilerInstance&, const std::vector<std::string>& words) override {
    if (!words.empty()) file_ = words.front();
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }

 private:
  std::string file_;
};

const FrontendPluginRegistry::Add<Action> registered("warpbeam-ends", "names kernels whose threads end nowhere but at their end");

}  // namespace
}  // namespace warpbeam::lowering
