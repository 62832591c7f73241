// For the checker: calls that give an error code which nobody takes, `cudaMalloc(&p, n);`, or what the program itself marks so.
//
// The code is given the mark by which clang knows that a result must be taken only once all is read, so that it says nothing
// itself; what it would say is asked of it here.
#include "lowering/checker/dropped_results.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/SmallVector.h>

#include <utility>

#include "lowering/checker/facts.h"

namespace warpbeam::lowering {
namespace {

using namespace clang;

// Is the child's value dropped, should it have one?
bool drops(const Stmt& s, const Stmt* child) {
  if (const auto* chosen = llvm::dyn_cast<IfStmt>(&s)) return child != chosen->getCond();
  if (const auto* loop = llvm::dyn_cast<ForStmt>(&s)) return child != loop->getCond();
  if (const auto* loop = llvm::dyn_cast<WhileStmt>(&s)) return child != loop->getCond();
  if (const auto* loop = llvm::dyn_cast<DoStmt>(&s)) return child != loop->getCond();
  if (const auto* loop = llvm::dyn_cast<CXXForRangeStmt>(&s)) return child == loop->getBody();
  if (const auto* choice = llvm::dyn_cast<SwitchStmt>(&s)) return child != choice->getCond();
  if (const auto* label = llvm::dyn_cast<SwitchCase>(&s)) return child == label->getSubStmt();
  if (const auto* comma = llvm::dyn_cast<BinaryOperator>(&s)) return comma->getOpcode() == BO_Comma && child == comma->getLHS();
  return llvm::isa<CompoundStmt, LabelStmt, AttributedStmt, CapturedStmt>(s);
}

// The last of `({ f(); g(); })` is its value.
const Stmt* value_of(const Stmt& s) {
  const auto* const nested = llvm::dyn_cast<StmtExpr>(&s);
  return nested && !nested->getSubStmt()->body_empty() ? nested->getSubStmt()->body_back() : nullptr;
}

}  // namespace

DroppedResults::DroppedResults(ASTContext& context) : context_(context) {
  for (NamedDecl* found : context.getTranslationUnitDecl()->lookup(&context.Idents.get("cudaError")))
    if (auto* code = llvm::dyn_cast<EnumDecl>(found);
        code && code->getDefinition() && !code->getDefinition()->hasAttr<WarnUnusedResultAttr>())
      code->getDefinition()->addAttr(WarnUnusedResultAttr::CreateImplicit(context, ""));
}

void DroppedResults::judge(const Expr& statement) {
  const Expr* call = nullptr;
  SourceLocation at;
  SourceRange ignored, too;
  if (!statement.isUnusedResultAWarning(call, at, ignored, too, context_)) return;
  // A macro that may stand for an expression as well.
  if (llvm::isa<StmtExpr>(statement) && at.isMacroID()) return;
  if (const auto* cast = llvm::dyn_cast<CastExpr>(call);
      cast && (cast->getCastKind() == CK_NoOp || cast->getCastKind() == CK_ConstructorConversion))
    call = cast->getSubExpr()->IgnoreImpCasts();
  if (const auto* of = llvm::dyn_cast<CallExpr>(call); !of || !of->hasUnusedResultAttr(context_)) return;
  const SourceManager& sources = context_.getSourceManager();
  if (sources.isInSystemHeader(sources.getExpansionLoc(at))) return;
  const PresumedLoc place = sources.getPresumedLoc(sources.getFileLoc(at));
  if (place.isValid()) places_.insert(place.getFilename() + (":" + std::to_string(place.getLine())));
}

void DroppedResults::look_at(const FunctionDecl& f) {
  const SourceManager& sources = context_.getSourceManager();
  if (!f.getBody() || sources.isInSystemHeader(sources.getExpansionLoc(f.getLocation()))) return;
  llvm::SmallVector<std::pair<const Stmt*, const Stmt*>, 32> open{{f.getBody(), nullptr}};  // and what in it is taken
  while (!open.empty()) {
    const auto [s, taken] = open.pop_back_val();
    if (const auto* declarations = llvm::dyn_cast<DeclStmt>(s))
      for (Decl* d : declarations->decls())
        if (llvm::isa<CXXRecordDecl>(d)) each_function(d, [&](FunctionDecl* local) { look_at(*local); });
    for (const Stmt* child : s->children()) {
      if (!child) continue;
      if (const auto* statement = llvm::dyn_cast<Expr>(child); statement && child != taken && drops(*s, child)) judge(*statement);
      open.push_back({child, value_of(*s)});
    }
  }
}

}  // namespace warpbeam::lowering
