#include "lowering/language/walk.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace warpbeam::lowering {
namespace {

using namespace clang;

class Visitor : public RecursiveASTVisitor<Visitor> {
 public:
  explicit Visitor(Walk& walk) : walk_(walk) {}

  bool VisitFunctionDecl(FunctionDecl* f) { return walk_.meets(f); }
  bool VisitCallExpr(CallExpr* e) { return walk_.meets(e); }
  bool VisitExplicitCastExpr(ExplicitCastExpr* e) { return walk_.meets(e); }
  bool VisitBinaryOperator(BinaryOperator* e) { return walk_.meets(e); }
  bool VisitUnaryOperator(UnaryOperator* e) { return walk_.meets(e); }

  bool TraverseFunctionTemplateDecl(FunctionTemplateDecl* d) {
    return walk_.passes_templates_by() || RecursiveASTVisitor::TraverseFunctionTemplateDecl(d);
  }
  bool TraverseClassTemplateDecl(ClassTemplateDecl* d) {
    return walk_.passes_templates_by() || RecursiveASTVisitor::TraverseClassTemplateDecl(d);
  }
  bool TraverseClassTemplatePartialSpecializationDecl(ClassTemplatePartialSpecializationDecl* d) {
    return walk_.passes_templates_by() || RecursiveASTVisitor::TraverseClassTemplatePartialSpecializationDecl(d);
  }

 private:
  Walk& walk_;
};

}  // namespace

void Walk::over(Decl* d) { Visitor(*this).TraverseDecl(d); }
void Walk::over(Stmt* s) { Visitor(*this).TraverseStmt(s); }

}  // namespace warpbeam::lowering
