// For the checker: where the threads of kernels may end.
//
// `if (i >= n) return;` and `if (i < n) { … }` are the same to the machine, and not to CUDA: a thread that has returned need not
// come to a barrier or a shuffle any more, and one that goes around the rest must not miss it. Only the source tells the two
// apart. So kernels and the lines of their last early returns are written to the file that the plugin's argument names:
// `_Z4fillPii;0` has none, `_Z4copyPii;12` none behind line 12. Those whose threads may end anywhere are left out.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace warpbeam::lowering {
namespace {

using namespace clang;

// Whatever may end a thread, or lead to the end past everything else.
class Ends : public RecursiveASTVisitor<Ends> {
 public:
  Ends(const Stmt* last, const SourceManager& sources) : last_(last), sources_(sources) {}
  bool anywhere() const { return anywhere_; }
  unsigned last_return() const { return last_return_; }  // its line

  bool TraverseLambdaExpr(LambdaExpr*) { return true; }  // what it returns from is itself
  bool TraverseDecl(Decl* d) { return (d && llvm::isa<TagDecl>(d)) || RecursiveASTVisitor::TraverseDecl(d); }
  bool TraverseForStmt(ForStmt* s) { return round(&Ends::RecursiveASTVisitor::TraverseForStmt, s); }
  bool TraverseWhileStmt(WhileStmt* s) { return round(&Ends::RecursiveASTVisitor::TraverseWhileStmt, s); }
  bool TraverseDoStmt(DoStmt* s) { return round(&Ends::RecursiveASTVisitor::TraverseDoStmt, s); }
  bool TraverseCXXForRangeStmt(CXXForRangeStmt* s) { return round(&Ends::RecursiveASTVisitor::TraverseCXXForRangeStmt, s); }
  bool VisitReturnStmt(ReturnStmt* s) {
    if (s == last_) return true;
    if (loops_) return note(true);  // what stands behind it may have come before it
    const PresumedLoc place = sources_.getPresumedLoc(sources_.getExpansionLoc(s->getReturnLoc()));
    if (place.isInvalid()) return note(true);
    last_return_ = std::max(last_return_, place.getLine());
    return true;
  }
  bool VisitGotoStmt(GotoStmt*) { return note(true); }
  bool VisitIndirectGotoStmt(IndirectGotoStmt*) { return note(true); }
  bool VisitGCCAsmStmt(GCCAsmStmt* s) { return note(s->getAsmString()->getString().contains("exit")); }
  bool VisitCallExpr(CallExpr* call) {
    const FunctionDecl* const f = call->getDirectCallee();
    return note(f && f->getDeclName().isIdentifier() && f->getName() == "exit");  // cuda::ptx's
  }

 private:
  bool note(bool ends) {
    anywhere_ = anywhere_ || ends;
    return !anywhere_;
  }
  template <class S>
  bool round(bool (RecursiveASTVisitor::*traverse)(S*, DataRecursionQueue*), S* loop) {
    ++loops_;
    const bool go_on = (this->*traverse)(loop, nullptr);
    --loops_;
    return go_on;
  }
  const Stmt* last_;
  const SourceManager& sources_;
  bool anywhere_ = false;
  int loops_ = 0;
  unsigned last_return_ = 0;
};

class Kernels : public RecursiveASTVisitor<Kernels> {
 public:
  Kernels(ASTContext& context, llvm::raw_ostream& out) : sources_(context.getSourceManager()), names_(context), out_(out) {}

  // What templates make is handed over by itself.
  bool TraverseFunctionTemplateDecl(FunctionTemplateDecl*) { return true; }
  bool TraverseClassTemplateDecl(ClassTemplateDecl*) { return true; }
  bool TraverseClassTemplatePartialSpecializationDecl(ClassTemplatePartialSpecializationDecl*) { return true; }
  bool TraverseStmt(Stmt*) { return true; }

  bool VisitFunctionDecl(FunctionDecl* f) {
    if (!f->hasAttr<CUDAGlobalAttr>() || !f->doesThisDeclarationHaveABody() || f->isDependentContext()) return true;
    auto* const body = llvm::dyn_cast_or_null<CompoundStmt>(f->getBody());
    if (!body) return true;
    Ends ends(body->body_empty() ? nullptr : body->body_back(), sources_);
    ends.TraverseStmt(body);
    if (!ends.anywhere()) out_ << names_.getName(f) << ';' << ends.last_return() << '\n';
    return true;
  }

 private:
  const SourceManager& sources_;
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

const FrontendPluginRegistry::Add<Action> registered("warpbeam-ends", "names kernels, with the lines of their last early returns");

}  // namespace
}  // namespace warpbeam::lowering
