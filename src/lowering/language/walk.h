// Goes through a syntax tree. clang's visitor of everything is a template that takes a compiler many seconds: one source has it.
#pragma once
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

namespace warpbeam::lowering {

class Walk {
 public:
  virtual ~Walk() = default;
  void over(clang::Decl* d);
  void over(clang::Stmt* s);

  // Of each on the way, before what is below it; false ends the walk.
  virtual bool meets(clang::FunctionDecl*) { return true; }
  virtual bool meets(clang::CallExpr*) { return true; }
  virtual bool meets(clang::ExplicitCastExpr*) { return true; }
  virtual bool meets(clang::BinaryOperator*) { return true; }
  virtual bool meets(clang::UnaryOperator*) { return true; }
  // Are templates themselves left out, and with them what is made of them?
  virtual bool passes_templates_by() const { return false; }
};

}  // namespace warpbeam::lowering
